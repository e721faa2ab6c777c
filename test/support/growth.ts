import { threadCpuTimeMs } from './cpu-time.ts';

/** Lengths in characters that a text is tried at; each is four times the one before. */
export const PUMPED_LENGTHS = [3_000, 12_000, 48_000] as const;

/** Work that is linear takes four times as long for four times the text, n·log n a little more, a square sixteen times. */
const MAX_GROWTH = 9;
/** What takes less is not measured: a square of it would show at the next length. */
const LEAST_MS = 25;
const ATTEMPTS = 8;
/** The processor's time is counted in ticks of up to ten milliseconds: short work is measured several times over. */
const REPETITIONS = 8;

/** A pump: the text of a length, of repeated units. Numbered units differ from each other. */
export interface Pump {
  readonly name: string;
  text(length: number): string;
}

export function repeated(unit: string): Pump {
  return {
    name: JSON.stringify(unit.length > 40 ? `${unit.slice(0, 40)}…` : unit),
    text: (length) => unit.repeat(Math.ceil(length / unit.length)),
  };
}

/** Units that differ: `#` stands for a number in letters. */
export function numbered(unit: string): Pump {
  return {
    name: `${JSON.stringify(unit)}, each with its own #`,
    text(length) {
      const parts: string[] = [];
      for (let size = 0, at = 0; size < length; at++) {
        const part = unit.replaceAll('#', letters(at));
        parts.push(part);
        size += part.length;
      }
      return parts.join('');
    },
  };
}

/** A text that begins with one thing, goes on with another and ends with a third. */
export function between(start: string, unit: string, end: string): Pump {
  return {
    name: JSON.stringify(`${start}${unit}…${end}`),
    text: (length) => start + unit.repeat(Math.ceil(length / unit.length)) + end,
  };
}

/**
 * Says how the work for longer texts grows beyond n·log n; null when it does not. In processor time of this thread, the
 * best of several attempts of each length, so that neither the machine nor what else it does decides.
 */
export function growthBeyond(work: (text: string) => unknown, pump: Pump, lengths: readonly number[]): string | null {
  const times = new Map<number, number>();
  const timeFor = (length: number) => {
    const known = times.get(length) ?? timeOf(work, pump.text(length));
    times.set(length, known);
    return known;
  };
  // From the longest: where that is quick, nothing grows.
  for (let place = lengths.length - 1; place > 0 && timeFor(lengths[place] as number) > LEAST_MS; place--) {
    const text = pump.text(lengths[place] as number);
    const small = pump.text(lengths[place - 1] as number);
    let best = timeFor(lengths[place] as number);
    let shorter = timeFor(lengths[place - 1] as number);
    for (let attempt = 1; attempt < ATTEMPTS && grows(best, shorter); attempt++) {
      shorter = Math.max(shorter, timeOf(() => repeat(work, small), small) / REPETITIONS);
      best = Math.min(best, timeOf(work, text));
    }
    if (grows(best, shorter)) {
      return `${pump.name}: ${shorter.toFixed(1)} ms for ${small.length} characters, ${best.toFixed(1)} ms for ${text.length}`;
    }
  }
  return null;
}

function grows(longer: number, shorter: number): boolean {
  return longer > LEAST_MS && longer > MAX_GROWTH * Math.max(shorter, LEAST_MS / MAX_GROWTH);
}

function timeOf(work: (text: string) => unknown, text: string): number {
  const before = threadCpuTimeMs();
  work(text);
  return threadCpuTimeMs() - before;
}

function repeat(work: (text: string) => unknown, text: string): void {
  for (let round = 0; round < REPETITIONS; round++) work(text);
}

function letters(number: number): string {
  let text = '';
  for (let rest = number; rest > 0 || text === ''; rest = Math.floor(rest / 26)) {
    text = String.fromCharCode(97 + (rest % 26)) + text;
  }
  return text;
}
