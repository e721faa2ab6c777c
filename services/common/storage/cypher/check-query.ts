import { expressionKey } from './evaluate.ts';
import {
  AGGREGATES,
  type Clause,
  children,
  type Expression,
  hasAggregate,
  isAggregate,
  type Pattern,
  type Projection,
  type Query,
  type RelationshipPattern,
} from './syntax.ts';
import { QueryFailure } from './values.ts';

/** Kind of value of a variable, as far as its place in the query tells. */
type Kind = 'Node' | 'Relationship' | 'List<Relationship>' | 'Path' | 'Value' | 'Any';
type Scope = ReadonlyMap<string, Kind>;

/** Refuses what Neo4j refuses before it runs a query: unknown variables, aggregates where they mean nothing and the like. */
export function checkQuery({ parts }: Query): void {
  const columns = parts.map(({ clauses, result }) => {
    let scope: Scope = new Map();
    for (const clause of clauses) scope = afterClause(clause, scope);
    return [...afterProjection(result, scope, 'RETURN').keys()].sort().join('\n');
  });
  if (new Set(columns).size > 1) fail('All sub queries in an UNION must have the same return column names');
}

function fail(reason: string): never {
  throw new QueryFailure(reason);
}

function afterClause(clause: Clause, scope: Scope): Scope {
  switch (clause.kind) {
    case 'match': {
      const inner = checkPatterns(clause.patterns, scope);
      if (clause.where !== null) checkWhere(clause.where, inner);
      return inner;
    }
    case 'unwind':
      checkValue(clause.list, scope);
      if (scope.has(clause.name)) fail(`Variable \`${clause.name}\` already declared`);
      return new Map(scope).set(clause.name, 'Any');
    case 'with':
      return afterProjection(clause, scope, clause.where);
  }
}

/** Operands of AND, OR, XOR or NOT; null for any other expression. */
function operandsOf(value: Expression): readonly Expression[] | null {
  if (value.kind === 'unary') return value.operator === 'NOT' ? [value.of] : null;
  return value.kind === 'binary' && ['AND', 'OR', 'XOR'].includes(value.operator) ? [value.left, value.right] : null;
}

/** `where`: the condition of a WITH. */
function afterProjection(projection: Projection, scope: Scope, where: Expression | null | 'RETURN'): Scope {
  const { hasAll, items, order, isDistinct } = projection;
  if (hasAll && scope.size === 0 && where === 'RETURN')
    fail('RETURN * is not allowed when there are no variables in scope');
  const columns = new Map<string, Kind>(hasAll ? scope : []);
  for (const { value, name } of items) {
    checkAggregating(value, scope);
    if (columns.has(name)) fail('Multiple result columns with the same name are not supported');
    columns.set(name, kindOf(value, scope));
  }
  const isGrouped = items.some(({ value }) => hasAggregate(value));
  const keys = new Set([
    ...items.flatMap(({ value }) =>
      value.kind === 'variable' || value.kind === 'property' ? [expressionKey(value)] : [],
    ),
    ...(hasAll ? [...scope.keys()].map((name) => expressionKey({ kind: 'variable', name })) : []),
  ]);
  for (const { value } of items) if (hasAggregate(value)) checkGrouping(value, keys, new Set());
  const known = new Set([...items.map(({ value }) => expressionKey(value)), ...keys]);
  const names = [...columns.keys()].map((name) => expressionKey({ kind: 'variable', name }));
  for (const { value } of order) {
    if (hasAggregate(value) && !isGrouped) fail('Invalid use of aggregating function in this context');
    if (hasAggregate(value)) checkGrouping(value, new Set([...keys, ...names]), new Set());
  }
  for (const value of [...order.map((key) => key.value), ...(where === null || where === 'RETURN' ? [] : [where])]) {
    if (isGrouped || isDistinct) checkColumns(value, columns, known);
    else checkCondition(value, new Map([...scope, ...columns]));
  }
  return columns;
}

