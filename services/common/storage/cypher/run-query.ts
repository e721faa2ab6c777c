import type { CypherRows } from '../ports/graph-store.ts';
import { type Accumulator, accumulatorOf } from './aggregates.ts';
import { type Budget, MAX_ANSWER_LENGTH } from './budget.ts';
import { checkQuery } from './check-query.ts';
import type { Environment, Evaluator, Row } from './environment.ts';
import { compile, expressionKey } from './evaluate.ts';
import type { CypherGraph } from './graph.ts';
import { createMatcherFactory } from './match.ts';
import { truth } from './operators.ts';
import {
  type Clause,
  children,
  type Expression,
  hasAggregate,
  isAggregate,
  type Projection,
  type Query,
  type SingleQuery,
} from './syntax.ts';
import { CypherRefusedError } from './tokens.ts';
import { compareForSort, isList, keyOf, toJson, type Value, weightOf } from './values.ts';

/** Takes rows one after another; `push` returns false when no more are wanted. */
interface Sink {
  push(row: Row): boolean;
  /** After the last row, also when it was told to stop. */
  end(): void;
}

type Stage = (next: Sink) => Sink;

interface ValueRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** Runs a query that `parseQuery` has read. Throws `CypherRefusedError`, or what the budget throws. */
export function runQuery(query: Query, graph: CypherGraph, budget: Budget, maxRows: number): ValueRows {
  checkQuery(query);
  const rows: (readonly Value[])[] = [];
  const seen = new Set<string>();
  let columns: readonly string[] = [];
  const take = (row: readonly Value[]): boolean => {
    if (query.isDistinct) {
      const key = keyOf(row);
      if (seen.has(key)) return true;
      budget.hold(50 + key.length);
      seen.add(key);
    }
    rows.push(row);
    return rows.length < maxRows;
  };
  for (const part of query.parts) {
    const found = runPart(part, graph, budget, take, columns);
    if (columns.length === 0) columns = found;
  }
  return { columns, rows };
}

/** The rows as they are answered. */
export function asAnswer({ columns, rows }: ValueRows, maxRows: number): CypherRows {
  let length = 0;
  const kept = rows.slice(0, maxRows).map((row) => {
    const values = row.map(toJson);
    length += JSON.stringify(values).length;
    if (length > MAX_ANSWER_LENGTH) throw new CypherRefusedError('The answer is too large; use LIMIT.');
    return values;
  });
  return { columns, rows: kept, isCut: rows.length > maxRows };
}

/** `order`: the columns of the first part of a UNION, in whose order the values are given. */
function runPart(
  { clauses, result }: SingleQuery,
  graph: CypherGraph,
  budget: Budget,
  take: (row: readonly Value[]) => boolean,
  order: readonly string[],
): readonly string[] {
  let slots = 0;
  let environment: Environment = {
    scope: new Map(),
    known: new Map(),
    match: createMatcherFactory(graph, budget),
    newSlot: () => slots++,
  };
  const stages: Stage[] = [];
  for (const clause of clauses) {
    const compiled = stageOf(clause, environment, budget);
    stages.push(...compiled.stages);
    environment = { ...environment, scope: compiled.scope };
  }
  const last = projectionStages(result, environment, budget);
  const columns = order.length > 0 ? order : last.columns;
  const wanted = columns.map((name) => last.scope.get(name) as number);
  const sink = [...stages, ...last.stages].reduceRight<Sink>((next, stage) => stage(next), {
    push: (row) => take(wanted.map((slot) => row[slot] ?? null)),
    end() {},
  });
  sink.push(new Array<Value>(slots).fill(null));
  sink.end();
  return columns;
}

interface Compiled {
  readonly stages: readonly Stage[];
  readonly scope: ReadonlyMap<string, number>;
}

function stageOf(clause: Clause, environment: Environment, budget: Budget): Compiled {
  if (clause.kind === 'match') return matchStage(clause, environment, budget);
  if (clause.kind === 'unwind') return unwindStage(clause, environment, budget);
  return projectionStages(clause, environment, budget, clause.where);
}

