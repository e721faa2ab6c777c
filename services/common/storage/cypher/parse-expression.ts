import { labelExpression, mapEntries, path, pattern, patternList, shortestPath, where } from './parse-pattern.ts';
import { attempt, type Parser } from './parser.ts';
import type { Expression, ProjectedEntry } from './syntax.ts';

/* Operators, loosest first. */

export function expression(parser: Parser): Expression {
  return parser.reader.nested(() =>
    words(parser, 'OR', () => words(parser, 'XOR', () => words(parser, 'AND', () => not(parser)))),
  );
}

function words(parser: Parser, operator: string, operand: () => Expression): Expression {
  let left = operand();
  while (parser.reader.takeWord(operator)) left = { kind: 'binary', operator, left, right: operand() };
  return left;
}

function not(parser: Parser): Expression {
  return parser.reader.nested(() =>
    parser.reader.takeWord('NOT') ? { kind: 'unary', operator: 'NOT', of: not(parser) } : comparison(parser),
  );
}

function comparison(parser: Parser): Expression {
  const { reader } = parser;
  const first = predicate(parser);
  const rest: (readonly [string, Expression])[] = [];
  for (let sign = takeOne(parser, COMPARISONS); sign !== null; sign = takeOne(parser, COMPARISONS)) {
    rest.push([sign, predicate(parser)]);
  }
  if (reader.isSign('=~')) reader.refuse();
  return rest.length === 0 ? first : { kind: 'comparison', first, rest };
}

const COMPARISONS = ['=', '<>', '<=', '>=', '<', '>'] as const;
const PREDICATES = [['STARTS', 'WITH'], ['ENDS', 'WITH'], ['CONTAINS'], ['IN']] as const;

function predicate(parser: Parser): Expression {
  const { reader } = parser;
  let left = sum(parser);
  for (;;) {
    const words = PREDICATES.find((operator) => reader.takeWords(...operator));
    if (reader.takeSign('=~')) left = { kind: 'binary', operator: '=~', left, right: regularExpression(parser) };
    else if (reader.takeWords('IS', 'NULL')) left = { kind: 'unary', operator: 'IS NULL', of: left };
    else if (reader.takeWords('IS', 'NOT', 'NULL')) left = { kind: 'unary', operator: 'IS NOT NULL', of: left };
    else if (words) left = { kind: 'binary', operator: words.join(' '), left, right: sum(parser) };
    else return left;
  }
}

function regularExpression({ reader }: Parser): Expression {
  const { kind, text } = reader.take();
  if (kind !== 'string') reader.refuse('A regular expression must be a text in quotes.');
  if (!isHarmlessPattern(text)) reader.refuse('This regular expression could take too long; use CONTAINS.');
  return { kind: 'literal', value: text, text };
}

function sum(parser: Parser): Expression {
  return signs(parser, ['+', '-', '||'], () =>
    signs(parser, ['*', '/', '%'], () => signs(parser, ['^'], () => unary(parser))),
  );
}

function signs(parser: Parser, operators: readonly string[], operand: () => Expression): Expression {
  let left = operand();
  for (let operator = takeOne(parser, operators); operator !== null; operator = takeOne(parser, operators)) {
    left = { kind: 'binary', operator, left, right: operand() };
  }
  return left;
}

function takeOne<Sign extends string>({ reader }: Parser, operators: readonly Sign[]): Sign | null {
  return operators.find((sign) => reader.takeSign(sign)) ?? null;
}

function unary(parser: Parser): Expression {
  return parser.reader.nested(() => {
    const operator = takeOne(parser, ['-', '+'] as const);
    return operator === null ? postfix(parser) : { kind: 'unary', operator, of: unary(parser) };
  });
}

function postfix(parser: Parser): Expression {
  const { reader } = parser;
  let of = atom(parser);
  for (;;) {
    if (reader.takeSign('.')) of = { kind: 'property', of, key: reader.name() };
    else if (reader.takeSign('[')) of = subscript(parser, of);
    else if (reader.takeSign(':')) of = { kind: 'hasLabels', of, labels: labelExpression(parser, false) };
    else return of;
  }
}

/** After `[`: an index or a slice. */
function subscript(parser: Parser, of: Expression): Expression {
  const { reader } = parser;
  const bound = () => (reader.isSign('..') || reader.isSign(']') ? null : parser.expression());
  const first = bound();
  const isSlice = reader.takeSign('..');
  if (!isSlice && first === null) reader.refuse();
  const result: Expression = isSlice
    ? { kind: 'slice', of, from: first, to: bound() }
    : { kind: 'index', of, at: first as Expression };
  reader.expectSign(']');
  return result;
}

