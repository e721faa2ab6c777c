import type { CypherGraph } from './graph.ts';
import type { Expression, LabelExpression, NodePattern, Pattern, RelationshipPattern } from './syntax.ts';

/** A pattern whose variables, named or not, have slots. */
export interface PlacedPattern {
  readonly pattern: Pattern;
  readonly nodes: readonly number[];
  readonly relationships: readonly number[];
  /** Slot of the path; null when it has no name. */
  readonly path: number | null;
}

/** A condition that the slots it needs decide. */
export interface Condition {
  readonly expression: Expression;
  readonly needs: ReadonlySet<number>;
}

export type Step =
  /** Tries candidates for a node: those with a property's value, with a label, or all. `isBound`: the slot has it. */
  | { readonly kind: 'start'; readonly slot: number; readonly node: NodePattern; readonly isBound: boolean; readonly seek: Seek | null }
  | {
      readonly kind: 'expand';
      readonly from: number;
      readonly to: number;
      readonly node: NodePattern;
      readonly isBound: boolean;
      readonly slot: number;
      readonly isSlotBound: boolean;
      readonly relationship: RelationshipPattern;
      /** Along the pattern as it is written, from left to right. */
      readonly isForward: boolean;
    }
  | { readonly kind: 'shortest'; readonly placed: PlacedPattern; readonly conditions: readonly Expression[] }
  | { readonly kind: 'path'; readonly slot: number; readonly placed: PlacedPattern }
  | { readonly kind: 'filter'; readonly condition: Expression }; // biome-ignore format: one a line

interface Seek {
  readonly key: string;
  readonly value: Expression;
}

/**
 * Puts the patterns of one MATCH in an order: each begins at its cheapest node (found already, by a property, by its label)
 * and goes on from there to both sides; a condition is looked at as soon as all that it needs is found.
 */
export function planPatterns(
  graph: CypherGraph,
  patterns: readonly PlacedPattern[],
  conditions: readonly Condition[],
  bound: ReadonlySet<number>,
): readonly Step[] {
  const found = new Set(bound);
  const steps: Step[] = [];
  const waiting = new Set(conditions);
  const ready = () => {
    for (const condition of waiting) {
      if (![...condition.needs].every((slot) => found.has(slot))) continue;
      waiting.delete(condition);
      steps.push({ kind: 'filter', condition: condition.expression });
    }
  };
  const start = (slot: number, node: NodePattern) => {
    const { seek } = startCost(graph, slot, node, conditions, found);
    steps.push({ kind: 'start', slot, node, isBound: found.has(slot), seek });
    found.add(slot);
    ready();
  };
  const expand = (placed: PlacedPattern, at: number, isForward: boolean) => {
    const [from, to] = isForward ? [at, at + 1] : [at + 1, at];
    const slot = placed.relationships[at] as number;
    const target = placed.nodes[to] as number;
    steps.push({
      kind: 'expand',
      from: placed.nodes[from] as number,
      to: target,
      node: placed.pattern.nodes[to] as NodePattern,
      isBound: found.has(target),
      slot,
      isSlotBound: found.has(slot),
      relationship: placed.pattern.relationships[at] as RelationshipPattern,
      isForward,
    });
    found.add(target).add(slot);
    ready();
  };
  const costs = (placed: PlacedPattern) =>
    placed.nodes.map(
      (slot, at) => startCost(graph, slot, placed.pattern.nodes[at] as NodePattern, conditions, found).cost,
    );

  ready();
  const rest = new Set(patterns);
  while (rest.size > 0) {
    // Shortest paths last: others may bind their ends.
    const [next] = [...rest]
      .map((placed) => ({ placed, cost: Math.min(...costs(placed)), isLast: placed.pattern.shortest !== null }))
      .sort((a, b) => Number(a.isLast) - Number(b.isLast) || a.cost - b.cost);
    const placed = next?.placed as PlacedPattern;
    rest.delete(placed);
    if (placed.pattern.shortest !== null) {
      for (const [at, slot] of placed.nodes.entries()) start(slot, placed.pattern.nodes[at] as NodePattern);
      const own = new Set([...placed.relationships, ...(placed.path === null ? [] : [placed.path])]);
      // Conditions on the path itself choose among the paths, rather than refuse the shortest.
      const ofPath = [...waiting].filter(({ needs }) => [...needs].every((slot) => found.has(slot) || own.has(slot)));
      for (const condition of ofPath) waiting.delete(condition);
      steps.push({ kind: 'shortest', placed, conditions: ofPath.map(({ expression }) => expression) });
      for (const slot of own) found.add(slot);
    } else {
      const all = costs(placed);
      const anchor = all.indexOf(Math.min(...all));
      start(placed.nodes[anchor] as number, placed.pattern.nodes[anchor] as NodePattern);
      for (let at = anchor; at < placed.relationships.length; at++) expand(placed, at, true);
      for (let at = anchor - 1; at >= 0; at--) expand(placed, at, false);
      if (placed.path !== null) {
        steps.push({ kind: 'path', slot: placed.path, placed });
        found.add(placed.path);
      }
    }
    ready();
  }
  for (const { expression } of waiting) steps.push({ kind: 'filter', condition: expression });
  return steps;
}

function startCost(
  graph: CypherGraph,
  slot: number,
  node: NodePattern,
  conditions: readonly Condition[],
  found: ReadonlySet<number>,
): { readonly cost: number; readonly seek: Seek | null } {
  if (found.has(slot)) return { cost: 0, seek: null };
  for (const { expression, needs } of conditions) {
    const seek = seekOf(expression, node.name);
    if (seek !== null && [...needs].every((one) => one === slot || found.has(one))) return { cost: 1, seek };
  }
  const label = requiredLabel(node.labels);
  return { cost: 2 + (label === null ? graph.nodes.length : graph.labelled(label).length), seek: null };
}

/** `n.key = value`, either way round, where the value does not use `n` itself. */
function seekOf(expression: Expression, name: string | null): Seek | null {
  if (name === null || expression.kind !== 'comparison') return null;
  const [[sign, right] = ['', expression.first] as const, ...more] = expression.rest;
  if (sign !== '=' || more.length > 0) return null;
  for (const [left, value] of [[expression.first, right] as const, [right, expression.first] as const]) {
    if (left.kind !== 'property' || left.of.kind !== 'variable' || left.of.name !== name) continue;
    if (!namesIn(value).has(name)) return { key: left.key, value };
  }
  return null;
}

/** A label that every fitting node bears. */
export function requiredLabel(labels: LabelExpression | null): string | null {
  if (labels?.kind === 'name') return labels.name === '__Node__' ? null : labels.name;
  if (labels?.kind !== 'and') return null;
  return labels.of.map(requiredLabel).find((label) => label !== null) ?? null;
}

/** Names that an expression mentions, those of its own variables and functions included: at least all that it needs. */
export function namesIn(part: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof part !== 'object' || part === null) return names;
  for (const [key, value] of Object.entries(part)) {
    if (typeof value !== 'string') namesIn(value, names);
    else if (key === 'name' || key === 'of') names.add(value);
  }
  return names;
}

/** The conditions that AND joins. */
export function conjuncts(expression: Expression | null): readonly Expression[] {
  if (expression === null) return [];
  if (expression.kind === 'binary' && expression.operator === 'AND')
    return [...conjuncts(expression.left), ...conjuncts(expression.right)];
  return [expression];
}