function filter(condition: Evaluator): Stage {
  return (next) => ({ ...next, push: (row) => truth(condition(row)) !== true || next.push(row) });
}

function matchStage(
  { patterns, where, isOptional }: Extract<Clause, { kind: 'match' }>,
  environment: Environment,
  budget: Budget,
): Compiled {
  const matcher = environment.match(patterns, where, environment);
  const stage: Stage = (next) => ({
    ...next,
    push(row) {
      let isFound = false;
      const goesOn = matcher.run(row, (found) => {
        isFound = true;
        budget.step();
        return next.push(found.slice());
      });
      if (isFound || !isOptional) return goesOn;
      const empty = row.slice();
      for (const slot of matcher.slots) empty[slot] = null;
      return next.push(empty);
    },
  });
  return { stages: [stage], scope: matcher.scope };
}

function unwindStage({ list, name }: Extract<Clause, { kind: 'unwind' }>, environment: Environment, budget: Budget) {
  const value = compile(list, environment);
  const slot = environment.newSlot();
  const stage: Stage = (next) => ({
    ...next,
    push(row) {
      const found = value(row);
      if (found === null) return true;
      for (const entry of isList(found) ? found : [found]) {
        budget.step();
        const copy = row.slice();
        copy[slot] = entry;
        if (!next.push(copy)) return false;
      }
      return true;
    },
  });
  return { stages: [stage], scope: new Map(environment.scope).set(name, slot) };
}

interface Item {
  readonly name: string;
  readonly value: Expression;
  readonly slot: number;
}

/** WITH or RETURN: values, then DISTINCT, ORDER BY, SKIP and LIMIT, and the WHERE of a WITH. */
function projectionStages(
  projection: Projection,
  environment: Environment,
  budget: Budget,
  where: Expression | null = null,
): Compiled & { readonly columns: readonly string[] } {
  const { isDistinct, hasAll, order, skip, limit } = projection;
  const all = hasAll ? [...environment.scope.keys()].sort() : [];
  const listed = [...all.map((name) => ({ name, value: { kind: 'variable', name } as const })), ...projection.items];
  const items = listed.map((item): Item => ({ ...item, slot: environment.newSlot() }));
  const scope = new Map(items.map(({ name, slot }) => [name, slot]));
  const known = new Map(items.map(({ value, slot }) => [expressionKey(value), slot]));
  const isGrouped = items.some(({ value }) => hasAggregate(value)) || order.some(({ value }) => hasAggregate(value));
  const calls = isGrouped ? aggregatesIn([...items.map(({ value }) => value), ...order.map(({ value }) => value)]) : [];
  const groups = calls.map((call) => ({ call, slot: environment.newSlot() }));
  const computed = new Map(groups.map(({ call, slot }) => [expressionKey(call), slot]));
  const stages: Stage[] = [
    isGrouped ? groupStage(items, groups, { ...environment, known: computed }, budget) : valueStage(items, environment),
  ];
  if (isDistinct) stages.push(distinct([...scope.values()], budget));
  // ORDER BY and WHERE see older variables too; columns hide those of the same name.
  const after = {
    ...environment,
    known: new Map([...computed, ...known]),
    scope: new Map([...environment.scope, ...scope]),
  };
  if (order.length > 0) {
    const keys = order.map(({ value, isDescending }) => ({
      value: compile(value, after),
      sign: isDescending ? -1 : 1,
    }));
    stages.push(sort(keys, budget));
  }
  if (skip !== null || limit !== null) stages.push(cut(skip ?? 0, limit ?? Number.POSITIVE_INFINITY));
  if (where !== null) stages.push(filter(compile(where, after)));
  return { stages, scope, columns: items.map(({ name }) => name) };
}

function valueStage(items: readonly Item[], environment: Environment): Stage {
  const values = items.map(({ value, slot }) => ({ slot, value: compile(value, environment) }));
  return (next) => ({
    ...next,
    push(row) {
      // All values first: a column may have the name, and so the place, of a variable that another one uses.
      const copy = row.slice();
      for (const { slot, value } of values) copy[slot] = value(row);
      return next.push(copy);
    },
  });
}

