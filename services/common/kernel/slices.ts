/** The list in parts of `size`, in their order; the last one may be shorter. None of an empty list. */
export function* slices<T>(list: readonly T[], size: number): Generator<readonly T[], void, undefined> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
