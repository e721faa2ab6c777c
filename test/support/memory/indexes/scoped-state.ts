import type { DatasetScope } from '../../../../services/common/kernel/scope.ts';
import type {
  EntryFilter,
  EntryKey,
  IndexKind,
  Provenance,
} from '../../../../services/common/storage/ports/index-entry.ts';
import type { RowSelection } from '../../../../services/common/storage/ports/text-index.ts';

/** One state per dataset, made on first write. */
interface ScopedState<State> {
  existing(scope: DatasetScope): State | undefined;
  obtain(scope: DatasetScope): State;
  discard(scope: DatasetScope): void;
}

export function createScopedState<State>(make: () => State): ScopedState<State> {
  const states = new Map<string, State>();
  const key = (scope: DatasetScope) => JSON.stringify([scope.tenant, scope.dataset]);
  return {
    existing: (scope) => states.get(key(scope)),
    obtain(scope) {
      const state = states.get(key(scope)) ?? make();
      states.set(key(scope), state);
      return state;
    },
    discard: (scope) => void states.delete(key(scope)),
  };
}

export function entryKey(kind: IndexKind, key: EntryKey): string {
  return JSON.stringify([kind, key.item, key.generation, key.id]);
}

export function isSelected(selection: RowSelection, row: Provenance): boolean {
  if (row.item !== selection.item) return false;
  if (selection.generation !== undefined && row.generation !== selection.generation) return false;
  return selection.beforeGeneration === undefined || row.generation < selection.beforeGeneration;
}

export function passes(
  filter: Partial<EntryFilter>,
  row: Provenance & { readonly kind: IndexKind; readonly nodeSets: readonly string[] },
): boolean {
  if (filter.kind !== undefined && row.kind !== filter.kind) return false;
  if (filter.withoutItems?.has(row.item) === true) return false;
  if (filter.items !== undefined && !filter.items.includes(row.item)) return false;
  return filter.nodeSets === undefined || filter.nodeSets.some((name) => row.nodeSets.includes(name));
}

/** Removes the selected rows of a map and tells how many there were. */
export function removeSelected<Row extends Provenance>(rows: Map<string, Row>, selection: RowSelection): number {
  let removed = 0;
  for (const [key, row] of rows) {
    if (isSelected(selection, row)) {
      rows.delete(key);
      removed++;
    }
  }
  return removed;
}

export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** A copy that shares nothing with the caller's object, as a store would give it back. */
export function copyJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
