/** Epoch milliseconds of a stored time, as rows carry it; null when it is no time. */
export function epochMs(time: string | undefined): number | null {
  const value = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(value) ? null : value;
}
