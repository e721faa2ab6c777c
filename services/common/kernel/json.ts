/** Any value that JSON can carry. Documents, bus payloads and stored records are made of these only. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A strict JSON schema of an object: all properties required, no others. */
export function closedObject(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** A JSON schema of a value of a type, or null. */
export const nullable = (type: string): JsonObject => ({ anyOf: [{ type }, { type: 'null' }] });

/** The value under a name from outside, or undefined: names such as `constructor` do not lead to what every object inherits. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns the value of a JSON text; undefined: it is not JSON. For texts of clients see `parseClientJson`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Greatest depth of a client's value: code that walks values, `JSON.stringify` too, is recursive. */
export const MAX_JSON_DEPTH = 500;

/** `JSON.parse` for what a client wrote. Throws `SyntaxError` for a value nested deeper than `MAX_JSON_DEPTH`, too. */
export function parseClientJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (findExcess(text) !== null) throw new SyntaxError(`The value is nested deeper than ${MAX_JSON_DEPTH} levels`);
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

/** The limit that a JSON text exceeds; `offset`, in characters, is where its nesting goes beyond `MAX_JSON_DEPTH`. */
type JsonExcess = { readonly limit: 'depth'; readonly offset: number } | { readonly limit: 'values' };

/** Finds the first limit that a JSON text exceeds; an estimate for malformed JSON. Reads no further than that place. */
export function findExcess(text: string, mostValues = Number.POSITIVE_INFINITY): JsonExcess | null {
  if (text.length <= Math.min(2 * MAX_JSON_DEPTH, mostValues)) return null;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
    else if (code === COMMA) values += 1;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      values += 1;
      depth += 1;
    }
    if (depth > MAX_JSON_DEPTH) return { limit: 'depth', offset: at };
    if (values > mostValues) return { limit: 'values' };
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

/** Offset of the quote that ends a string, or the length of the text. The engine's own search reads long strings fastest. */
function closingQuote(text: string, opening: number): number {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
