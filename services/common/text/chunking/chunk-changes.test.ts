import { expect } from 'chai';
import fc from 'fast-check';
import { chunkChanges } from './chunk-changes.ts';

const of = (text: string) => [...text];

describe('changes of passages', () => {
  const CASES = [
    [
      'are none when nothing changed',
      'abc',
      'abc',
      { regions: 0, deleted: 0, added: 0, kept: 3, reindexed: 0, total: 3 },
    ],
    [
      'are one place for one passage that reads differently',
      'abcde',
      'abXde',
      { regions: 1, deleted: 1, added: 1, kept: 4, reindexed: 0, total: 5 },
    ],
    [
      'renumber the passages after inserted ones',
      'abc',
      'XYabcZ',
      { regions: 2, deleted: 0, added: 3, kept: 3, reindexed: 3, total: 6 },
    ],
  ] as const;
  for (const [title, before, after, changes] of CASES) {
    it(title, () => {
      expect(chunkChanges(of(before), of(after))).to.deep.equal({ ...changes, reused: 0 });
    });
  }

  it('take up again a passage that moved', () => {
    expect(chunkChanges(of('abcd'), of('adbc'))).to.include({ deleted: 0, added: 1, reused: 1, kept: 3 });
  });

  it('keep as much as can be kept, and add up', () => {
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefgh'));
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const changes = chunkChanges(before, after);
        expect(changes.kept).to.equal(longestCommon(before, after));
        expect(changes.kept + changes.added).to.equal(after.length);
        expect(changes.kept + changes.reused + changes.deleted).to.equal(before.length);
        expect(changes.regions === 0).to.equal(before.join() === after.join());
      }),
    );
  });

  it('are found at once in documents of very many passages', () => {
    const before = Array.from({ length: 50_000 }, (_, index) => `c${index}`);
    const changes = chunkChanges(before, before.toReversed());
    expect(changes).to.include({ kept: 1, reused: 49_999, total: 50_000 });
  });
});

function longestCommon(one: readonly string[], other: readonly string[]): number {
  const [head, ...rest] = one;
  if (head === undefined) return 0;
  const found = other.indexOf(head);
  const without = longestCommon(rest, other);
  return found < 0 ? without : Math.max(without, 1 + longestCommon(rest, other.slice(found + 1)));
}
