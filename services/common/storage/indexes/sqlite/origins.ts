import type { DataItemId } from '../../../kernel/brand.ts';
import type { EntryFilter, Provenance } from '../../ports/index-entry.ts';
import type { RowSelection } from '../../ports/text-index.ts';
import type { OpenFile } from './open-files.ts';
import type { StoredOrigin } from './schema.ts';

interface WrittenOrigin {
  readonly origin: number;
  /** Origins of the same item and generation that may already hold a row of the same key; this one included. */
  readonly rivals: readonly number[];
}

/** Finds or makes the origins of a batch of rows for `table`. */
export function resolveOrigins(
  file: OpenFile,
  table: 'text_row' | 'vector_row' | 'node_row' | 'edge_row',
  specs: readonly StoredOrigin[],
): readonly WrittenOrigin[] {
  const hasRows = `SELECT 1 FROM ${table} WHERE origin = ? LIMIT 1`;
  const before = specs.map(({ item, generation }) =>
    originsOf(file, { item, generation }).filter((origin) => file.get(hasRows, [origin]) !== undefined),
  );
  const made = specs.map(({ item, generation, nodeSets }) => {
    const key = [item, generation, nodeSets];
    file.run('INSERT INTO origin (item, generation, node_sets) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', key);
    const row = file.get('SELECT origin FROM origin WHERE item = ? AND generation = ? AND node_sets = ?', key);
    return Number(row?.[0]);
  });
  return made.map((origin, index) => ({ origin, rivals: before[index] ?? [] }));
}

/** Origins that a removal names. */
export function originsOf(file: OpenFile, selection: RowSelection): readonly number[] {
  const { item, generation = null, beforeGeneration = null } = selection;
  return file
    .all(
      `SELECT origin FROM origin WHERE item = ?1 AND (?2 IS NULL OR generation = ?2)
       AND (?3 IS NULL OR generation < ?3)`,
      [item, generation, beforeGeneration],
    )
    .map(([origin]) => Number(origin));
}

/** Origins that no row belongs to any more go: they name the item and its node sets. */
export function removeUnusedOrigins(file: OpenFile, origins: readonly number[]): void {
  for (const origin of origins) {
    file.run(
      `DELETE FROM origin WHERE origin = ?1
       AND NOT EXISTS (SELECT 1 FROM text_row WHERE origin = ?1)
       AND NOT EXISTS (SELECT 1 FROM vector_row WHERE origin = ?1)
       AND NOT EXISTS (SELECT 1 FROM node_row WHERE origin = ?1)
       AND NOT EXISTS (SELECT 1 FROM edge_row WHERE origin = ?1)`,
      [origin],
    );
  }
}

export function allOrigins(file: OpenFile): readonly number[] {
  return file.all('SELECT origin FROM origin', []).map(([origin]) => Number(origin));
}

/** Origins whose rows pass the filter; null when every row does. */
export function acceptedOrigins(file: OpenFile, filter: Partial<EntryFilter>): ReadonlySet<number> | null {
  const { items, nodeSets } = filter;
  if (items === undefined && nodeSets === undefined) return null;
  const lists = nodeSets === undefined ? null : nodeSetLists(file, nodeSets);
  const accepted = new Set<number>();
  if (items === undefined) {
    for (const list of lists ?? []) {
      for (const [origin] of file.all('SELECT origin FROM origin WHERE node_sets = ?', [list]))
        accepted.add(Number(origin));
    }
    return accepted;
  }
  for (const item of new Set(items)) {
    for (const [origin, list] of file.all('SELECT origin, node_sets FROM origin WHERE item = ?', [item])) {
      if (lists === null || lists.has(String(list))) accepted.add(Number(origin));
    }
  }
  return accepted;
}

/** Whether rows of an origin pass the filter; null: those of all do. Looked up as they are met: few rows compete. */
export function originFilter(file: OpenFile, filter: Partial<EntryFilter>): Pick<ReadonlySet<number>, 'has'> | null {
  const { withoutItems } = filter;
  const accepted = acceptedOrigins(file, filter);
  if (withoutItems === undefined) return accepted;
  const isSeen = (origin: number) => {
    const found = readOrigin(file, origin);
    return found !== null && !withoutItems.has(found.item);
  };
  return { has: (origin) => (accepted === null || accepted.has(origin)) && isSeen(origin) };
}

/** The stored lists (few, they repeat) that hold one of the names. */
function nodeSetLists(file: OpenFile, names: readonly string[]): ReadonlySet<string> {
  const lists = file.all('SELECT DISTINCT node_sets FROM origin', []).map(([list]) => String(list));
  return new Set(lists.filter((list) => (JSON.parse(list) as readonly string[]).some((name) => names.includes(name))));
}

/** More are read again. */
const MAX_REMEMBERED = 50_000;

export function readOrigin(file: OpenFile, origin: number): StoredOrigin | null {
  const known = file.origins.get(origin);
  if (known !== undefined) return known;
  const row = file.get('SELECT item, generation, node_sets FROM origin WHERE origin = ?', [origin]);
  if (row === undefined) return null;
  const found = { item: row[0] as DataItemId, generation: Number(row[1]), nodeSets: String(row[2]) };
  if (file.origins.size >= MAX_REMEMBERED) file.origins.clear();
  file.origins.set(origin, found);
  return found;
}

/** Items and generations that have rows. */
export function readProvenance(file: OpenFile): readonly Provenance[] {
  return file
    .all('SELECT DISTINCT item, generation FROM origin', [])
    .map(([item, generation]) => ({ item: String(item) as DataItemId, generation: Number(generation) }));
}
