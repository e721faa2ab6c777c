const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000 } as const;

/** Milliseconds of a duration as the schema takes it: `2160h`, `1h30m`, `90s`. */
export function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS],
    0,
  );
}