function kindOf(value: Expression, scope: Scope): Kind {
  if (value.kind === 'variable') return scope.get(value.name) ?? 'Any';
  if (
    value.kind === 'list' &&
    value.items.length > 0 &&
    value.items.every((item) => ['Relationship', 'Any'].includes(kindOf(item, scope)))
  )
    return 'Any';
  return VALUES.has(value.kind) && !(value.kind === 'literal' && value.value === null) ? 'Value' : 'Any';
}

/** Expressions that never give an element of the graph. */
const VALUES: ReadonlySet<Expression['kind']> = new Set([
  'literal',
  'list',
  'map',
  'comparison',
  'unary',
  'quantifier',
]);

/** Outside of aggregates only what the rows of a group share. */
function checkGrouping(value: Expression, keys: ReadonlySet<string>, own: ReadonlySet<string>): void {
  if (isAggregate(value) || keys.has(expressionKey(value))) return;
  if (value.kind === 'variable') {
    if (own.has(value.name)) return;
    fail(`Aggregation column contains implicit grouping expressions: \`${value.name}\` is none of the columns`);
  }
  const inner =
    value.kind === 'listComprehension' || value.kind === 'quantifier' ? new Set([...own, value.variable]) : own;
  for (const child of children(value)) checkGrouping(child, keys, inner);
}

/** After DISTINCT or aggregates only columns are left, and the expressions that they were made of. */
function checkColumns(value: Expression, columns: Scope, known: ReadonlySet<string>): void {
  if (known.has(expressionKey(value))) return;
  if (children(value).length === 0 && !isAggregate(value)) {
    checkCondition(value, columns);
    return;
  }
  for (const child of children(value)) checkColumns(child, columns, known);
}

/** A column: it may hold aggregates, not in each other. */
function checkAggregating(value: Expression, scope: Scope): void {
  if (!hasAggregate(value)) {
    checkValue(value, scope);
    return;
  }
  if (value.kind === 'listComprehension' || value.kind === 'quantifier') {
    if (
      hasAggregate(value.list) &&
      ![value.where, 'result' in value ? value.result : null].some((one) => one && hasAggregate(one))
    ) {
      checkAggregating(value.list, scope);
      checkValue({ ...value, list: { kind: 'list', items: [] } }, scope);
      return;
    }
    fail('Invalid use of aggregating function in this context');
  }
  if (isAggregate(value) && children(value).some(hasAggregate))
    fail("Can't use aggregate functions inside of aggregate functions");
  for (const child of children(value)) checkAggregating(child, scope);
}

function checkWhere(value: Expression, scope: Scope): void {
  if (value.kind === 'variable' && !['Any', 'Value'].includes(kindOf(value, scope)))
    fail(`Type mismatch: expected Boolean but was ${kindOf(value, scope)}`);
  checkCondition(value, scope);
}

function checkCondition(value: Expression, scope: Scope): void {
  if (hasAggregate(value)) fail('Invalid use of aggregating function in this context');
  if (value.kind === 'pattern') {
    checkPatternCondition(value.pattern, scope);
    return;
  }
  const operands = operandsOf(value);
  if (operands === null) {
    checkValue(value, scope);
    return;
  }
  for (const operand of operands) {
    const isOther = operand.kind === 'literal' ? !['boolean', 'object'].includes(typeof operand.value) : false;
    const kind = kindOf(operand, scope);
    if (isOther || ['list', 'map'].includes(operand.kind) || !['Any', 'Value'].includes(kind))
      fail(`Type mismatch: expected Boolean but was ${kind}`);
    checkCondition(operand, scope);
  }
}

function checkPatternCondition(pattern: Pattern, scope: Scope): void {
  for (const { name } of [...pattern.nodes, ...pattern.relationships]) {
    if (name !== null && !scope.has(name)) fail(`Variable \`${name}\` not defined`);
  }
  checkPatterns([pattern], scope);
}

