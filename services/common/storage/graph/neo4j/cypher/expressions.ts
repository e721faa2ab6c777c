import { labelExpression, mapLiteral, path, pattern, patternList, shortestPath, where } from './patterns.ts';
import { attempt, quoted, type Translation, VIEW_KEY, VIEW_LABEL } from './translation.ts';

/*
 * Operators, loosest first. What is printed is fully bracketed, so that the server reads exactly what was read here: an
 * expression can never be taken for a pattern, whose nodes would lack the label.
 */

export function expression(translation: Translation): string {
  return translation.reader.nested(() =>
    words(translation, 'OR', () => words(translation, 'XOR', () => words(translation, 'AND', () => not(translation)))),
  );
}

function words(translation: Translation, word: string, operand: () => string): string {
  let left = operand();
  while (translation.reader.takeWord(word)) left = `(${left} ${word} ${operand()})`;
  return left;
}

function not(translation: Translation): string {
  return translation.reader.nested(() =>
    translation.reader.takeWord('NOT') ? `(NOT ${not(translation)})` : comparison(translation),
  );
}

/** `a < b < c` means both; so the chain stays one. */
function comparison(translation: Translation): string {
  const { reader } = translation;
  const parts = [predicate(translation)];
  for (let sign = takeOne(translation, COMPARISONS); sign !== null; sign = takeOne(translation, COMPARISONS)) {
    parts.push(sign, predicate(translation));
  }
  if (reader.isSign('=~')) reader.refuse();
  return parts.length === 1 ? (parts[0] as string) : `(${parts.join(' ')})`;
}

const COMPARISONS = ['=', '<>', '<=', '>=', '<', '>'];

function predicate(translation: Translation): string {
  const { reader } = translation;
  const left = sum(translation);
  if (reader.takeSign('=~')) return `(${left} =~ ${regularExpression(translation)})`;
  if (reader.takeWords('IS', 'NULL')) return `(${left} IS NULL)`;
  if (reader.takeWords('IS', 'NOT', 'NULL')) return `(${left} IS NOT NULL)`;
  for (const operator of [['STARTS', 'WITH'], ['ENDS', 'WITH'], ['CONTAINS'], ['IN']]) {
    if (reader.takeWords(...operator)) return `(${left} ${operator.join(' ')} ${sum(translation)})`;
  }
  return left;
}

function regularExpression(translation: Translation): string {
  const { reader, parameter } = translation;
  const { kind, text } = reader.take();
  if (kind !== 'string') reader.refuse('A regular expression must be a text in quotes.');
  if (!isHarmlessPattern(text)) reader.refuse('This regular expression could take too long; use CONTAINS.');
  return parameter(text);
}

function sum(translation: Translation): string {
  return signs(translation, ['+', '-', '||'], () =>
    signs(translation, ['*', '/', '%'], () => signs(translation, ['^'], () => unary(translation))),
  );
}

function signs(translation: Translation, operators: readonly string[], operand: () => string): string {
  let left = operand();
  for (let sign = takeOne(translation, operators); sign !== null; sign = takeOne(translation, operators)) {
    left = `(${left} ${sign} ${operand()})`;
  }
  return left;
}

function takeOne({ reader }: Translation, operators: readonly string[]): string | null {
  return operators.find((sign) => reader.takeSign(sign)) ?? null;
}

function unary(translation: Translation): string {
  return translation.reader.nested(() => {
    const sign = takeOne(translation, ['-', '+']);
    return sign === null ? postfix(translation) : `(${sign} ${unary(translation)})`;
  });
}

function postfix(translation: Translation): string {
  const { reader } = translation;
  let value = atom(translation);
  for (;;) {
    if (reader.takeSign('.')) value += `.${quoted(reader.name())}`;
    else if (reader.takeSign('[')) value += subscript(translation);
    // The "true" keeps it from looking like a node.
    else if (reader.takeSign(':')) value = `(true AND ${value}:${labelExpression(translation, false)})`;
    else return value;
  }
}

