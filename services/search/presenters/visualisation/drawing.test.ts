import { expect } from 'chai';
import { mergeEdges, mergeNodes } from '../../../common/domain/graph/merge.ts';
import { presentDrawing } from './drawing.ts';

const origin = { item: 'item', generation: 1 };
const node = (id: string, type: string, name: string, properties: object = {}) => ({
  ...origin,
  id,
  type,
  name,
  mentions: 1,
  nodeSets: [],
  properties: { ...properties },
});
const edge = (source: string, relation: string, target: string, properties: object = {}) => ({
  ...origin,
  source,
  relation,
  target,
  weight: 1,
  properties: { ...properties },
});
const said = (text: string) => ({ chunkId: 'passage', text });

const NODES = [
  node('document', 'TextDocument', `text_${'0a'.repeat(16)}`),
  node('passage', 'DocumentChunk', '', { text: 'Ada met Bob.', documentId: 'document', chunkIndex: 0 }),
  node('ada', 'Entity', 'Ada'),
  node('bob', 'Entity', 'Bob'),
  node('person', 'EntityType', 'person'),
  node('coffee enthusiast', 'Entity', 'coffee enthusiast'),
  node('day', 'Entity', '2025-03-05', { entityType: 'date' }),
  node('year', 'Entity', '2019', { entityType: 'date' }),
];
const EDGES = [
  edge('ada', 'is_a', 'person'),
  edge('ada', 'is_a', 'coffee enthusiast'),
  edge('passage', 'contains', 'day', { chunkId: 'passage' }),
  edge('passage', 'contains', 'year', { chunkId: 'passage' }),
  edge('passage', 'contains', 'ada', { chunkId: 'passage' }),
  edge('ada', 'met', 'bob', said('Ada met Bob on 5 March 2025.')),
  edge('ada', 'likes', 'bob', said('Ada likes Bob.')),
  edge('ada', 'leads', 'bob', { ...said('Ada leads Bob.'), validFrom: '2020-01-01' }),
];

describe('drawing of a graph', () => {
  const graph = {
    async *nodes() {
      yield mergeNodes(NODES.slice(0, 3));
      yield mergeNodes(NODES.slice(3));
    },
    async *edges() {
      yield mergeEdges(EDGES);
    },
  };

  it('names nodes, without their texts, and types entities by their entity types alone', async () => {
    const { nodes } = await presentDrawing(graph as never);
    expect(nodes.map(({ name }) => name).slice(0, 3)).to.deep.equal(['Ada met Bob.', 'Ada met Bob.', 'Ada']);
    expect(nodes.find(({ id }) => id === 'ada')).to.deep.equal({
      id: 'ada',
      name: 'Ada',
      type: 'Entity',
      entity_type: 'person',
    });
  });

  it('dates a fact by its sentence, and a passage by all dates in it', async () => {
    const { nodes, relations, links } = await presentDrawing(graph as never);
    const datesOf = Object.fromEntries(
      links.map(([source, target, relation, dates]) => [
        `${nodes[source]?.id} ${relations[relation]?.name} ${nodes[target]?.id}`,
        dates ?? null,
      ]),
    );
    expect(datesOf).to.deep.equal({
      'ada is_a person': null,
      'ada is_a coffee enthusiast': null,
      'passage contains day': ['2025-03-05'],
      'passage contains year': ['2019'],
      'passage contains ada': ['2025-03-05', '2019'],
      'ada met bob': ['2025-03-05'],
      'ada likes bob': null,
      'ada leads bob': ['2020-01-01/'],
    });
    expect(relations.find(({ name }) => name === 'met')?.edge_class).to.equal('semantic');
  });
});
