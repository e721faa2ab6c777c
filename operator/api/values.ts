const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000 } as const;

/** Parses a duration of the schema to milliseconds: `2160h`, `1h30m`, `90s`. */
export function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS],
    0,
  );
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Parses a quantity of the schema to bytes: `200Gi`, `1.5G`, `4096`. Fractions of a byte are dropped. */
export function quantityBytes(text: string): number {
  const [, number = '', unit = ''] = /^([0-9.]+)([A-Za-z]*)$/.exec(text) ?? [];
  return Math.floor(Number(number) * (FACTORS[unit] ?? Number.NaN));
}

const BINARY = ['Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const;

/** Formats bytes to a tenth of a unit: `1.5Gi`. Smaller changes are not worth a write of the status. */
export function bytesAsQuantity(bytes: number): string {
  const unit = BINARY.find((name) => bytes >= (FACTORS[name] ?? 0));
  if (unit === undefined) return String(bytes);
  return `${Math.floor((bytes / (FACTORS[unit] ?? 1)) * 10) / 10}${unit}`;
}