/** After `[`: an index or a slice. */
function subscript(translation: Translation): string {
  const { reader } = translation;
  const bound = () => (reader.isSign('..') || reader.isSign(']') ? '' : translation.expression());
  const first = bound();
  const isSlice = reader.takeSign('..');
  const text = isSlice ? `[${first}..${bound()}]` : `[${first}]`;
  reader.expectSign(']');
  return text;
}

function atom(translation: Translation): string {
  const { reader } = translation;
  const { kind, text } = reader.peek();
  if (kind === 'number') return reader.take().text;
  if (kind === 'string') return translation.parameter(reader.take().text);
  if (reader.isSign('[')) return list(translation);
  if (reader.isSign('{')) return mapLiteral(translation);
  if (reader.isSign('(')) return attempt(translation, () => path(translation, 1)) ?? bracketed(translation);
  if (kind === 'quoted') return variable(translation);
  if (kind !== 'name') return reader.refuse();
  if (/^(true|false|null)$/i.test(text)) return reader.take().text.toLowerCase();
  if (reader.isWord('CASE')) return caseExpression(translation);
  if (reader.isSign('{', 1) && (reader.isWord('EXISTS') || reader.isWord('COUNT'))) return subquery(translation);
  const shortest = shortestPath(translation);
  if (shortest !== null) return shortest;
  if (reader.isSign('(', 1)) return call(translation);
  return variable(translation);
}

function bracketed(translation: Translation): string {
  const { reader } = translation;
  reader.expectSign('(');
  const inner = translation.expression();
  reader.expectSign(')');
  return inner;
}

/** `n`, or a projection of it: `n {.name, .*, size: 3, other}`. */
function variable(translation: Translation): string {
  const { reader } = translation;
  const name = quoted(reader.name());
  if (!reader.takeSign('{')) return name;
  const entries: string[] = [];
  while (!reader.isSign('}')) {
    if (entries.length > 0) reader.expectSign(',');
    if (reader.takeSign('.')) entries.push(reader.takeSign('*') ? '.*' : `.${quoted(reader.name())}`);
    else {
      const key = quoted(reader.name());
      entries.push(reader.takeSign(':') ? `${key}: ${translation.expression()}` : key);
    }
  }
  reader.expectSign('}');
  return `${name} {${entries.join(', ')}}`;
}

function list(translation: Translation): string {
  const { reader } = translation;
  const patterns = attempt(translation, () => patternComprehension(translation));
  if (patterns !== null) return patterns;
  if (reader.isWord('IN', 2)) return listComprehension(translation);
  reader.expectSign('[');
  const entries: string[] = [];
  while (!reader.isSign(']')) {
    if (entries.length > 0) reader.expectSign(',');
    entries.push(translation.expression());
  }
  reader.expectSign(']');
  return `[${entries.join(', ')}]`;
}

/** `[x IN list WHERE … | …]` */
function listComprehension(translation: Translation): string {
  const { reader } = translation;
  if (translation.isInComprehension) reader.refuse('A list made from a list cannot stand in another.');
  translation.isInComprehension = true;
  reader.expectSign('[');
  const name = quoted(reader.name());
  reader.expectWord('IN');
  const source = translation.expression();
  const condition = where(translation);
  const result = reader.takeSign('|') ? ` | ${translation.expression()}` : '';
  reader.expectSign(']');
  translation.isInComprehension = false;
  return `[${name} IN ${source}${condition}${result}]`;
}

/** `[(a)-->(b) WHERE … | …]` */
function patternComprehension(translation: Translation): string {
  const { reader } = translation;
  reader.expectSign('[');
  const isNamed = reader.isSign('=', 1);
  const name = isNamed ? `${quoted(reader.name())} = ` : '';
  if (isNamed) reader.expectSign('=');
  const found = path(translation, 1);
  const condition = where(translation);
  reader.expectSign('|');
  const result = translation.expression();
  reader.expectSign(']');
  return `[${name}${found}${condition} | ${result}]`;
}

