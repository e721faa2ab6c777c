import { type JsonObject, parseClientObject } from '../../kernel/json.ts';

export type JsonLine =
  | { readonly number: number; readonly value: JsonObject }
  | { readonly number: number; readonly problem: string };

const NEWLINE = 0x0a;

/** Objects of a JSON-lines file; blank lines are left out. A line that is none, or longer than the limit, has a problem instead. */
export async function* jsonLines(content: AsyncIterable<Uint8Array>, maxLineBytes: number): AsyncGenerator<JsonLine> {
  let number = 0;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const take = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > maxLineBytes) parts = [];
    else parts.push(part);
  };
  const end = (): JsonLine | null => {
    number += 1;
    const line = bytes > maxLineBytes ? null : Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    if (line === null) return { number, problem: `is longer than ${maxLineBytes} bytes` };
    return line.trim() === '' ? null : parsed(number, line);
  };
  for await (const chunk of content) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, to));
      from = to + 1;
      const line = end();
      if (line !== null) yield line;
    }
    take(chunk.subarray(from));
  }
  const last = end();
  if (last !== null) yield last;
}

function parsed(number: number, line: string): JsonLine {
  const value = parseClientObject(line);
  return value === null ? { number, problem: 'is no JSON object' } : { number, value };
}
