import type { Budget } from './budget.ts';
import type { Emit, Environment, Evaluator, Row } from './environment.ts';
import { bearsLabels, compile } from './evaluate.ts';
import type { CypherGraph } from './graph.ts';
import { truth } from './operators.ts';
import {
  type Condition,
  conjuncts,
  namesIn,
  type PlacedPattern,
  planPatterns,
  requiredLabel,
  type Step,
} from './plan-patterns.ts';
import type { Expression, NodePattern, Pattern, RelationshipPattern } from './syntax.ts';
import {
  equals,
  type GraphEdge,
  type GraphNode,
  isList,
  keyOf,
  kindOf,
  type Path,
  QueryFailure,
  type Value,
} from './values.ts';

/** `budget` counts what is looked at. */
export function createMatcherFactory(graph: CypherGraph, budget: Budget): Environment['match'] {
  return (patterns, where, environment) => {
    const { placed, scope, slots } = place(patterns, environment);
    const inner: Environment = { ...environment, scope };
    const conditions = [
      ...patterns.flatMap(propertyConditions),
      ...patterns.flatMap(({ nodes, relationships }) =>
        [...nodes, ...relationships].flatMap(({ where: own }) => conjuncts(own)),
      ),
      ...conjuncts(where),
    ].map((expression): Condition => ({ expression, needs: slotsOf(expression, scope) }));
    const bound = new Set(environment.scope.values());
    const steps = planPatterns(graph, placed, conditions, bound);
    const used = { edges: new Set<GraphEdge>() };
    const context: MatchContext = { graph, budget, environment: inner, used };
    return {
      scope,
      slots,
      run(row, emit) {
        const before = used.edges;
        used.edges = new Set();
        try {
          return chain(steps, context, emit)(row.slice());
        } finally {
          used.edges = before;
        }
      },
    };
  };
}

interface MatchContext {
  readonly graph: CypherGraph;
  readonly budget: Budget;
  readonly environment: Environment;
  /** Relationships of the match so far: none is walked twice. */
  readonly used: { edges: Set<GraphEdge> };
}

/** Gives every node, relationship and path of the patterns a slot: that of its variable, which may be known already. */
function place(patterns: readonly Pattern[], environment: Environment) {
  const scope = new Map(environment.scope);
  const slots: number[] = [];
  const slotFor = (name: string | null): number => {
    const known = name === null ? undefined : scope.get(name);
    if (known !== undefined) return known;
    const slot = environment.newSlot();
    slots.push(slot);
    if (name !== null) scope.set(name, slot);
    return slot;
  };
  const placed = patterns.map(
    (pattern): PlacedPattern => ({
      pattern,
      nodes: pattern.nodes.map(({ name }) => slotFor(name)),
      relationships: pattern.relationships.map(({ name }) => slotFor(name)),
      path: pattern.name === null ? null : slotFor(pattern.name),
    }),
  );
  return { placed, scope, slots };
}

/** Properties of named elements as conditions; those of others are compared where the element is found. */
function propertyConditions({ nodes, relationships }: Pattern): readonly Expression[] {
  const single = relationships.filter(({ hops }) => hops === null);
  return [...nodes, ...single].flatMap(({ name, properties }) =>
    name === null || properties === null
      ? []
      : properties.map(([key, value]): Expression => {
          const first: Expression = { kind: 'property', of: { kind: 'variable', name }, key };
          return { kind: 'comparison', first, rest: [['=', value]] };
        }),
  );
}

function slotsOf(expression: Expression, scope: ReadonlyMap<string, number>): ReadonlySet<number> {
  return new Set([...namesIn(expression)].flatMap((name) => scope.get(name) ?? []));
}

/** The steps as one function of the row, which they fill in; a match is given to `emit`. */
function chain(steps: readonly Step[], context: MatchContext, emit: Emit): Emit {
  return steps.reduceRight<Emit>((next, step) => stepOf(step, context, next), emit);
}

function stepOf(step: Step, context: MatchContext, next: Emit): Emit {
  switch (step.kind) {
    case 'start':
      return start(step, context, next);
    case 'expand':
      return expand(step, context, next);
    case 'filter': {
      const condition = compile(step.condition, context.environment);
      return (row) => truth(condition(row)) !== true || next(row);
    }
    case 'path':
      return (row) => {
        row[step.slot] = pathOf(step.placed, row);
        return next(row);
      };
    case 'shortest':
      return shortest(step, context, next);
  }
}

