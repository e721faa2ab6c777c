import { expression } from './parse-expression.ts';
import { patternList, where, wholeNumber } from './parse-pattern.ts';
import type { Parser } from './parser.ts';
import type { Clause, Expression, ProjectedItem, Projection, Query, SingleQuery, SortKey } from './syntax.ts';
import { createTokenReader } from './token-reader.ts';
import { CypherRefusedError, isPrintableName, type Token, tokenize } from './tokens.ts';

/** Adding texts or lists to themselves doubles them. */
const MAX_ADDITIONS = 12;
/** Relationships and subtractions: planning takes exponential time in the former. */
const MAX_DASHES = 40;
const MAX_COLUMN_LENGTH = 200;
const READING = 'Only reading is supported: MATCH, OPTIONAL MATCH, UNWIND, WITH, UNION and RETURN.';

/**
 * Reads a query in the part of Cypher that is served: reading only, with functions whose work and results are bounded.
 * Throws `CypherRefusedError` (`RangeError` for one that is nested too deep) for anything else.
 */
export function parseQuery(query: string): Query {
  const tokens = tokenize(query);
  limit(tokens, ['+', '||'], MAX_ADDITIONS, 'additions');
  limit(tokens, ['-'], MAX_DASHES, 'relationships');
  const reader = createTokenReader(query, tokens);
  const parser: Parser = { reader, isInComprehension: false, expression: () => expression(parser) };
  const parts = [singleQuery(parser)];
  const unions = new Set<boolean>();
  while (reader.takeWord('UNION')) {
    unions.add(!reader.takeWord('ALL'));
    parts.push(singleQuery(parser));
  }
  if (unions.size > 1) reader.refuse('UNION and UNION ALL cannot be combined.');
  reader.takeSign(';');
  if (reader.peek().kind !== 'end') reader.refuse();
  return { parts, isDistinct: unions.has(true) };
}

function limit(tokens: readonly Token[], signs: readonly string[], most: number, what: string): void {
  const found = tokens.filter(({ kind, text }) => kind === 'sign' && signs.includes(text)).length;
  if (found > most) throw new CypherRefusedError(`The query has too many ${what}.`);
}

function singleQuery(parser: Parser): SingleQuery {
  const { reader } = parser;
  const clauses: Clause[] = [];
  for (;;) {
    const isOptional = reader.takeWords('OPTIONAL', 'MATCH');
    if (isOptional || reader.takeWord('MATCH')) {
      clauses.push({ kind: 'match', isOptional, patterns: patternList(parser), where: where(parser) });
    } else if (reader.takeWord('UNWIND')) clauses.push(unwind(parser));
    else if (reader.takeWord('WITH')) {
      clauses.push({ kind: 'with', ...projection(parser, namedOnly), where: where(parser) });
    } else if (reader.takeWord('RETURN')) return { clauses, result: projection(parser, columnNames()) };
    else reader.refuse(READING);
  }
}

function unwind(parser: Parser): Clause {
  const list = parser.expression();
  parser.reader.expectWord('AS');
  return { kind: 'unwind', list, name: parser.reader.name() };
}

/** Names a value that has no AS; `text` is its words. */
type NameFor = (parser: Parser, value: Expression, text: string) => string;

function namedOnly({ reader }: Parser, value: Expression, text: string): string {
  return value.kind === 'variable' ? value.name : reader.refuse(`${text} needs a name in WITH (AS …).`);
}

function columnNames(): NameFor {
  let unnamed = 0;
  return (_, __, text) => {
    const written = text.replaceAll('`', '');
    unnamed += 1;
    return isPrintableName(written) && written.length <= MAX_COLUMN_LENGTH ? written : `column ${unnamed}`;
  };
}

function projection(parser: Parser, nameFor: NameFor): Projection {
  const { reader } = parser;
  const isDistinct = reader.takeWord('DISTINCT');
  const hasAll = reader.takeSign('*');
  const items: ProjectedItem[] = [];
  while (hasAll ? reader.takeSign(',') : items.length === 0 || reader.takeSign(',')) {
    const from = reader.peek();
    const value = parser.expression();
    const text = reader.textSince(from);
    items.push({ value, name: reader.takeWord('AS') ? reader.name() : nameFor(parser, value, text) });
  }
  return {
    isDistinct,
    hasAll,
    items,
    order: order(parser),
    skip: reader.takeWord('SKIP') || reader.takeWord('OFFSET') ? wholeNumber(parser) : null,
    limit: reader.takeWord('LIMIT') ? wholeNumber(parser) : null,
  };
}

function order(parser: Parser): readonly SortKey[] {
  const { reader } = parser;
  if (!reader.takeWords('ORDER', 'BY')) return [];
  const keys: SortKey[] = [];
  do keys.push({ value: parser.expression(), isDescending: isDescending(parser) });
  while (reader.takeSign(','));
  return keys;
}

function isDescending({ reader }: Parser): boolean {
  if (reader.takeWord('DESC') || reader.takeWord('DESCENDING')) return true;
  if (!reader.takeWord('ASC')) reader.takeWord('ASCENDING');
  return false;
}
