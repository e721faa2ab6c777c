import { expect } from 'chai';
import { block, startFakeNotion, text } from '../../../test/support/fake-notion.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { ChangePage, SourceAccess } from './connector.ts';
import { createNotionConnector } from './notion.ts';

describe('Notion connector', () => {
  let notion: Awaited<ReturnType<typeof startFakeNotion>>;
  let access: SourceAccess;
  beforeEach(async () => {
    notion = await startFakeNotion();
    const secret = notion.secret();
    access = { connection: {} as SourceConnection, signal: new AbortController().signal, token: async () => secret };
  });
  afterEach(() => notion[Symbol.asyncDispose]());
  const open = () => createNotionConnector({ apiUrl: notion.url, logger: { warn: () => {} } });

  /** Pages of changes of a resource; an error ends them. */
  const read = async (resource: string, connector = open()) => {
    const pages: ChangePage[] = [];
    try {
      for await (const page of connector.changesSince(access, { resource, feed: 'pages' }, null)) pages.push(page);
    } catch (error) {
      return { pages, error: error as Error };
    }
    return { pages, error: null };
  };
  const textOf = async (resource: string, key = resource) => {
    const connector = open();
    await read(resource, connector);
    const change = { resource, feed: 'pages', key, version: null, stored: null };
    const document = await connector.fetch(access, change);
    return document === null || document === 'unchanged' ? document : String(document.content);
  };

  it('reads the notes of a meeting, and a page with a block of another page that is not shared', async () => {
    notion.state.unshared.add('copy');
    const copy = { type: 'synced_block', value: { synced_from: { block_id: 'other' } }, id: 'copy' };
    const notes = {
      title: [text('Planning of the mill')],
      status: 'notes_ready',
      children: { summary_block_id: 'summary', transcript_block_id: 'said' },
    };
    const section = (id: string, said: string) => ({
      type: 'column',
      value: {},
      id,
      children: [block('paragraph', said)],
    });
    const page = notion.page('Meeting', [
      { type: 'meeting_notes', value: notes },
      { ...copy, children: [block('paragraph', 'Secret.')] },
      block('paragraph', 'Next week again.'),
    ]);
    const aside = notion.page('Sections of it', [
      section('summary', 'Gears are bought.'),
      section('said', 'Ada: Gears!'),
    ]);
    aside.inTrash = true;
    expect(await textOf(page.id)).to.equal(
      '# Meeting\n\nPlanning of the mill\n\nSummary:\n\nGears are bought.\n\nTranscript:\n\nAda: Gears!\n\nNext week again.',
    );
  });

  it('reads all relations of a row, of which Notion names 25 in the page', async () => {
    const parts = notion.database('Parts');
    const related = Array.from({ length: 130 }, (_, at) => notion.page(`Part ${at}.`, []));
    const relation = related.map(({ id }) => ({ id }));
    const row = notion.page('Engine', [], {
      parent: parts.row,
      properties: { Made: { id: 'r%3D', type: 'relation', relation } },
    });
    const found = await textOf(parts.id, row.id);
    expect(found).to.contain(`Made: ${related.map(({ title }) => title).join(', ')}`);
  });

  it('waits where Notion is overloaded, with 529 and Retry-After as with 429, and tries again in a moment of trouble', async () => {
    const { id } = notion.page('Engine', [block('paragraph', 'It stops.')]);
    const limits = [
      { status: 529, code: 'service_overload', retryAfterSeconds: 1 },
      { status: 503, code: 'service_unavailable', retryAfterSeconds: null },
    ];
    for (const { retryAfterSeconds, ...limit } of limits) {
      Object.assign(notion.state, { remaining: 1, limit, retryAfterSeconds });
      expect((await read(id)).error, limit.code).to.equal(null);
      expect(await textOf(id)).to.contain('It stops.');
    }
    Object.assign(notion.state, { remaining: 0, limit: { status: 500, code: 'internal_server_error' } });
    expect((await read(id)).error?.message).to.contain('Try again later.');
  });

  it('says when Notion listed a part of a large workspace alone, reads what changed last, and removes nothing', async () => {
    const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
    const pages = Array.from({ length: 9 }, (_, at) => notion.page(`Page ${at}`, [], { edited: day(at + 1) }));
    notion.state.searchLimit = 3;
    const connector = open();
    const listed = await connector.list(access);
    expect(listed.map(({ name }) => name)).to.deep.equal(['Page 0', 'Page 1', 'Page 2', 'Page 6', 'Page 7', 'Page 8']);
    const { pages: read9, error } = await read(pages[8]?.id ?? '', connector);
    expect(read9.flatMap(({ present }) => present)).to.have.length(1);
    expect(read9.some(({ isWhole }) => isWhole)).to.equal(false);
    expect(error?.message).to.match(/some in between are missing here/);
  });
});
