import type { Environment, Evaluator, Matcher, Row } from './environment.ts';
import { asList, functionOf, integer, text, whole } from './functions.ts';
import { binary, comparison, truth, unary } from './operators.ts';
import type { Expression, LabelExpression, Literal, Pattern } from './syntax.ts';
import { isDate, temporalField } from './temporal.ts';
import {
  equals,
  type GraphEdge,
  type GraphNode,
  isList,
  isNumber,
  kindOf,
  propertiesOf,
  QueryFailure,
  typeMismatch,
  type Value,
} from './values.ts';

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

export function expressionKey(expression: Expression): string {
  return JSON.stringify(expression, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

function withVariable(environment: Environment, name: string): { readonly slot: number; readonly inner: Environment } {
  const slot = environment.newSlot();
  return { slot, inner: { ...environment, scope: new Map(environment.scope).set(name, slot) } };
}

/** The expression as a function of a row. Variables are known to be in scope: `check-query.ts`. */
export function compile(expression: Expression, environment: Environment): Evaluator {
  const known = environment.known.size === 0 ? undefined : environment.known.get(expressionKey(expression));
  if (known !== undefined) return (row) => row[known] ?? null;
  const of = (one: Expression) => compile(one, environment);
  switch (expression.kind) {
    case 'literal':
      return constant(expression.value);
    case 'variable': {
      const slot = slotOf(environment, expression.name);
      return (row) => row[slot] ?? null;
    }
    case 'property': {
      const value = of(expression.of);
      return (row) => property(value(row), expression.key);
    }
    case 'index': {
      const [value, at] = [of(expression.of), of(expression.at)];
      return (row) => index(value(row), at(row));
    }
    case 'slice': {
      const value = of(expression.of);
      const from = expression.from === null ? constant(0n) : of(expression.from);
      const to = expression.to === null ? null : of(expression.to);
      return (row) => slice(value(row), from(row), to === null ? undefined : to(row));
    }
    case 'hasLabels': {
      const value = of(expression.of);
      return (row) => hasLabels(value(row), expression.labels);
    }
    case 'list': {
      const items = expression.items.map(of);
      return (row) => items.map((item) => item(row));
    }
    case 'map': {
      const entries = expression.entries.map(([key, value]) => [key, of(value)] as const);
      return (row) => new Map(entries.map(([key, value]) => [key, value(row)]));
    }
    case 'mapProjection':
      return mapProjection(expression, environment);
    case 'unary':
      // The smallest integer has no positive counterpart.
      if (expression.operator === '-' && expression.of.kind === 'literal' && typeof expression.of.value === 'bigint')
        return constant(-expression.of.value);
      return unary(expression.operator, of(expression.of));
    case 'binary':
      return binary(expression.operator, of(expression.left), of(expression.right));
    case 'comparison': {
      const first = of(expression.first);
      const rest = expression.rest.map(([sign, right]) => [sign, of(right)] as const);
      return (row) => comparison(first(row), rest, row);
    }
    case 'case':
      return caseOf(expression, of);
    case 'call': {
      const args = (expression.args ?? []).map(of);
      const run = functionOf(expression.name, args.length);
      return (row) => run(args.map((arg) => arg(row)));
    }
    case 'listComprehension':
      return listComprehension(expression, environment);
    case 'quantifier':
      return quantifier(expression, environment);
    case 'patternComprehension':
      return patternComprehension(expression, environment);
    case 'pattern':
      return expression.pattern.shortest === null
        ? exists(environment.match([expression.pattern], null, environment))
        : shortestPath(expression.pattern, environment);
    case 'subquery':
      return subquery(expression, environment);
  }
}

function constant(value: Literal): Evaluator {
  if (typeof value === 'bigint') integer(value);
  return () => value;
}

function slotOf({ scope }: Environment, name: string): number {
  const slot = scope.get(name);
  if (slot === undefined) throw new QueryFailure(`Variable \`${name}\` not defined`);
  return slot;
}

function property(value: Value, key: string): Value {
  if (value === null) return null;
  const properties = propertiesOf(value);
  if (properties !== null) return properties.get(key) ?? null;
  if (!isDate(value)) throw typeMismatch('Map, Node or Relationship', value);
  const field = temporalField(value, key);
  if (field === undefined) throw new QueryFailure(`No such field: ${key}`);
  return field;
}

function index(value: Value, at: Value): Value {
  if (value === null || at === null) return null;
  if (isList(value)) {
    if (!isNumber(at)) throw typeMismatch('Integer', at);
    return value.at(whole(at)) ?? null;
  }
  if (propertiesOf(value) === null) throw typeMismatch('List<Any> or Map', value);
  return property(value, text(at));
}

function slice(value: Value, from: Value, to: Value | undefined): Value {
  if (value === null || from === null || to === null) return null;
  return asList(value).slice(whole(from), to === undefined ? undefined : whole(to));
}

function hasLabels(value: Value, labels: LabelExpression): boolean | null {
  if (value === null) return null;
  const kind = kindOf(value);
  if (kind === 'node') return bearsLabels((value as GraphNode).labels, labels);
  if (kind === 'edge') return bearsLabels([(value as GraphEdge).type], labels);
  throw typeMismatch('Node or Relationship', value);
}

/** Label that every node bears on Neo4j. */
const EVERY_NODE = '__Node__';

export function bearsLabels(names: readonly string[], labels: LabelExpression): boolean {
  switch (labels.kind) {
    case 'name':
      return names.includes(labels.name) || labels.name === EVERY_NODE;
    case 'any':
      return true;
    case 'not':
      return !bearsLabels(names, labels.of);
    case 'and':
      return labels.of.every((one) => bearsLabels(names, one));
    case 'or':
      return labels.of.some((one) => bearsLabels(names, one));
  }
}

function mapProjection({ of, entries }: Of<'mapProjection'>, environment: Environment): Evaluator {
  const slot = slotOf(environment, of);
  const parts = entries.map((entry) => {
    if (entry.kind === 'all') return (value: Value) => [...(propertiesOf(value) ?? [])];
    if (entry.kind === 'property') return (value: Value) => [[entry.key, property(value, entry.key)] as const];
    const evaluate = compile(entry.value, environment);
    return (_: Value, row: Row) => [[entry.key, evaluate(row)] as const];
  });
  return (row) => {
    const value = row[slot] ?? null;
    if (value === null) return null;
    if (propertiesOf(value) === null) throw typeMismatch('Map', value);
    return new Map(parts.flatMap((part) => part(value, row)));
  };
}

function caseOf({ subject, branches, otherwise }: Of<'case'>, of: (one: Expression) => Evaluator): Evaluator {
  const value = subject === null ? null : of(subject);
  const compiled = branches.map(([when, then]) => [of(when), of(then)] as const);
  const last = otherwise === null ? constant(null) : of(otherwise);
  return (row) => {
    const wanted = value?.(row) ?? null;
    const isChosen = (when: Evaluator) =>
      value === null ? truth(when(row)) === true : equals(wanted, when(row)) === true;
    const found = compiled.find(([when]) => isChosen(when));
    return (found?.[1] ?? last)(row);
  };
}

function listComprehension(one: Of<'listComprehension'>, environment: Environment): Evaluator {
  const list = compile(one.list, environment);
  const { slot, inner } = withVariable(environment, one.variable);
  const where = one.where === null ? null : compile(one.where, inner);
  const result = one.result === null ? null : compile(one.result, inner);
  return (row) => {
    const source = list(row);
    if (source === null) return null;
    const values: Value[] = [];
    for (const value of asList(source)) {
      row[slot] = value;
      if (where === null || truth(where(row)) === true) values.push(result === null ? value : result(row));
    }
    return values;
  };
}

function quantifier({ name, ...one }: Of<'quantifier'>, environment: Environment): Evaluator {
  const list = compile(one.list, environment);
  const { slot, inner } = withVariable(environment, one.variable);
  const where = compile(one.where ?? { kind: 'variable', name: one.variable }, inner);
  return (row) => {
    const source = list(row);
    if (source === null) return null;
    const found = { true: 0, false: 0, null: 0 };
    for (const value of asList(source)) {
      row[slot] = value;
      found[String(truth(where(row))) as keyof typeof found] += 1;
    }
    const isOpen = found.null > 0;
    switch (name) {
      case 'all':
        return found.false > 0 ? false : isOpen ? null : true;
      case 'any':
        return found.true > 0 ? true : isOpen ? null : false;
      case 'none':
        return found.true > 0 ? false : isOpen ? null : true;
      default:
        return found.true > 1 ? false : isOpen ? null : found.true === 1;
    }
  };
}

function patternComprehension(one: Of<'patternComprehension'>, environment: Environment): Evaluator {
  const matcher = environment.match([one.pattern], one.where, environment);
  const result = compile(one.result, { ...environment, scope: matcher.scope });
  return (row) => {
    const values: Value[] = [];
    matcher.run(row, (found) => {
      values.push(result(found));
      return true;
    });
    return values;
  };
}

function exists(matcher: Matcher): Evaluator {
  return (row) => !matcher.run(row, () => false);
}

function shortestPath(pattern: Pattern, environment: Environment): Evaluator {
  const name = ' path';
  const matcher = environment.match([{ ...pattern, name }], null, environment);
  const slot = matcher.scope.get(name) as number;
  return (row) => {
    const found: Value[] = [];
    matcher.run(row, (match) => {
      found.push(match[slot] ?? null);
      return pattern.shortest === 'allShortestPaths';
    });
    return pattern.shortest === 'allShortestPaths' ? found : (found[0] ?? null);
  };
}

function subquery({ word, patterns, where }: Of<'subquery'>, environment: Environment): Evaluator {
  const matcher = environment.match(patterns, where, environment);
  if (word === 'EXISTS') return exists(matcher);
  return (row) => {
    let count = 0n;
    matcher.run(row, () => {
      count += 1n;
      return true;
    });
    return count;
  };
}
