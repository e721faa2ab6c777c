/** Whose vector stands where: slots in the order of their rows, without the vectors. */
export interface SlotTable {
  /** Gaps of removed rows included. */
  count(): number;
  liveCount(): number;
  /** -1: none. */
  lastRow(): number;
  /** In the next slot. `row` grows from slot to slot. */
  add(row: number, id: string, origin: number): void;
  /** Leaves a gap. An unknown row is no error. */
  remove(row: number): void;
  isLive(slot: number): boolean;
  id(slot: number): string;
  origin(slot: number): number;
  row(slot: number): number;
  clear(): void;
}

const REMOVED = -1;

export function createSlotTable(): SlotTable {
  const rows: number[] = [];
  const ids: string[] = [];
  const origins: number[] = [];
  let removed = 0;
  return {
    count: () => rows.length,
    liveCount: () => rows.length - removed,
    lastRow: () => rows.at(-1) ?? -1,
    add(row, id, origin) {
      rows.push(row);
      ids.push(id);
      origins.push(origin);
    },
    remove(row) {
      const slot = findSorted(rows, row);
      if (slot === -1 || origins[slot] === REMOVED) return;
      origins[slot] = REMOVED;
      ids[slot] = '';
      removed++;
    },
    isLive: (slot) => origins[slot] !== REMOVED,
    id: (slot) => ids[slot] as string,
    origin: (slot) => origins[slot] as number,
    row: (slot) => rows[slot] as number,
    clear() {
      rows.length = 0;
      ids.length = 0;
      origins.length = 0;
      removed = 0;
    },
  };
}

function findSorted(values: readonly number[], wanted: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = values[middle] as number;
    if (value === wanted) return middle;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
