import { expect } from 'chai';
import { mergeEdges, mergeNodes } from './merge.ts';

const node = (item: string, name: string, mentions: number, more: Record<string, unknown> = {}) => ({
  id: 'ada',
  item,
  generation: 1,
  type: 'person',
  name,
  mentions,
  nodeSets: [] as string[],
  properties: {},
  ...more,
});

const edge = (item: string, weight: number, text: string, target = 'b') => ({
  source: 'a',
  relation: 'knows',
  target,
  item,
  generation: 1,
  weight,
  properties: { text },
});

describe('mergeNodes', () => {
  it('takes type by majority of mentions, the most mentioned name and the longest description', () => {
    const [merged] = mergeNodes([
      node('1', 'ada', 2, { properties: { description: 'a mathematician', role: 'author' }, nodeSets: ['x'] }),
      node('2', 'ada lovelace', 3, { type: 'work', nodeSets: ['y', 'x'] }),
      node('3', 'ada lovelace', 2, { properties: { description: 'wrote the first program', role: 'late' } }),
    ]);
    expect(merged).to.deep.include({
      type: 'person',
      name: 'ada lovelace',
      description: 'wrote the first program',
      aliases: ['ada'],
      nodeSets: ['x', 'y'],
      mentions: 7,
      properties: { role: 'author' },
    });
  });

  it('takes the longest name on a tie, unites aliases and does not depend on the order of the rows', () => {
    const rows = [
      node('1', 'ada', 1, { properties: { aliases: ['countess', 'ada'] } }),
      node('2', 'ada lovelace', 1, { properties: { aliases: ['ada lovelace'] } }),
    ];
    const [merged] = mergeNodes(rows);
    expect(merged?.name).to.equal('ada lovelace');
    expect(merged?.aliases).to.deep.equal(['ada', 'countess']);
    expect(mergeNodes(rows.toReversed())).to.deep.equal(mergeNodes(rows));
  });

  it('makes one node per id in the order of first appearance', () => {
    const merged = mergeNodes([node('1', 'z', 1, { id: 'z' }), node('1', 'a', 1), node('2', 'z', 1, { id: 'z' })]);
    expect(merged.map(({ id, evidence }) => [id, evidence.length])).to.deep.equal([
      ['z', 2],
      ['ada', 1],
    ]);
    expect(mergeNodes([])).to.deep.equal([]);
  });
});

describe('mergeEdges', () => {
  it('makes one edge per source, relation and target, sums the weight and keeps the evidence', () => {
    const merged = mergeEdges([edge('1', 1, 'weak'), edge('2', 3, 'strong'), edge('1', 1, 'other', 'c')]);
    expect(merged).to.have.length(2);
    expect(merged[0]).to.deep.include({ target: 'b', weight: 4, properties: { text: 'strong' } });
    expect(merged[0]?.evidence.map((row) => row.item)).to.deep.equal(['2', '1']);
    expect(merged[1]).to.deep.include({ target: 'c', weight: 1 });
  });

  it('does not confuse ids that contain separators', () => {
    const rows = [
      { ...edge('1', 1, ''), source: 'a/b', relation: 'c' },
      { ...edge('1', 1, ''), source: 'a', relation: 'b/c' },
    ];
    expect(mergeEdges(rows)).to.have.length(2);
  });
});
