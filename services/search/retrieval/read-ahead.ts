import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Supersession, Supersessions } from '../../common/records/cognify/supersessions.ts';

/** Most datasets have none. */
const MOST = 200;
/** `ofChunks` gives those of more chunks in parts. */
const CHUNKS_AT_ONCE = 500;

/**
 * Reads the supersessions of the datasets that have any now, in one trip each that nobody waits for, where a search would else
 * ask for some of them at each of its steps. A dataset with many is asked at each step.
 */
export function supersessionsAhead(
  supersessions: Supersessions,
  datasets: readonly { readonly scope: DatasetScope; readonly hasAny: boolean }[],
): Supersessions {
  const few = async (scope: DatasetScope, hasAny: boolean) => (hasAny ? supersessions.few(scope, MOST) : []);
  const reads = new Map(datasets.map(({ scope, hasAny }) => [keyOf(scope), few(scope, hasAny)]));
  // A failure is that of the step which needs them.
  for (const read of reads.values()) read.catch(() => {});
  const fewOf = async (scope: DatasetScope) => (await reads.get(keyOf(scope))) ?? null;
  return {
    ...supersessions,
    async ofChunks(scope, chunks) {
      const few = chunks.length > CHUNKS_AT_ONCE ? null : await fewOf(scope);
      if (few === null) return supersessions.ofChunks(scope, chunks);
      const wanted = new Set(chunks);
      const found = [
        ...few.filter(({ older }) => wanted.has(older.chunk)),
        ...few.filter(({ newer }) => wanted.has(newer.chunk)),
      ];
      return [...new Map(found.map((one): [string, Supersession] => [one.id, one])).values()];
    },
    async ofOlderItems(scope, items) {
      const few = await fewOf(scope);
      if (few === null) return supersessions.ofOlderItems(scope, items);
      const wanted = new Set(items);
      return few.filter(({ older }) => wanted.has(older.item));
    },
  };
}

function keyOf({ tenant, dataset }: DatasetScope): string {
  return `${tenant} ${dataset}`;
}
