import type { CommandCall } from './command.ts';

export function print(call: CommandCall, text: string): void {
  call.terminal.out.write(`${text}\n`);
}

export function printJson(call: CommandCall, value: unknown): void {
  call.terminal.out.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function note(call: CommandCall, text: string): void {
  call.terminal.err.write(`${text}\n`);
}

/** `3 files`, `1 file`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Left-aligned columns, two spaces apart. Names are anybody's: what would steer the terminal or break the line is spelled out. */
export function columns(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(harmless));
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Control characters, ends of lines, and what turns the direction of writing. */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

export function harmless(cell: string): string {
  return cell.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
