import type { MergedEdge, MergedNode } from '../domain/graph/merge.ts';
import type { VisibleGraph } from '../domain/graph/shown.ts';
import { NODE_TYPES } from '../domain/index-rows.ts';
import { nodeName } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import { append } from '../kernel/long-lists.ts';

/** A node of the dataset graph on the wire (ingest.md §5.5): no nulls among the properties. */
function presentNode(node: MergedNode): Readonly<Record<string, unknown>> {
  const properties: Record<string, Json> = {};
  if (node.description !== '') properties['description'] = node.description;
  if (node.aliases.length > 0) properties['aliases'] = node.aliases;
  for (const [key, value] of Object.entries(node.properties)) {
    if (value !== null && value !== undefined) properties[snakeCase(key)] = value;
  }
  if (node.nodeSets.length > 0) properties['belongs_to_set'] = node.nodeSets;
  return { id: node.id, label: labelOf(node), type: node.type, properties };
}

function presentEdge(edge: MergedEdge): Readonly<Record<string, unknown>> {
  return { source: edge.source, target: edge.target, label: edge.relation };
}

/** Entities and their types show the stored spelling of the contract, lower case. */
function labelOf({ id, name, type }: MergedNode): string {
  if (name.trim() === '') return `${type}_${id}`;
  return type === NODE_TYPES.entity || type === NODE_TYPES.entityType ? nodeName(name) : name;
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `{"nodes":[…],"edges":[…]}` in pieces, so that a large graph is never whole in memory. */
export async function* graphJson(graph: VisibleGraph, signal?: AbortSignal): AsyncGenerator<string> {
  // Together with the first nodes: a piece tells that reading has begun well.
  yield* joined(graph.nodes(signal), presentNode, '{"nodes":[');
  yield '],"edges":[';
  yield* joined(graph.edges(signal), presentEdge);
  yield ']}';
}

/** The same as one value, for a WebSocket frame. */
export async function wholeGraph(
  graph: VisibleGraph,
  signal?: AbortSignal,
): Promise<{ readonly nodes: readonly unknown[]; readonly edges: readonly unknown[] }> {
  const nodes: unknown[] = [];
  const edges: unknown[] = [];
  for await (const page of graph.nodes(signal)) append(nodes, page.map(presentNode));
  for await (const page of graph.edges(signal)) append(edges, page.map(presentEdge));
  return { nodes, edges };
}

async function* joined<Row>(
  pages: AsyncGenerator<readonly Row[]>,
  present: (row: Row) => unknown,
  opening = '',
): AsyncGenerator<string> {
  let separator = opening;
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield separator + page.map((row) => JSON.stringify(present(row))).join(',');
    separator = ',';
  }
  if (separator === opening && opening !== '') yield opening;
}
