import { expect } from 'chai';
import { idFor } from '../../kernel/ids.ts';
import { mergeNodes } from './merge.ts';
import { createShownGraph } from './shown.ts';

const statement = (id: string, item: string, mentions: number, properties: Record<string, unknown>) => ({
  id,
  item,
  generation: 1,
  type: 'Entity',
  name: id,
  mentions,
  nodeSets: [],
  properties: properties as Record<string, string>,
});

describe('the shown graph', () => {
  it('leaves out keywords with their edges, unless one text means more by them', () => {
    const shown = createShownGraph();
    const nodes = mergeNodes([
      statement('approach', '1', 1, { isKeyword: true }),
      statement('kyoto trip', '1', 5, { isKeyword: true }),
      statement('kyoto trip', '2', 1, {}),
    ]);
    expect(nodes.filter(shown.shows).map(({ id }) => id)).to.deep.equal(['kyoto trip']);
    expect(shown.showsEdge({ source: 'chunk', relation: 'contains', target: 'approach' })).to.equal(false);
    expect(shown.showsEdge({ source: 'chunk', relation: 'contains', target: 'kyoto trip' })).to.equal(true);
    expect(shown.showsEdge({ source: 'chunk', relation: 'next', target: 'chunk 2' })).to.equal(false);
  });

  it('shows one type for an entity about which texts disagree', () => {
    const shown = createShownGraph();
    const [node] = mergeNodes([
      statement('Ahab', '1', 9, { entityType: 'Concept' }),
      statement('Ahab', '2', 2, { entityType: 'Place', typeCertainty: 0.6 }),
      statement('Ahab', '3', 2, { entityType: 'Person', typeCertainty: 0.9 }),
    ]);
    expect(node?.properties['entityType']).to.equal('Person');
    if (node !== undefined) shown.shows(node);
    const isA = (type: string) =>
      shown.showsEdge({ source: 'Ahab', relation: 'is_a', target: idFor('EntityType', type) });
    expect([isA('Person'), isA('Place'), isA('Concept')]).to.deep.equal([true, false, false]);
  });
});