function checkValue(value: Expression, scope: Scope): void {
  switch (value.kind) {
    case 'variable':
      if (!scope.has(value.name)) fail(`Variable \`${value.name}\` not defined`);
      return;
    case 'mapProjection':
      if (!scope.has(value.of)) fail(`Variable \`${value.of}\` not defined`);
      break;
    case 'call':
      if (AGGREGATES.has(value.name)) fail(`Invalid use of aggregating function ${value.name}(...) in this context`);
      checkArgument(value.name, value.args?.[0], scope);
      break;
    case 'case':
      for (const [when, then] of value.branches) {
        if (value.subject === null) checkCondition(when, scope);
        else checkValue(when, scope);
        checkValue(then, scope);
      }
      for (const other of [value.subject, value.otherwise]) if (other !== null) checkValue(other, scope);
      return;
    case 'property': {
      const kind = kindOf(value.of, scope);
      if (kind === 'Path' || kind === 'List<Relationship>')
        fail(`Type mismatch: expected Map, Node or Relationship but was ${kind}`);
      break;
    }
    case 'unary':
    case 'binary':
      if (operandsOf(value) !== null) {
        checkCondition(value, scope);
        return;
      }
      break;
    case 'listComprehension':
    case 'quantifier': {
      checkValue(value.list, scope);
      const inner = new Map(scope).set(value.variable, 'Any');
      if (value.where !== null) checkCondition(value.where, inner);
      if (value.kind === 'listComprehension' && value.result !== null) checkValue(value.result, inner);
      return;
    }
    case 'patternComprehension': {
      const inner = checkPatterns([value.pattern], scope);
      if (value.where !== null) checkCondition(value.where, inner);
      checkValue(value.result, inner);
      return;
    }
    case 'pattern':
      if (value.pattern.shortest === null)
        fail('A pattern expression should only be used in order to test the existence of a pattern');
      checkPatterns([value.pattern], scope);
      return;
    case 'subquery': {
      const inner = checkPatterns(value.patterns, scope);
      if (value.where !== null) checkCondition(value.where, inner);
      return;
    }
  }
  for (const child of children(value)) checkValue(child, scope);
}

/** Functions of one kind of element, by the kind. */
const ARGUMENTS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...['labels'].map((name) => [name, 'Node'] as const),
  ...['type', 'startnode', 'endnode'].map((name) => [name, 'Relationship'] as const),
  ...['nodes', 'relationships', 'length'].map((name) => [name, 'Path'] as const),
]);

function checkArgument(name: string, argument: Expression | undefined, scope: Scope): void {
  const expected = ARGUMENTS.get(name);
  const kind = argument === undefined ? 'Any' : kindOf(argument, scope);
  if (expected && kind !== 'Any' && kind !== expected) fail(`Type mismatch: expected ${expected} but was ${kind}`);
  if (name === 'size' && kind === 'Path') fail('Type mismatch: expected String or List<Any> but was Path');
}

/** The scope with the variables of the patterns, which may use each other's in their conditions. */
function checkPatterns(patterns: readonly Pattern[], outer: Scope): Scope {
  const scope = new Map(outer);
  const relationships = new Set<string>();
  const declare = (name: string | null, kind: Kind) => {
    if (name === null) return;
    const known = scope.get(name);
    if (known !== undefined && known !== 'Any' && known !== kind)
      fail(`Type mismatch: \`${name}\` defined with conflicting type ${known} (expected ${kind})`);
    if (known === undefined) scope.set(name, kind);
  };
  for (const pattern of patterns) {
    if (pattern.name !== null) {
      if (scope.has(pattern.name)) fail(`Variable \`${pattern.name}\` already declared`);
      scope.set(pattern.name, 'Path');
    }
    for (const { name } of pattern.nodes) declare(name, 'Node');
    for (const { name, hops } of pattern.relationships) {
      if (name !== null && relationships.has(name))
        fail(`Cannot use the same relationship variable '${name}' for multiple relationships`);
      if (name !== null) relationships.add(name);
      declare(name, hops === null ? 'Relationship' : 'List<Relationship>');
    }
    for (const one of pattern.relationships) checkHops(one);
  }
  for (const { nodes, relationships: found } of patterns) {
    for (const { properties, where } of [...nodes, ...found]) {
      for (const [, value] of properties ?? []) checkValue(value, scope);
      if (where !== null) checkCondition(where, scope);
    }
  }
  return scope;
}

function checkHops({ hops, where }: RelationshipPattern): void {
  if (hops !== null && where !== null)
    fail('Relationship pattern predicates are not supported for variable-length relationships');
}
