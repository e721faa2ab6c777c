/** Rows in the order of what was asked: sorting here spares SQLite copying whole rows into a sorter. */
export function byPlace(a: readonly unknown[], b: readonly unknown[]): number {
  return Number(a[0]) - Number(b[0]);
}

/** Reads in groups of 64, then 8, then 1, so that few different statements are prepared. */
export function inBatches<Value, Row>(
  values: readonly Value[],
  read: (batch: readonly Value[]) => readonly Row[],
): readonly Row[] {
  const rows: Row[] = [];
  let start = 0;
  for (const size of [64, 8, 1]) {
    for (; start + size <= values.length; start += size) rows.push(...read(values.slice(start, start + size)));
  }
  return rows;
}

/** Numbers values from 0 in the order in which they first come. */
export function createPlaces<Value>() {
  const places = new Map<Value, number>();
  return {
    of(value: Value): number {
      const known = places.get(value);
      if (known !== undefined) return known;
      places.set(value, places.size);
      return places.size - 1;
    },
    values: (): readonly Value[] => [...places.keys()],
  };
}
