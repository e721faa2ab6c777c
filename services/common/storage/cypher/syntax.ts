/** Syntax tree of the part of Cypher that is served. `parse-query.ts` makes it, Neo4j's adapter prints it, `run-query.ts` runs it. */

export interface Query {
  /** Joined by UNION; one at least. */
  readonly parts: readonly SingleQuery[];
  /** UNION without ALL. */
  readonly isDistinct: boolean;
}

export interface SingleQuery {
  readonly clauses: readonly Clause[];
  readonly result: Projection;
}

export type Clause =
  | { readonly kind: 'match'; readonly isOptional: boolean; readonly patterns: readonly Pattern[]; readonly where: Expression | null }
  | { readonly kind: 'unwind'; readonly list: Expression; readonly name: string }
  | ({ readonly kind: 'with'; readonly where: Expression | null } & Projection); // biome-ignore format: one a line

/** Columns, order and bounds of WITH and RETURN. */
export interface Projection {
  readonly isDistinct: boolean;
  /** `*` comes first. */
  readonly hasAll: boolean;
  readonly items: readonly ProjectedItem[];
  readonly order: readonly SortKey[];
  readonly skip: number | null;
  readonly limit: number | null;
}

export interface ProjectedItem {
  readonly value: Expression;
  /** After AS; else the variable, or the text of the value. */
  readonly name: string;
}

export interface SortKey {
  readonly value: Expression;
  readonly isDescending: boolean;
}

/** One node more than relationships. */
export interface Pattern {
  /** Variable of the path. */
  readonly name: string | null;
  readonly shortest: 'shortestPath' | 'allShortestPaths' | null;
  readonly nodes: readonly NodePattern[];
  readonly relationships: readonly RelationshipPattern[];
}

interface ElementPattern {
  readonly name: string | null;
  readonly labels: LabelExpression | null;
  readonly properties: MapEntries | null;
  readonly where: Expression | null;
}

export type NodePattern = ElementPattern;

export interface RelationshipPattern extends ElementPattern {
  readonly pointsLeft: boolean;
  readonly pointsRight: boolean;
  /** Null for one relationship; otherwise a bound that is not given is null. */
  readonly hops: { readonly least: number | null; readonly most: number | null } | null;
}

export type LabelExpression =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'not'; readonly of: LabelExpression }
  | { readonly kind: 'and' | 'or'; readonly of: readonly LabelExpression[] };

export type MapEntries = readonly (readonly [key: string, value: Expression])[];

export type Literal = null | boolean | string | bigint | number;

export type Expression =
  /** Whole numbers are bigint. `text`: a number as written. */
  | { readonly kind: 'literal'; readonly value: Literal; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'property'; readonly of: Expression; readonly key: string }
  | { readonly kind: 'index'; readonly of: Expression; readonly at: Expression }
  | { readonly kind: 'slice'; readonly of: Expression; readonly from: Expression | null; readonly to: Expression | null }
  | { readonly kind: 'hasLabels'; readonly of: Expression; readonly labels: LabelExpression }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: MapEntries }
  | { readonly kind: 'mapProjection'; readonly of: string; readonly entries: readonly ProjectedEntry[] }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly of: Expression }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  /** `a < b <= c` means both. */
  | { readonly kind: 'comparison'; readonly first: Expression; readonly rest: readonly (readonly [sign: string, right: Expression])[] }
  | { readonly kind: 'case'; readonly subject: Expression | null; readonly branches: readonly (readonly [when: Expression, then: Expression])[]; readonly otherwise: Expression | null }
  /** `args` is null for `count(*)`. */
  | { readonly kind: 'call'; readonly name: string; readonly isDistinct: boolean; readonly args: readonly Expression[] | null }
  | { readonly kind: 'listComprehension'; readonly variable: string; readonly list: Expression; readonly where: Expression | null; readonly result: Expression | null }
  | { readonly kind: 'quantifier'; readonly name: string; readonly variable: string; readonly list: Expression; readonly where: Expression | null }
  | { readonly kind: 'patternComprehension'; readonly pattern: Pattern; readonly where: Expression | null; readonly result: Expression }
  /** A pattern as a condition; a shortest path as a value. */
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'subquery'; readonly word: 'EXISTS' | 'COUNT'; readonly patterns: readonly Pattern[]; readonly where: Expression | null }; // biome-ignore format: one a line

type UnaryOperator = 'NOT' | '-' | '+' | 'IS NULL' | 'IS NOT NULL';

export type ProjectedEntry =
  | { readonly kind: 'all' }
  | { readonly kind: 'property'; readonly key: string }
  | { readonly kind: 'value'; readonly key: string; readonly value: Expression };

/** The functions that make one value of many rows. */
export const AGGREGATES: ReadonlySet<string> = new Set(
  'avg collect count max min percentilecont percentiledisc stdev stdevp sum'.split(' '),
);

/** The expressions that an expression is made of, not those inside its patterns. */
export function children(expression: Expression): readonly Expression[] {
  const present = (...values: readonly (Expression | null)[]) => values.filter((value) => value !== null);
  switch (expression.kind) {
    case 'literal':
    case 'variable':
    case 'pattern':
    case 'subquery':
    case 'patternComprehension':
      return [];
    case 'property':
    case 'hasLabels':
    case 'unary':
      return [expression.of];
    case 'index':
      return [expression.of, expression.at];
    case 'slice':
      return present(expression.of, expression.from, expression.to);
    case 'list':
      return expression.items;
    case 'map':
      return expression.entries.map(([, value]) => value);
    case 'mapProjection':
      return expression.entries.flatMap((entry) => (entry.kind === 'value' ? [entry.value] : []));
    case 'binary':
      return [expression.left, expression.right];
    case 'comparison':
      return [expression.first, ...expression.rest.map(([, right]) => right)];
    case 'case':
      return present(expression.subject, ...expression.branches.flat(), expression.otherwise);
    case 'call':
      return expression.args ?? [];
    case 'listComprehension':
      return present(expression.list, expression.where, expression.result);
    case 'quantifier':
      return present(expression.list, expression.where);
  }
}

export function hasAggregate(expression: Expression): boolean {
  return isAggregate(expression) || children(expression).some(hasAggregate);
}

export function isAggregate(expression: Expression): expression is Extract<Expression, { kind: 'call' }> {
  return expression.kind === 'call' && AGGREGATES.has(expression.name);
}
