import type { VisibleGraph } from '../domain/graph/shown.ts';
import { append } from '../kernel/long-lists.ts';
import { presentEdge, presentNode } from './graph-rows.ts';

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
