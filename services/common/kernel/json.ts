/** Any value that JSON can carry. Documents, bus payloads and stored records are made of these only. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** The value under a name from outside, or undefined: names such as `constructor` do not lead to what every object inherits. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Greatest depth of a client's value: code that walks values, `JSON.stringify` too, is recursive. */
export const MAX_JSON_DEPTH = 500;

/** `JSON.parse` for what a client wrote. Throws `SyntaxError` for a value nested deeper than `MAX_JSON_DEPTH`, too. */
export function parseClientJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (findTooDeep(text) !== null) throw new SyntaxError(`The value is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return value;
}

/** Returns the JSON object that a client wrote; null for any other text. */
export function parseClientObject(text: string): JsonObject | null {
  try {
    const value = parseClientJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

/** Number of values in a JSON text, counted up to one more than `most`; an estimate for malformed JSON. */
export function countValues(text: string, most: number): number {
  let count = 1;
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === COMMA || code === OPENING_BRACKET || code === OPENING_BRACE) count += 1;
  }
  return count;
}

/** The offset in a JSON text at which its nesting goes beyond `MAX_JSON_DEPTH`, or null. */
export function findTooDeep(text: string): number | null {
  if (text.length <= 2 * MAX_JSON_DEPTH) return null;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return at;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

function closingQuote(text: string, opening: number): number {
  for (let at = opening + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
