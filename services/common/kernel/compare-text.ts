/** Orders texts by their UTF-16 code units, the same on every machine; for `sort`. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
