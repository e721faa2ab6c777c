import { type MergedEdge, type MergedNode, mergeEdges, mergeNodes } from '../../domain/graph/merge.ts';
import { createShownGraph, type ShownGraph, type VisibleGraph } from '../../domain/graph/shown.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import type { DatasetScope } from '../../kernel/scope.ts';
import type { EdgeEvidence, GraphStore, NodeEvidence } from '../../storage/ports/graph-store.ts';
import { type Ledger, visible } from './ledger.ts';

const PAGE = 5000;

interface Dependencies {
  readonly graph: GraphStore;
  readonly ledger: Ledger;
}

/** Nodes and edges are read at one state of the ledger; a build that commits meanwhile is not mixed in. */
export async function openGraph({ graph, ledger }: Dependencies, scope: DatasetScope): Promise<VisibleGraph> {
  const committed = await ledger.allCommitted(scope);
  let seen: ShownGraph | null = null;
  async function* nodes(signal?: AbortSignal): AsyncGenerator<readonly MergedNode[]> {
    const shown = createShownGraph();
    const pages = mergedPages<NodeEvidence, MergedNode>({
      scan: (after) => graph.scanNodes(scope, { after, limit: PAGE }),
      keyOf: ({ id }) => id,
      merge: mergeNodes,
      committed,
      signal,
    });
    for await (const page of pages) yield page.filter(shown.shows);
    seen = shown;
  }
  async function* edges(signal?: AbortSignal): AsyncGenerator<readonly MergedEdge[]> {
    // The visible edges depend on the nodes, which are read here when only edges are asked for.
    if (seen === null) for await (const _ of nodes(signal));
    const shown = seen as ShownGraph | null;
    const pages = mergedPages<EdgeEvidence, MergedEdge>({
      scan: (after) => graph.scanEdges(scope, { after, limit: PAGE }),
      keyOf: ({ source, relation, target }) => `${source}\n${relation}\n${target}`,
      merge: mergeEdges,
      committed,
      signal,
    });
    for await (const page of pages) yield page.filter((edge) => shown?.showsEdge(edge) ?? true);
  }
  return { nodes, edges };
}

interface Pages<Row extends { readonly item: DataItemId; readonly generation: number }, Merged> {
  readonly scan: (after: string | null) => Promise<{ readonly items: readonly Row[]; readonly next: string | null }>;
  readonly keyOf: (row: Row) => string;
  readonly merge: (rows: readonly Row[]) => readonly Merged[];
  readonly committed: ReadonlyMap<DataItemId, number>;
  readonly signal: AbortSignal | undefined;
}

/** Rows of one node (or edge) stand together in the scan, so only the last one of a page waits for the next page. */
async function* mergedPages<Row extends { readonly item: DataItemId; readonly generation: number }, Merged>(
  pages: Pages<Row, Merged>,
): AsyncGenerator<readonly Merged[]> {
  let held: readonly Row[] = [];
  let after: string | null = null;
  do {
    pages.signal?.throwIfAborted();
    const page = await pages.scan(after);
    after = page.next;
    const rows = [...held, ...visible(page.items, pages.committed)];
    const last = rows.at(-1);
    const cut = after === null || last === undefined ? rows.length : firstOf(rows, pages.keyOf(last), pages.keyOf);
    held = rows.slice(cut);
    if (cut > 0) yield pages.merge(rows.slice(0, cut));
  } while (after !== null);
}

/** Index of the first of the trailing rows that share the key. */
function firstOf<Row>(rows: readonly Row[], key: string, keyOf: (row: Row) => string): number {
  let index = rows.length;
  while (index > 0 && keyOf(rows[index - 1] as Row) === key) index -= 1;
  return index;
}