type NodeCheck = (node: GraphNode, row: Row) => boolean;

function nodeCheck({ labels, name, properties }: NodePattern, { environment }: MatchContext): NodeCheck {
  const entries = name === null ? propertyValues(properties, environment) : [];
  return (node, row) => (labels === null || bearsLabels(node.labels, labels)) && hasProperties(node, entries, row);
}

type PropertyValues = readonly (readonly [key: string, value: Evaluator])[];

function propertyValues(properties: NodePattern['properties'], environment: Environment): PropertyValues {
  return (properties ?? []).map(([key, value]) => [key, compile(value, environment)] as const);
}

function hasProperties({ properties }: GraphNode | GraphEdge, entries: PropertyValues, row: Row): boolean {
  return entries.every(([key, value]) => equals(properties.get(key) ?? null, value(row)) === true);
}

function start(step: Extract<Step, { kind: 'start' }>, context: MatchContext, next: Emit): Emit {
  const { slot, seek, node: pattern } = step;
  const { graph, budget } = context;
  const fits = nodeCheck(pattern, context);
  if (step.isBound) {
    return (row) => {
      const node = nodeIn(row, slot);
      return node === null || !fits(node, row) || next(row);
    };
  }
  const label = requiredLabel(pattern.labels);
  const value = seek === null ? null : compile(seek.value, context.environment);
  return (row) => {
    const wanted = value?.(row);
    const candidates =
      seek !== null ? graph.seek(seek.key, wanted ?? null) : label === null ? graph.nodes : graph.labelled(label);
    for (const node of candidates) {
      budget.step();
      if (!fits(node, row)) continue;
      row[slot] = node;
      if (!next(row)) return false;
    }
    return true;
  };
}

function nodeIn(row: Row, slot: number): GraphNode | null {
  const value = row[slot] ?? null;
  if (value !== null && kindOf(value) !== 'node') throw new QueryFailure('A variable of the pattern is no node');
  return value as GraphNode | null;
}

/** Relationships of a node that fit the pattern, walked along it or against it, with the node at their other end. */
type Neighbours = (node: GraphNode, row: Row) => Iterable<readonly [edge: GraphEdge, other: GraphNode]>;

function neighboursOf(pattern: RelationshipPattern, isForward: boolean, context: MatchContext): Neighbours {
  const { labels, properties, pointsLeft, pointsRight, name, hops } = pattern;
  const isOpen = pointsLeft === pointsRight;
  const goesOut = isOpen || pointsRight === isForward;
  const goesIn = isOpen || pointsRight !== isForward;
  const entries = name === null || hops !== null ? propertyValues(properties, context.environment) : [];
  const fits = (edge: GraphEdge, row: Row) => {
    context.budget.step();
    return (labels === null || bearsLabels([edge.type], labels)) && hasProperties(edge, entries, row);
  };
  return function* (node, row) {
    if (goesOut) for (const edge of node.out) if (fits(edge, row)) yield [edge, edge.target];
    if (!goesIn) return;
    for (const edge of node.in) {
      // A loop stands in both lists.
      if (!(goesOut && edge.source === edge.target) && fits(edge, row)) yield [edge, edge.source];
    }
  };
}

function expand(step: Extract<Step, { kind: 'expand' }>, context: MatchContext, next: Emit): Emit {
  const { from, to, slot, isBound, isSlotBound, isForward, relationship } = step;
  const neighbours = neighboursOf(relationship, isForward, context);
  const fits = nodeCheck(step.node, context);
  /** Goes on with the node at the other end and what led there. */
  const arrive = (row: Row, node: GraphNode, value: Value): boolean => {
    if ((isBound && row[to] !== node) || !fits(node, row)) return true;
    const before = row[slot] ?? null;
    if (isSlotBound && (before === null || keyOf(before) !== keyOf(value))) return true;
    row[slot] = value;
    if (!isBound) row[to] = node;
    const goesOn = next(row);
    if (isSlotBound) row[slot] = before;
    return goesOn;
  };
  if (relationship.hops === null) {
    return (row) => {
      const node = nodeIn(row, from);
      if (node === null) return true;
      const { edges } = context.used;
      for (const [edge, other] of neighbours(node, row)) {
        if (edges.has(edge)) continue;
        edges.add(edge);
        const goesOn = arrive(row, other, edge);
        edges.delete(edge);
        if (!goesOn) return false;
      }
      return true;
    };
  }
  const { least, most } = bounds(relationship);
  return (row) => {
    const { edges } = context.used;
    const walked: GraphEdge[] = [];
    const visit = (node: GraphNode): boolean => {
      if (walked.length >= least && !arrive(row, node, isForward ? [...walked] : walked.toReversed())) return false;
      if (walked.length >= most) return true;
      for (const [edge, other] of neighbours(node, row)) {
        if (edges.has(edge)) continue;
        edges.add(edge);
        walked.push(edge);
        const goesOn = visit(other);
        walked.pop();
        edges.delete(edge);
        if (!goesOn) return false;
      }
      return true;
    };
    const first = nodeIn(row, from);
    return first === null || visit(first);
  };
}