function atom(parser: Parser): Expression {
  const { reader } = parser;
  const { kind, text } = reader.peek();
  if (kind === 'number') return number(parser);
  if (kind === 'string') return { kind: 'literal', value: reader.take().text, text };
  if (reader.isSign('[')) return list(parser);
  if (reader.isSign('{')) return { kind: 'map', entries: mapEntries(parser) };
  if (reader.isSign('(')) return attempt(parser, () => asPattern(path(parser, 1))) ?? bracketed(parser);
  if (kind === 'quoted') return variable(parser);
  if (kind !== 'name') return reader.refuse();
  if (/^(true|false|null)$/i.test(text)) {
    const word = reader.take().text.toLowerCase();
    return { kind: 'literal', value: word === 'null' ? null : word === 'true', text: word };
  }
  if (reader.isWord('CASE')) return caseExpression(parser);
  if (reader.isSign('{', 1) && (reader.isWord('EXISTS') || reader.isWord('COUNT'))) return subquery(parser);
  const shortest = shortestPath(parser);
  if (shortest !== null) return asPattern(shortest);
  if (reader.isSign('(', 1)) return call(parser);
  return variable(parser);
}

function asPattern(found: ReturnType<typeof path>): Expression {
  return { kind: 'pattern', pattern: { name: null, ...found } };
}

const MAX_INTEGER = 2n ** 63n;

function number({ reader }: Parser): Expression {
  const { text } = reader.take();
  if (!/^\d+$/.test(text)) {
    if (!Number.isFinite(Number(text))) reader.refuse('The floating point number is too large.');
    return { kind: 'literal', value: Number(text), text };
  }
  if (text.length > 19 || BigInt(text) > MAX_INTEGER) reader.refuse('The integer is too large.');
  if (text.length > 1 && text.startsWith('0')) reader.refuse('Octal numbers are not supported.');
  return { kind: 'literal', value: BigInt(text), text };
}

function bracketed(parser: Parser): Expression {
  const { reader } = parser;
  reader.expectSign('(');
  const inner = parser.expression();
  reader.expectSign(')');
  return inner;
}

/** `n`, or a projection of it: `n {.name, .*, size: 3, other}`. */
function variable(parser: Parser): Expression {
  const { reader } = parser;
  const name = reader.name();
  if (!reader.takeSign('{')) return { kind: 'variable', name };
  const entries: ProjectedEntry[] = [];
  while (!reader.isSign('}')) {
    if (entries.length > 0) reader.expectSign(',');
    if (reader.takeSign('.'))
      entries.push(reader.takeSign('*') ? { kind: 'all' } : { kind: 'property', key: reader.name() });
    else {
      const key = reader.name();
      const value: Expression = reader.takeSign(':') ? parser.expression() : { kind: 'variable', name: key };
      entries.push({ kind: 'value', key, value });
    }
  }
  reader.expectSign('}');
  return { kind: 'mapProjection', of: name, entries };
}

function list(parser: Parser): Expression {
  const { reader } = parser;
  const patterns = attempt(parser, () => patternComprehension(parser));
  if (patterns !== null) return patterns;
  if (reader.isWord('IN', 2) && reader.peek(1).kind !== 'sign') return listComprehension(parser);
  reader.expectSign('[');
  const items: Expression[] = [];
  while (!reader.isSign(']')) {
    if (items.length > 0) reader.expectSign(',');
    items.push(parser.expression());
  }
  reader.expectSign(']');
  return { kind: 'list', items };
}

/** `[x IN list WHERE … | …]` */
function listComprehension(parser: Parser): Expression {
  const { reader } = parser;
  if (parser.isInComprehension) reader.refuse('A list made from a list cannot stand in another.');
  parser.isInComprehension = true;
  reader.expectSign('[');
  const name = reader.name();
  reader.expectWord('IN');
  const source = parser.expression();
  const condition = where(parser);
  const result = reader.takeSign('|') ? parser.expression() : null;
  reader.expectSign(']');
  parser.isInComprehension = false;
  return { kind: 'listComprehension', variable: name, list: source, where: condition, result };
}

/** `[(a)-->(b) WHERE … | …]` */
function patternComprehension(parser: Parser): Expression {
  const { reader } = parser;
  reader.expectSign('[');
  const isNamed = reader.isSign('=', 1);
  const name = isNamed ? reader.name() : null;
  if (isNamed) reader.expectSign('=');
  const found = { name, ...path(parser, 1) };
  const condition = where(parser);
  reader.expectSign('|');
  const result = parser.expression();
  reader.expectSign(']');
  return { kind: 'patternComprehension', pattern: found, where: condition, result };
}

function caseExpression(parser: Parser): Expression {
  const { reader } = parser;
  reader.expectWord('CASE');
  const subject = reader.isWord('WHEN') ? null : parser.expression();
  const branches: (readonly [Expression, Expression])[] = [];
  while (reader.takeWord('WHEN')) {
    const when = parser.expression();
    reader.expectWord('THEN');
    branches.push([when, parser.expression()]);
  }
  if (branches.length === 0) reader.refuse();
  const otherwise = reader.takeWord('ELSE') ? parser.expression() : null;
  reader.expectWord('END');
  return { kind: 'case', subject, branches, otherwise };
}

