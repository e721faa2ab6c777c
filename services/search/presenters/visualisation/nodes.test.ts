import { expect } from 'chai';
import { NODE_TYPES } from '../../../common/domain/index-rows.ts';
import type { GraphView } from '../../views/view-graph.ts';
import { presentNodes } from './nodes.ts';

const TEXT_NAME = `text_${'0a'.repeat(16)}`;

function viewOf(nodes: readonly { id: string; type: string; name: string; properties: object }[]): GraphView {
  const whole = nodes.map((node) => ({ ...node, description: '', nodeSets: [] }));
  const view = { nodes: whole, edges: [], times: new Map(), totalNodes: whole.length, seeds: [], seedSource: 'full' };
  return view as unknown as GraphView;
}

describe('nodes of the graph page', () => {
  const document = { id: 'doc', type: NODE_TYPES.document, name: TEXT_NAME, properties: {} };
  const chunk = (chunkIndex: number, text: string) => ({
    id: `chunk-${chunkIndex}`,
    type: NODE_TYPES.chunk,
    name: '',
    properties: { documentId: 'doc', chunkIndex, text },
  });
  const nameOf = (view: GraphView) => presentNodes(view).find(({ id }) => id === 'doc')?.name;

  it('name a text without a name by its first words', () => {
    const words = 'Ada Lovelace wrote the first program';
    expect(nameOf(viewOf([chunk(1, 'Later.'), document, chunk(0, `${words}.\n`)]))).to.equal(`${words}.`);
    expect(nameOf(viewOf([document, chunk(0, `${words} ${'and so on '.repeat(20)}`)]))).to.match(
      /^Ada Lovelace wrote .{20,45} …$/,
    );
  });

  it('keep file names, and have no name when the beginning of a text is not in the view', () => {
    expect(nameOf(viewOf([{ ...document, name: 'notes' }, chunk(0, 'Some words.')]))).to.equal('notes');
    expect(nameOf(viewOf([document, chunk(1, 'Later.')]))).to.equal(`Unnamed ${NODE_TYPES.document} (doc)`);
  });
});
