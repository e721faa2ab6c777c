import { expression } from './expressions.ts';
import { patternList, where, wholeNumber } from './patterns.ts';
import { createTokenReader, type TokenReader } from './token-reader.ts';
import { CypherRefusedError, isPrintableName, type Token, tokenize } from './tokens.ts';
import { quoted, type Translation } from './translation.ts';

/** A query that can be run: it reads, and only nodes that bear the label. */
export interface TranslatedQuery {
  readonly statement: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Columns as the query's author calls them; null for `RETURN *`. */
  readonly columns: readonly string[] | null;
}

/** Adding texts or lists to themselves doubles them. */
const MAX_ADDITIONS = 12;
/** Relationships and subtractions: planning takes exponential time in the former. */
const MAX_DASHES = 40;
const READING = 'Only reading is supported: MATCH, OPTIONAL MATCH, UNWIND, WITH, UNION and RETURN.';

/**
 * Reads a query in the part of Cypher that is served, and prints it again with `label` on every node. What is not
 * understood is refused, and nothing of the query's own text is passed on unread, so there is no gap between what is
 * checked here and what the server reads. Throws `CypherRefusedError`.
 */
export function translateQuery(query: string, label: string, maxRows: number): TranslatedQuery {
  const tokens = tokenize(query);
  limit(tokens, ['+', '||'], MAX_ADDITIONS, 'additions');
  limit(tokens, ['-'], MAX_DASHES, 'relationships');
  const reader = createTokenReader(query, tokens);
  const parameters: Record<string, string> = {};
  const translation: Translation = {
    reader,
    label,
    isInComprehension: false,
    expression: () => expression(translation),
    parameter(text) {
      const name = `p${Object.keys(parameters).length}`;
      parameters[name] = text;
      return `$${name}`;
    },
  };
  const first = singleQuery(translation, maxRows);
  let { statement } = first;
  while (reader.takeWord('UNION')) {
    statement += reader.takeWord('ALL') ? ' UNION ALL ' : ' UNION ';
    statement += singleQuery(translation, maxRows).statement;
  }
  reader.takeSign(';');
  if (reader.peek().kind !== 'end') reader.refuse();
  return { statement, parameters, columns: first.columns };
}

function limit(tokens: readonly Token[], signs: readonly string[], most: number, what: string): void {
  const found = tokens.filter(({ kind, text }) => kind === 'sign' && signs.includes(text)).length;
  if (found > most) throw new CypherRefusedError(`The query has too many ${what}.`);
}

interface SingleQuery {
  readonly statement: string;
  readonly columns: readonly string[] | null;
}

function singleQuery(translation: Translation, maxRows: number): SingleQuery {
  const { reader } = translation;
  const clauses: string[] = [];
  for (;;) {
    if (reader.takeWord('MATCH')) clauses.push(`MATCH ${patternList(translation)}${where(translation)}`);
    else if (reader.takeWords('OPTIONAL', 'MATCH')) {
      clauses.push(`OPTIONAL MATCH ${patternList(translation)}${where(translation)}`);
    } else if (reader.takeWord('UNWIND')) clauses.push(unwind(translation));
    else if (reader.takeWord('WITH')) clauses.push(withClause(translation));
    else if (reader.takeWord('RETURN')) {
      const last = returnClause(translation, maxRows);
      return { statement: [...clauses, last.statement].join(' '), columns: last.columns };
    } else reader.refuse(READING);
  }
}

function unwind(translation: Translation): string {
  const source = translation.expression();
  translation.reader.expectWord('AS');
  return `UNWIND ${source} AS ${quoted(translation.reader.name())}`;
}

function withClause(translation: Translation): string {
  const { reader } = translation;
  const { text } = projection(translation, (value, from) => {
    if (!/^`[^`]*`$/.test(value)) reader.refuse(`${reader.textSince(from)} needs a name in WITH (AS …).`);
    return null;
  });
  return `WITH ${text}${order(translation)}${rows(translation, null)}${where(translation)}`;
}

function returnClause(translation: Translation, maxRows: number): SingleQuery {
  let unnamed = 0;
  const { text, columns } = projection(translation, (_, from) => {
    const written = translation.reader.textSince(from).replaceAll('`', '');
    unnamed += 1;
    return isPrintableName(written) && written.length <= MAX_COLUMN_LENGTH ? written : `column ${unnamed}`;
  });
  return { statement: `RETURN ${text}${order(translation)}${rows(translation, maxRows)}`, columns };
}

const MAX_COLUMN_LENGTH = 200;

/** `nameFor` gives a value without AS its name; null leaves it as it is. */
function projection(
  translation: Translation,
  nameFor: (value: string, from: Token) => string | null,
): { readonly text: string; readonly columns: readonly string[] | null } {
  const { reader } = translation;
  const distinct = reader.takeWord('DISTINCT') ? 'DISTINCT ' : '';
  const items: string[] = [];
  const columns: string[] = [];
  const hasAll = reader.takeSign('*');
  if (hasAll) items.push('*');
  while (hasAll ? reader.takeSign(',') : items.length === 0 || reader.takeSign(',')) {
    const from = reader.peek();
    const value = translation.expression();
    const name = reader.takeWord('AS') ? reader.name() : nameFor(value, from);
    items.push(name === null ? value : `${value} AS ${quoted(name)}`);
    columns.push(name ?? value.slice(1, -1));
  }
  return { text: distinct + items.join(', '), columns: hasAll ? null : columns };
}

function order(translation: Translation): string {
  const { reader } = translation;
  if (!reader.takeWords('ORDER', 'BY')) return '';
  const keys: string[] = [];
  do keys.push(translation.expression() + direction(reader));
  while (reader.takeSign(','));
  return ` ORDER BY ${keys.join(', ')}`;
}

function direction(reader: TokenReader): string {
  if (reader.takeWord('DESC') || reader.takeWord('DESCENDING')) return ' DESC';
  if (!reader.takeWord('ASC')) reader.takeWord('ASCENDING');
  return '';
}

/** SKIP and LIMIT; one row above `most` is requested, which says that there are more. */
function rows(translation: Translation, most: number | null): string {
  const { reader } = translation;
  const skip = reader.takeWord('SKIP') || reader.takeWord('OFFSET') ? ` SKIP ${wholeNumber(translation)}` : '';
  const wanted = reader.takeWord('LIMIT') ? Number(wholeNumber(translation)) : null;
  const limits = [wanted, most === null ? null : most + 1].filter((count) => count !== null);
  return limits.length === 0 ? skip : `${skip} LIMIT ${Math.min(...limits)}`;
}
