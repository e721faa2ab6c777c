import type { JsonObject } from '../../../kernel/json.ts';
import type { Condition, Filter, Scalar } from '../../ports/document-store.ts';
import { requireQueryable } from '../rules/collection-rules.ts';
import { conditionsOf } from '../rules/filter.ts';
import { indexValue } from '../rules/ordering.ts';
import { nextAfterPrefix } from '../rules/prefix.ts';
import type { Reach } from '../rules/reach.ts';
import { columnOf, type SqlValue, sqlValue, type TableLayout } from './table-layout.ts';

/** A condition of SQL with its parameters in order. */
export interface SqlTerm {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** Everything a scope and a filter ask for, joined by AND; `1` when that is nothing. */
export function whereTerm(layout: TableLayout, reach: Reach, filter: Filter<JsonObject>): SqlTerm {
  const conditions = conditionsOf(filter);
  const knowsId = conditions.some(
    ([field, { equals, in: among }]) => field === 'id' && (equals ?? among) !== undefined,
  );
  const terms = [...(knowsId ? lookupTerms(layout, reach) : reachTerms(reach))];
  for (const [field, condition] of conditions) {
    requireQueryable(layout.rules, field);
    terms.push(...conditionTerms(columnOf(field), condition));
  }
  return joined(terms);
}

export function reachTerms(reach: Reach): readonly SqlTerm[] {
  const terms: SqlTerm[] = [];
  if (reach.tenant !== undefined) terms.push(term('"tenant" = ?', reach.tenant));
  if (reach.dataset !== undefined) terms.push(term('"dataset" = ?', reach.dataset));
  return terms;
}

/**
 * The reach of a look-up by id. One that leaves the dataset open must not choose the index (the `+` bars it): SQLite would
 * read all documents of the tenant to find a few.
 */
export function lookupTerms(layout: TableLayout, reach: Reach): readonly SqlTerm[] {
  const terms = reachTerms(reach);
  return terms.length === layout.owners.length
    ? terms
    : terms.map(({ sql, parameters }) => ({ sql: `+${sql}`, parameters }));
}

export function joined(terms: readonly SqlTerm[]): SqlTerm {
  if (terms.length === 0) return term('1');
  return { sql: terms.map(({ sql }) => sql).join(' AND '), parameters: terms.flatMap(({ parameters }) => parameters) };
}

export function term(sql: string, ...parameters: readonly SqlValue[]): SqlTerm {
  return { sql, parameters };
}

function conditionTerms(column: string, condition: Condition): readonly SqlTerm[] {
  const terms: SqlTerm[] = [];
  if (condition.equals !== undefined) terms.push(equal(column, condition.equals));
  if (condition.in !== undefined) terms.push(oneOf(column, condition.in));
  if (condition.notEquals !== undefined) terms.push(term(`${column} IS NOT ?`, toSql(condition.notEquals)));
  if (condition.exists !== undefined) terms.push(term(`${column} IS ${condition.exists ? 'NOT ' : ''}NULL`));
  if (condition.prefix !== undefined) terms.push(...startsWith(column, condition.prefix.toWellFormed()));
  for (const [name, operator] of RANGES) {
    const bound = condition[name];
    if (bound !== undefined)
      terms.push(term(`${column} ${operator} ?`, toSql(bound)), sameType(column, operator, bound));
  }
  return terms;
}

const RANGES = [
  ['greaterThan', '>'],
  ['atLeast', '>='],
  ['lessThan', '<'],
  ['atMost', '<='],
] as const;

/** Across types SQLite orders numbers < text < blobs; the far end of a range is where the bound's own type ends. */
function sameType(column: string, operator: string, bound: string | number): SqlTerm {
  const upwards = operator.startsWith('>');
  if (typeof bound === 'string') return term(upwards ? `${column} < x''` : `${column} >= ''`);
  return term(upwards ? `${column} < ''` : '1'); // NULL, the only thing below numbers, never compares
}

function equal(column: string, value: Scalar): SqlTerm {
  return value === null ? term(`${column} IS NULL`) : term(`${column} = ?`, toSql(value));
}

/** Strings and numbers travel as one JSON parameter, so that lists of any length share one prepared statement. */
function oneOf(column: string, values: readonly Scalar[]): SqlTerm {
  const listed = values.map(indexValue).filter((value) => typeof value === 'string' || typeof value === 'number');
  const others = values.filter((value) => value === null || typeof value === 'boolean');
  const terms = [...new Set(others)].map((value) => equal(column, value));
  if (listed.length > 0 || terms.length === 0) {
    terms.unshift(term(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(listed)));
  }
  const { parameters } = joined(terms);
  return { sql: `(${terms.map(({ sql }) => sql).join(' OR ')})`, parameters };
}

/** A range instead of LIKE or GLOB: it uses the index and knows no wildcards. */
function startsWith(column: string, prefix: string): readonly SqlTerm[] {
  const end = nextAfterPrefix(prefix);
  return [term(`${column} >= ?`, prefix), end === null ? term(`${column} < x''`) : term(`${column} < ?`, end)];
}

function toSql(value: Scalar): SqlValue {
  return sqlValue(indexValue(value));
}
