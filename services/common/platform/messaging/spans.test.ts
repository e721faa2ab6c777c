import { expect } from 'chai';
import type { Span } from '../../domain/span.ts';
import { asId } from '../../kernel/ids.ts';
import { PERSONAL_TENANT } from '../../kernel/scope.ts';
import { endedSpans, SPANS_ENDED } from './methods/spans.ts';

const span: Span = {
  ...{
    traceId: '0af7651916cd43dd8448eb211c80319c',
    id: 'b7ad6b7169203331',
    parentId: null,
    rootId: 'b7ad6b7169203331',
  },
  ...{ name: 'GET /things', startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_001.5, status: 'OK' },
  attributes: { 'http.status_code': 200, request_id: 'r', is_first: true },
  owner: { user: asId('00000000-0000-4000-8000-000000000001'), tenant: PERSONAL_TENANT },
};

describe('spans on the bus', () => {
  it('arrive as they were sent', async () => {
    const codec = await endedSpans.codec();
    const child: Span = { ...span, id: '00f067aa0ba902b7', parentId: span.id, status: 'ERROR', owner: null };
    const spans = [span, child, { ...child, attributes: {} }];
    expect(codec.decode(codec.encode({ spans }))).to.deep.equal({ spans });
    expect(endedSpans.subject(SPANS_ENDED)).to.equal('engram.spans.ended');
  });
});
