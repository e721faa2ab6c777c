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

/** Left-aligned columns, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string {
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
