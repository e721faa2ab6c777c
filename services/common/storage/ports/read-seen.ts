import type { DatasetScope } from '../../kernel/scope.ts';
import type { EdgeEvidence, NeighbourOptions, NodeEvidence } from './graph-store.ts';
import type { Provenance } from './index-entry.ts';

/** More rows of one key are not read. */
const MOST = 65_536;
const GROWTH = 8;

/** A read of rows by key, at most `limit` of each key, the first ones by an order of its own. */
interface KeyedRead<Row> {
  readonly keys: readonly string[];
  readonly limit: number;
  read(keys: readonly string[], limit: number): Promise<readonly Row[]>;
  /** The keys that the row was read for. */
  keysOf(row: Row): readonly string[];
}

/**
 * Reads rows without those of items that the scope withholds, which take no places of the others: keys of which such rows were
 * left out are read again with a higher limit. Costs nothing where nothing is withheld.
 */
export async function readSeen<Row extends Provenance>(
  { withheld }: DatasetScope,
  { keys, limit, read, keysOf }: KeyedRead<Row>,
): Promise<readonly Row[]> {
  if (withheld === undefined) return read(keys, limit);
  const left = new Map(keys.map((key) => [key, limit]));
  const found: Row[] = [];
  let short: readonly string[] = [...left.keys()];
  for (let wanted = limit; short.length > 0; wanted = Math.min(MOST, wanted * GROWTH)) {
    const rows = await read(short, wanted);
    const [all, hidden] = [new Map<string, number>(), new Set<string>()];
    for (const row of rows) {
      for (const key of keysOf(row)) {
        all.set(key, (all.get(key) ?? 0) + 1);
        if (withheld.has(row.item)) hidden.add(key);
      }
    }
    const isShort = (key: string) => hidden.has(key) && (all.get(key) ?? 0) >= wanted && wanted < MOST;
    const again = new Set(short.filter(isShort));
    const asked = new Set(short);
    for (const row of rows) {
      const own = keysOf(row).filter((key) => asked.has(key) && !again.has(key) && (left.get(key) ?? 0) > 0);
      if (withheld.has(row.item) || own.length === 0) continue;
      for (const key of own) left.set(key, (left.get(key) ?? 0) - 1);
      found.push(row);
    }
    short = [...again];
  }
  return found;
}

/** Edges that one node gives when no limit is asked for. */
export const DEFAULT_LIMIT_PER_NODE = 64;

/** `GraphStore.neighbours` by `readSeen`. */
export async function readSeenEdges(
  scope: DatasetScope,
  ids: readonly string[],
  options: NeighbourOptions,
  read: (ids: readonly string[], options: NeighbourOptions) => Promise<readonly EdgeEvidence[]>,
): Promise<readonly EdgeEvidence[]> {
  const { direction, limitPerNode = DEFAULT_LIMIT_PER_NODE } = options;
  const found = await readSeen(scope, {
    keys: [...new Set(ids)],
    limit: limitPerNode,
    read: (some, limit) => read(some, { ...options, limitPerNode: limit }),
    keysOf: ({ source, target }) => (direction === 'out' ? [source] : direction === 'in' ? [target] : [source, target]),
  });
  if (scope.withheld === undefined) return found;
  // An edge may have been read from both of its ends.
  const nameOf = (edge: EdgeEvidence) =>
    JSON.stringify([edge.source, edge.relation, edge.target, edge.item, edge.generation]);
  return [...new Map(found.map((edge) => [nameOf(edge), edge])).values()].sort((a, b) => b.weight - a.weight);
}

/** Rows that one node gives when no limit is asked for. */
export const DEFAULT_PER_NODE = 64;

/** `GraphStore.nodes` by `readSeen`. */
export function readSeenNodes(
  scope: DatasetScope,
  ids: readonly string[],
  limit: number,
  read: (ids: readonly string[], limit: number) => Promise<readonly NodeEvidence[]>,
): Promise<readonly NodeEvidence[]> {
  return readSeen(scope, { keys: ids, limit, read, keysOf: ({ id }) => [id] });
}