function bounds({ hops }: RelationshipPattern): { readonly least: number; readonly most: number } {
  return hops === null
    ? { least: 1, most: 1 }
    : { least: hops.least ?? 1, most: hops.most ?? Number.POSITIVE_INFINITY };
}

function pathOf({ nodes, relationships }: PlacedPattern, row: Row): Path | null {
  const first = nodeIn(row, nodes[0] as number);
  if (first === null) return null;
  const edges = relationships.flatMap((slot) => {
    const value = row[slot] ?? null;
    return (isList(value) ? value : [value]) as GraphEdge[];
  });
  return pathAlong(first, edges);
}

function pathAlong(first: GraphNode, edges: readonly GraphEdge[]): Path {
  const nodes = [first];
  for (const { source, target } of edges) nodes.push(source === nodes.at(-1) ? target : source);
  return { kind: 'path', nodes, edges };
}

/** A way from the first node, told from its end. */
interface Way {
  readonly node: GraphNode;
  readonly edge: GraphEdge | null;
  readonly before: Way | null;
  readonly length: number;
}

/** Breadth first, so that the first path that fits is the shortest. */
function shortest(step: Extract<Step, { kind: 'shortest' }>, context: MatchContext, next: Emit): Emit {
  const { placed } = step;
  const pattern = placed.pattern.relationships[0] as RelationshipPattern;
  const [from = 0, to = 0] = placed.nodes;
  const slot = placed.relationships[0] as number;
  const neighbours = neighboursOf(pattern, true, context);
  const conditions = step.conditions.map((condition) => compile(condition, context.environment));
  const { least, most } = bounds(pattern);
  if (least > 1) throw new QueryFailure('A shortest path starts at length 0 or 1');
  const wantsAll = placed.pattern.shortest === 'allShortestPaths';
  // Without a condition on the path, one way to each node is enough; for all shortest paths those of the same length.
  const isPlain = conditions.length === 0;
  const fill = (row: Row, way: Way, first: GraphNode): boolean => {
    const edges = edgesOf(way);
    row[slot] = pattern.hops === null ? (edges[0] ?? null) : edges;
    if (placed.path !== null) row[placed.path] = pathAlong(first, edges);
    return conditions.every((condition) => truth(condition(row)) === true);
  };
  return (row) => {
    const [first, last] = [nodeIn(row, from), nodeIn(row, to)];
    if (first === null || last === null) return true;
    if (first === last && least > 0)
      throw new QueryFailure('The shortest path algorithm does not work when the start and end nodes are the same');
    const reached = new Map<GraphNode, number>([[first, 0]]);
    let found = Number.POSITIVE_INFINITY;
    let ways: readonly Way[] = [{ node: first, edge: null, before: null, length: 0 }];
    while (ways.length > 0) {
      const further: Way[] = [];
      for (const way of ways) {
        if (way.node === last && way.length >= least && fill(row, way, first)) {
          found = way.length;
          if (!next(row)) return false;
          if (!wantsAll) return true;
        }
        if (way.length >= Math.min(most, found)) continue;
        for (const [edge, node] of neighbours(way.node, row)) {
          const known = reached.get(node);
          if (isPlain ? known !== undefined && (!wantsAll || known <= way.length) : edgesOf(way).includes(edge))
            continue;
          reached.set(node, way.length + 1);
          further.push({ node, edge, before: way, length: way.length + 1 });
        }
      }
      if (found < Number.POSITIVE_INFINITY) return true;
      ways = further;
    }
    return true;
  };
}

function edgesOf(way: Way): readonly GraphEdge[] {
  const edges: GraphEdge[] = [];
  for (let at: Way | null = way; at !== null; at = at.before) if (at.edge !== null) edges.push(at.edge);
  return edges.reverse();
}