/** The distinct aggregates of expressions. */
function aggregatesIn(expressions: readonly Expression[]): readonly Extract<Expression, { kind: 'call' }>[] {
  const within = (one: Expression): readonly Extract<Expression, { kind: 'call' }>[] =>
    isAggregate(one) ? [one] : children(one).flatMap(within);
  return [...new Map(expressions.flatMap(within).map((call) => [expressionKey(call), call])).values()];
}

interface Group {
  readonly row: Row;
  readonly accumulators: readonly Accumulator[];
}

/** One row for each combination of the items without aggregates. */
function groupStage(
  items: readonly Item[],
  calls: readonly { readonly call: Extract<Expression, { kind: 'call' }>; readonly slot: number }[],
  environment: Environment,
  budget: Budget,
): Stage {
  const plain = { ...environment, known: new Map() };
  const keys = items
    .filter(({ value }) => !hasAggregate(value))
    .map(({ value, slot }) => ({ slot, value: compile(value, plain) }));
  const results = items
    .filter(({ value }) => hasAggregate(value))
    .map(({ value, slot }) => ({ slot, value: compile(value, environment) }));
  const aggregates = calls.map(({ call, slot }) => ({
    call,
    slot,
    args: (call.args ?? []).map((arg) => compile(arg, plain)),
  }));
  return (next) => {
    const groups = new Map<string, Group>();
    const groupOf = (row: Row): Group => {
      const values = keys.map(({ value }) => value(row));
      const key = keyOf(values);
      const known = groups.get(key);
      if (known) return known;
      budget.hold(2 * key.length + weightOf(row));
      const copy = row.slice();
      keys.forEach(({ slot }, index) => {
        copy[slot] = values[index] ?? null;
      });
      const made = { row: copy, accumulators: aggregates.map(({ call }) => accumulatorOf(call, budget)) };
      groups.set(key, made);
      return made;
    };
    return {
      push(row) {
        const { accumulators } = groupOf(row);
        accumulators.forEach((accumulator, index) => {
          accumulator.add((aggregates[index]?.args ?? []).map((arg) => arg(row)));
        });
        return true;
      },
      end() {
        if (keys.length === 0 && groups.size === 0) groupOf([]);
        for (const { row, accumulators } of groups.values()) {
          accumulators.forEach((accumulator, index) => {
            row[aggregates[index]?.slot as number] = accumulator.result();
          });
          for (const { slot, value } of results) row[slot] = value(row);
          if (!next.push(row)) break;
        }
        next.end();
      },
    };
  };
}

function distinct(slots: readonly number[], budget: Budget): Stage {
  return (next) => {
    const seen = new Set<string>();
    return {
      ...next,
      push(row) {
        const key = keyOf(slots.map((slot) => row[slot] ?? null));
        if (seen.has(key)) return true;
        budget.hold(50 + key.length);
        seen.add(key);
        return next.push(row);
      },
    };
  };
}

function sort(keys: readonly { readonly value: Evaluator; readonly sign: number }[], budget: Budget): Stage {
  return (next) => {
    const rows: { readonly row: Row; readonly values: readonly Value[] }[] = [];
    return {
      push(row) {
        budget.hold(weightOf(row));
        rows.push({ row, values: keys.map(({ value }) => value(row)) });
        return true;
      },
      end() {
        rows.sort((a, b) => {
          for (const [index, { sign }] of keys.entries()) {
            const found = compareForSort(a.values[index] ?? null, b.values[index] ?? null);
            if (found !== 0) return found * sign;
          }
          return 0;
        });
        rows.every(({ row }) => next.push(row));
        next.end();
      },
    };
  };
}

function cut(skip: number, limit: number): Stage {
  return (next) => {
    let seen = 0;
    return {
      ...next,
      push(row) {
        seen += 1;
        if (seen <= skip) return true;
        if (seen > skip + limit) return false;
        return next.push(row) && seen < skip + limit;
      },
    };
  };
}
