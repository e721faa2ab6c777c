import type { Scope } from '../../kernel/scope.ts';
import { type AnyCollection, type DocumentStore, removeWhere } from '../../storage/ports/document-store.ts';

interface ErasedCollections {
  readonly removed: number;
  /** 0 is the promise. */
  readonly left: number;
}

/** Documents of collections that are emptied by one commit; a greater one goes alone, in parts. */
const TOGETHER = 1000;
/** Rounds in which documents that come meanwhile are removed too. */
const ROUNDS = 3;

/**
 * Removes all that the dataset, or a whole tenant, has in collections of its level, in few round trips: those with nothing
 * in them cost none. Counted afterwards. A repetition continues where it was interrupted.
 */
export async function eraseCollections(
  store: DocumentStore,
  scope: Scope,
  collections: readonly AnyCollection[],
): Promise<ErasedCollections> {
  let removed = 0;
  for (let round = 0; ; round += 1) {
    const counts = await store.countEach(scope, collections);
    const left = counts.reduce((sum, count) => sum + count, 0);
    if (left === 0 || round === ROUNDS) return { removed, left };
    for (const group of grouped(collections, counts)) {
      const results = await store.commit(
        scope,
        group.map((collection) => removeWhere(collection, {})),
      );
      removed += results.reduce((sum, { changed }) => sum + changed, 0);
    }
  }
}

function grouped(collections: readonly AnyCollection[], counts: readonly number[]): readonly AnyCollection[][] {
  const groups: AnyCollection[][] = [];
  let room = 0;
  for (const [at, collection] of collections.entries()) {
    const count = counts[at] ?? 0;
    if (count === 0) continue;
    if (groups.length === 0 || count > room) {
      groups.push([]);
      room = TOGETHER;
    }
    groups.at(-1)?.push(collection);
    room -= count;
  }
  return groups;
}