function caseExpression(translation: Translation): string {
  const { reader } = translation;
  reader.expectWord('CASE');
  const parts = ['CASE'];
  if (!reader.isWord('WHEN')) parts.push(translation.expression());
  while (reader.takeWord('WHEN')) {
    parts.push('WHEN', translation.expression());
    reader.expectWord('THEN');
    parts.push('THEN', translation.expression());
  }
  if (reader.takeWord('ELSE')) parts.push('ELSE', translation.expression());
  reader.expectWord('END');
  return `${parts.join(' ')} END`;
}

/** `EXISTS { [MATCH] patterns [WHERE …] }`, COUNT alike. */
function subquery(translation: Translation): string {
  const { reader } = translation;
  const word = reader.take().text.toUpperCase();
  reader.expectSign('{');
  reader.takeWord('MATCH');
  const text = `${word} { MATCH ${patternList(translation)}${where(translation)} }`;
  reader.expectSign('}');
  return text;
}

function call(translation: Translation): string {
  const { reader } = translation;
  const name = reader.take().text;
  const lower = name.toLowerCase();
  if (!FUNCTIONS.has(lower)) reader.refuse(`The function ${name} is not supported.`);
  reader.expectSign('(');
  const text = QUANTIFIERS.has(lower) ? quantifier(translation) : parameters(translation, lower);
  reader.expectSign(')');
  // The label of the dataset is internal.
  if (lower === 'labels') return `[x IN labels(${text}) WHERE NOT x IN ['${VIEW_LABEL}', '${translation.label}']]`;
  if (lower === 'keys') return `[x IN keys(${text}) WHERE x <> '${VIEW_KEY}']`;
  return `${lower}(${text})`;
}

function parameters(translation: Translation, name: string): string {
  const { reader } = translation;
  if (name === 'count' && reader.takeSign('*')) return '*';
  if (name === 'range') return range(translation);
  if (name === 'exists') return pattern(translation);
  const distinct = reader.takeWord('DISTINCT') ? 'DISTINCT ' : '';
  const values: string[] = [];
  while (!reader.isSign(')')) {
    if (values.length > 0) reader.expectSign(',');
    values.push(translation.expression());
  }
  return distinct + values.join(', ');
}

function quantifier(translation: Translation): string {
  const { reader } = translation;
  const name = quoted(reader.name());
  reader.expectWord('IN');
  const source = translation.expression();
  return `${name} IN ${source}${where(translation)}`;
}

const MAX_RANGE = 1000;

/** Literal numbers only: a computed range could have any length. */
function range(translation: Translation): string {
  const { reader } = translation;
  const numbers: number[] = [];
  do {
    const isNegative = reader.takeSign('-');
    const { kind, text } = reader.take();
    if (kind !== 'number' || !/^\d{1,9}$/.test(text)) reader.refuse('range() takes whole numbers only.');
    numbers.push(isNegative ? -Number(text) : Number(text));
  } while (reader.takeSign(','));
  const [first = 0, last = 0, step = 1] = numbers;
  if (step === 0 || Math.abs((last - first) / step) > MAX_RANGE)
    reader.refuse(`range() gives ${MAX_RANGE} numbers at most.`);
  return numbers.join(', ');
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
function isHarmlessPattern(pattern: string): boolean {
  const body = pattern.replace(/^\(\?[ismu]+\)/, '').replaceAll(/\\[^0-9kpPQE]|\[[^[\]&\\]*\]/g, 'x');
  const count = (part: RegExp) => body.match(part)?.length ?? 0;
  return (
    pattern.length <= MAX_PATTERN_LENGTH &&
    !/[{}\\[\]]|\(\?|\)[*+?]|[*+?][*+]/.test(body) &&
    count(/[*+]/g) <= MAX_REPETITIONS &&
    count(/\?/g) <= MAX_GROUPS &&
    count(/\(/g) <= MAX_GROUPS
  );
}
