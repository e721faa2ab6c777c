import type { JsonObject } from '../../../common/kernel/json.ts';
import { type CodeGraph, edgesOf, factOf, isOfKind } from './code-graph.ts';
import type { CodeEdge, CodeNode } from './code-node.ts';
import type { Direction } from './options.ts';

interface WalkOptions {
  readonly direction: Direction;
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** Relations to follow; empty: all. */
  readonly relations?: readonly string[];
  /** Kinds to return, others are only walked through; empty: all. */
  readonly kinds?: readonly string[];
}

export interface Walk {
  /** Nearest first, the seeds with depth 0. */
  readonly found: readonly { readonly node: CodeNode; readonly depth: number }[];
  /** Edges walked between the found nodes. */
  readonly edges: readonly CodeEdge[];
  readonly stats: JsonObject;
}

/** Walks from the seeds, breadth first. */
export function walk(graph: CodeGraph, seeds: readonly CodeNode[], options: WalkOptions): Walk {
  const { direction, maxDepth, maxNodes, kinds = [] } = options;
  const depths = new Map(seeds.map(({ id }) => [id, 0]));
  const found = new Map<string, { readonly node: CodeNode; readonly depth: number }>();
  const walked = new Set<CodeEdge>();
  let truncated = false;
  // Grows while it is walked.
  for (const [id, depth] of depths) {
    const node = graph.nodes.get(id);
    if (node === undefined) continue;
    if (isOfKind(node, kinds)) {
      if (found.size === maxNodes) {
        truncated = true;
        break;
      }
      found.set(id, { node, depth });
    }
    for (const { edge, next } of stepsFrom(graph, id, direction, options.relations)) {
      if (depth >= maxDepth) continue;
      walked.add(edge);
      if (!depths.has(next)) depths.set(next, depth + 1);
    }
  }
  const place = (edge: CodeEdge) => graph.edges.get(edge) ?? 0;
  const edges = [...walked]
    .filter(({ source, target }) => found.has(source) && found.has(target))
    .sort((a, b) => place(a) - place(b));
  const deepest = [...found.values()].reduce((most, { depth }) => Math.max(most, depth), 0);
  const stats = { nodes_visited: depths.size, edges_traversed: walked.size, max_depth_reached: deepest, truncated };
  return { found: [...found.values()], edges, stats };
}

/** The edges of a node in a direction, with the node at their other end. */
export function stepsFrom(
  { from, into }: CodeGraph,
  id: string,
  direction: Direction,
  relations: readonly string[] = [],
): readonly { readonly edge: CodeEdge; readonly next: string }[] {
  const forward = direction === 'reverse' ? [] : (from.get(id) ?? []);
  const reverse = direction === 'forward' ? [] : (into.get(id) ?? []);
  return [
    ...forward.map((edge) => ({ edge, next: edge.target })),
    ...reverse.map((edge) => ({ edge, next: edge.source })),
  ].filter(({ edge }) => isRelation(edge, relations));
}

/** Maximum of members of one class that are looked through. */
const MAX_MEMBERS = 200;

/** The edges of a node; what a class calls and uses is what its members do. */
export function stepsWithMembers(
  graph: CodeGraph,
  node: CodeNode,
  direction: Direction,
  relations: readonly string[],
): ReturnType<typeof stepsFrom> {
  const isOfMembers = node.kind === 'symbol' && direction === 'forward' && !relations.includes('defines');
  if (!isOfMembers) return stepsFrom(graph, node.id, direction, relations);
  const inside = walk(graph, [node], { direction, maxDepth: 3, maxNodes: MAX_MEMBERS, relations: ['defines'] });
  const ids = new Set(inside.found.map((one) => one.node.id));
  const all = [...ids].flatMap((id) => stepsFrom(graph, id, direction, relations));
  return [...new Map(all.filter(({ next }) => !ids.has(next)).map((step) => [step.next, step])).values()];
}

/** Whether an edge is of one of the relations, as it is called here (`imports`) or stored (`import`). */
export function isRelation({ type }: CodeEdge, relations: readonly string[]): boolean {
  return relations.length === 0 || relations.some((one) => one === type || `${one}s` === type);
}

/** The edges of a shortest way forward to one of the targets; null when there is none. */
export function pathTo(
  graph: CodeGraph,
  from: CodeNode,
  targets: ReadonlySet<string>,
  maxDepth: number,
): readonly CodeEdge[] | null {
  const ways = new Map<string, readonly CodeEdge[]>([[from.id, []]]);
  for (const [id, way] of ways) {
    if (targets.has(id)) return way;
    if (way.length === maxDepth) continue;
    for (const { edge, next } of stepsFrom(graph, id, 'forward')) {
      if (!ways.has(next)) ways.set(next, [...way, edge]);
    }
  }
  return null;
}

/** The nodes, edges and figures of a walk, as results show them. */
export function presentWalk(graph: CodeGraph, { found, edges, stats }: Walk) {
  const nodes = found.map(({ node, depth }) => ({ ...factOf(node), depth }));
  return { nodes, edges: edgesOf(graph, edges), stats };
}