/** `EXISTS { [MATCH] patterns [WHERE …] }`, COUNT alike. */
function subquery(parser: Parser): Expression {
  const { reader } = parser;
  const word = reader.take().text.toUpperCase() as 'EXISTS' | 'COUNT';
  reader.expectSign('{');
  reader.takeWord('MATCH');
  const result = { kind: 'subquery', word, patterns: patternList(parser), where: where(parser) } as const;
  reader.expectSign('}');
  return result;
}

function call(parser: Parser): Expression {
  const { reader } = parser;
  const written = reader.take().text;
  const name = written.toLowerCase();
  if (!FUNCTIONS.has(name)) reader.refuse(`The function ${written} is not supported.`);
  reader.expectSign('(');
  const result = QUANTIFIERS.has(name) ? quantifier(parser, name) : callOf(parser, name);
  reader.expectSign(')');
  return result;
}

function callOf(parser: Parser, name: string): Expression {
  const { reader } = parser;
  if (name === 'count' && reader.takeSign('*')) return { kind: 'call', name, isDistinct: false, args: null };
  if (name === 'range') return { kind: 'call', name, isDistinct: false, args: range(parser) };
  if (name === 'exists') return { kind: 'subquery', word: 'EXISTS', patterns: [pattern(parser)], where: null };
  const isDistinct = reader.takeWord('DISTINCT');
  const args: Expression[] = [];
  while (!reader.isSign(')')) {
    if (args.length > 0) reader.expectSign(',');
    args.push(parser.expression());
  }
  return { kind: 'call', name, isDistinct, args };
}

function quantifier(parser: Parser, name: string): Expression {
  const variableName = parser.reader.name();
  parser.reader.expectWord('IN');
  const source = parser.expression();
  return { kind: 'quantifier', name, variable: variableName, list: source, where: where(parser) };
}

const MAX_RANGE = 1000;

/** Literal numbers only: a computed range could have any length. */
function range({ reader }: Parser): readonly Expression[] {
  const numbers: number[] = [];
  do {
    const isNegative = reader.takeSign('-');
    const { kind, text } = reader.take();
    if (kind !== 'number' || !/^\d{1,9}$/.test(text)) reader.refuse('range() takes whole numbers only.');
    numbers.push(isNegative ? -Number(text) : Number(text));
  } while (reader.takeSign(','));
  const [first = 0, last = 0, step = 1] = numbers;
  if (numbers.length < 2 || numbers.length > 3 || step === 0 || Math.abs((last - first) / step) > MAX_RANGE)
    reader.refuse(`range() gives ${MAX_RANGE} numbers at most.`);
  return numbers.map((value) => ({ kind: 'literal', value: BigInt(value), text: String(value) }));
}

/**
 * The functions a query may call, lower-cased; none of them looks anything up. Not here on purpose: whatever has a
 * namespace (procedures' functions, `db.…`, `graph.…`), `id` and `elementId` (numbers shared by all datasets), `reduce`,
 * `replace` and the like, which let a short query build a text or list that does not fit into the server.
 */
const FUNCTIONS: ReadonlySet<string> = new Set(
  `abs all any avg ceil coalesce collect count date datetime duration e endnode exists exp floor head isempty keys
  labels last left length localdatetime localtime log log10 lower ltrim max min nodes none nullif percentilecont
  percentiledisc pi properties range relationships reverse right round rtrim sign single size split sqrt startnode
  stdev stdevp substring sum tail time timestamp toboolean tobooleanornull tofloat tofloatornull tointeger tointegerornull
  tolower tostring tostringornull toupper trim type upper`.split(/\s+/),
);

/** Read with a variable of their own: `any(x IN list WHERE …)`. */
const QUANTIFIERS: ReadonlySet<string> = new Set(['all', 'any', 'none', 'single']);

const MAX_PATTERN_LENGTH = 200;
const MAX_REPETITIONS = 2;
const MAX_GROUPS = 3;

/**
 * Whether the server surely matches the regular expression in a time that the length of the text bounds well: a match
 * cannot be interrupted, so one of exponential cost would outlive every time limit.
 */
function isHarmlessPattern(text: string): boolean {
  const body = text.replace(/^\(\?[ismu]+\)/, '').replaceAll(/\\[^0-9kpPQE]|\[[^[\]&\\]*\]/g, 'x');
  const count = (part: RegExp) => body.match(part)?.length ?? 0;
  return (
    text.length <= MAX_PATTERN_LENGTH &&
    !/[{}\\[\]]|\(\?|\)[*+?]|[*+?][*+]/.test(body) &&
    count(/[*+]/g) <= MAX_REPETITIONS &&
    count(/\?/g) <= MAX_GROUPS &&
    count(/\(/g) <= MAX_GROUPS
  );
}
