/** The query cannot be run; the message says why. */
export class CypherRefusedError extends Error {
  override readonly name = 'CypherRefusedError';
}

type TokenKind = 'name' | 'quoted' | 'string' | 'number' | 'sign' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Name without back-ticks, string without quotes and escapes, otherwise as written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const MAX_QUERY_LENGTH = 10_000;
const MAX_NAME_LENGTH = 200;

const SPACE = /(?:\s|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)+/uy;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const QUOTED = /`((?:[^`]|``)*)`/uy;
const STRING = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/suy;
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/uy;
const SIGN = /<>|<=|>=|=~|\.\.|\|\||[()[\]{},.:;|&!%*+\-/^=<>]/uy;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\', "'": "'", '"': '"', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
}; // biome-ignore format: pairs

/** Throws `CypherRefusedError` for anything that is no token of the part of Cypher that is served here. */
export function tokenize(query: string): readonly Token[] {
  if (query.length > MAX_QUERY_LENGTH)
    throw new CypherRefusedError(`The query has more than ${MAX_QUERY_LENGTH} letters.`);
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(query);
    if (match) at = pattern.lastIndex;
    return match;
  };
  const next = (start: number): Token | null => {
    const add = (kind: TokenKind, text: string): Token => ({ kind, text, start, end: at });
    const name = take(NAME);
    if (name) return add('name', checkedName(name[0]));
    const quoted = take(QUOTED);
    if (quoted) return add('quoted', checkedName((quoted[1] ?? '').replaceAll('``', '`')));
    const string = take(STRING);
    if (string) return add('string', withoutEscapes(string[1] ?? string[2] ?? ''));
    const number = take(NUMBER);
    if (number) return add('number', number[0]);
    const sign = take(SIGN);
    return sign && add('sign', sign[0]);
  };
  for (;;) {
    take(SPACE);
    if (at >= query.length) break;
    const start = at;
    const token = next(start);
    if (token === null) throw new CypherRefusedError(`Unexpected character ${JSON.stringify(query.charAt(start))}.`);
    tokens.push(token);
  }
  return [...tokens, { kind: 'end', text: '', start: query.length, end: query.length }];
}

/** `\u…` is refused: servers replace it before they read anything else, so it could end a name or a string. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(.)/gsu, (found, letter: string) => {
    const meant = ESCAPES[letter];
    if (meant === undefined) throw new CypherRefusedError(`The escape ${found} is not supported.`);
    return meant;
  });
}

function checkedName(name: string): string {
  if (name === '' || name.length > MAX_NAME_LENGTH || !isPrintableName(name)) {
    throw new CypherRefusedError(`The name ${JSON.stringify(name.slice(0, 40))} is not supported.`);
  }
  return name;
}

/** Safe between back-ticks. */
export function isPrintableName(name: string): boolean {
  return !/[\\`\p{C}]/u.test(name);
}
