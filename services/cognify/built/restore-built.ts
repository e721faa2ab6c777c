import { unreadable } from '../../common/domain/snapshot.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import type { AnswerOf, RequestOf } from '../../common/platform/messaging/messages.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { ledgerCollection } from '../../common/records/cognify/ledger.ts';
import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import type { TextEntry } from '../../common/storage/ports/text-index.ts';
import type { VectorEntry, VectorSpace } from '../../common/storage/ports/vector-index.ts';
import {
  type DocumentLine,
  insertDocuments,
  readDocumentLines,
} from '../../common/storage/snapshots/insert-documents.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { linesOf, readPart } from '../../common/storage/snapshots/part-stream.ts';
import { readRowLines } from '../../common/storage/snapshots/row-lines.ts';
import { restoredCollections } from '../collections.ts';
import type { CognifyDependencies } from '../dependencies.ts';

type Dependencies = Pick<CognifyDependencies, 'text' | 'vectors' | 'graph' | 'embedders' | 'store' | 'datasets'> & {
  readonly places: SnapshotPlaces;
};

const ROWS_AT_ONCE = 2_000;

/**
 * Restores the documents and rows of cognify from one part of a snapshot, into a dataset that is not registered yet
 * (`cognify.RestoreBuilt` in proto/). No model is called: rows are written as they were.
 */
export async function restoreBuilt(
  deps: Dependencies,
  { tenantId, datasetId, snapshot, step, place }: RequestOf<'cognify.RestoreBuilt'>,
): Promise<AnswerOf<'cognify.RestoreBuilt'>> {
  const scope = datasetScope(tenantId, datasetId);
  // A registered dataset may hold more than the snapshot: it is neither overwritten nor removed.
  if ((await deps.datasets.get({ tenant: tenantId }, datasetId)) !== null)
    throw engramError('ConflictError', `Dataset ${datasetId} is there already; a snapshot becomes a new one.`);
  if ('discard' in step) return { ...NOTHING, left: await discard(deps, scope) };
  if ('count' in step) return { ...NOTHING, ...(await countRows(deps, scope)) };
  const { part, space } = step.part;
  await requireSpace(deps, tenantId, space);
  const opened = await deps.places.open(place);
  try {
    const lines = linesOf(readPart(partPlace(opened.blobs, snapshot.tenantId, snapshot.name), part));
    if (part.kind === 'documents') {
      const documents = readDocumentLines(lines, restoredCollections);
      return { ...NOTHING, documents: await insertDocuments(deps.store, scope, asCommitted(documents)) };
    }
    await writeRows(deps, scope, { lines, space });
    return NOTHING;
  } finally {
    await opened.close();
  }
}

const NOTHING: AnswerOf<'cognify.RestoreBuilt'> = {
  documents: {},
  text: 0,
  vectors: 0,
  nodes: 0,
  edges: 0,
  left: 0,
};

/** Yields the documents with ledger entries reset to their committed generation: attempts in flight do not belong to the new dataset. */
async function* asCommitted(documents: AsyncIterable<DocumentLine>): AsyncGenerator<DocumentLine> {
  for await (const document of documents) {
    if (document.collection !== ledgerCollection) yield document;
    else {
      const { generation = 0 } = document.value;
      yield { ...document, value: { ...document.value, lastGeneration: generation, pending: false, barred: false } };
    }
  }
}

/** Throws unless the tenant has the embedding model of the snapshot: questions and passages must be embedded by the same one. */
async function requireSpace({ embedders }: Dependencies, tenant: TenantId, space: VectorSpace | null): Promise<void> {
  if (space === null || (await embedders.of(tenant, space)) !== null) return;
  const { model, dimensions } = (await embedders.wanted(tenant, null)).space;
  throw unreadable(
    `its vectors were made by ${space.model} with ${space.dimensions} dimensions and this tenant embeds by ${model} with ${dimensions}; configure that model for the tenant or the server first`,
  );
}

interface Rows {
  text: TextEntry[];
  vectors: VectorEntry[];
  nodes: NodeEvidence[];
  edges: EdgeEvidence[];
}

async function writeRows(
  { text, vectors, graph }: Dependencies,
  scope: DatasetScope,
  { lines, space }: { readonly lines: AsyncIterable<unknown>; readonly space: VectorSpace | null },
): Promise<void> {
  const none = (): Rows => ({ text: [], vectors: [], nodes: [], edges: [] });
  let rows = none();
  let size = 0;
  const flush = async (): Promise<void> => {
    const { nodes, edges } = rows;
    const outcomes = await Promise.allSettled([
      rows.text.length > 0 ? text.upsert(scope, rows.text) : null,
      rows.vectors.length > 0 && space !== null ? vectors.upsert(scope, space, rows.vectors) : null,
      nodes.length + edges.length > 0 ? graph.upsert(scope, { nodes, edges }) : null,
    ]);
    // Thrown after every write has ended, because the caller may then remove the rows.
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    [rows, size] = [none(), 0];
  };
  for await (const line of readRowLines(lines)) {
    if (line.kind === 'item') continue;
    if (line.kind === 'text') rows.text.push(line.row);
    if (line.kind === 'vector') rows.vectors.push(line.row);
    if (line.kind === 'node') rows.nodes.push(line.row);
    if (line.kind === 'edge') rows.edges.push(line.row);
    size += 1;
    if (size === ROWS_AT_ONCE) await flush();
  }
  if (size > 0) await flush();
}

async function countRows({ text, vectors, graph }: Dependencies, scope: DatasetScope) {
  const [texts, ofVectors, { nodeRows, edgeRows }] = await Promise.all([
    text.count(scope, {}),
    vectors.count(scope, {}),
    graph.count(scope),
  ]);
  return { text: texts, vectors: ofVectors, nodes: nodeRows, edges: edgeRows };
}

/** Removes everything of a failed restore. Resolves to the number of rows that are left; 0 after a complete removal. */
async function discard(deps: Dependencies, scope: DatasetScope): Promise<number> {
  const { text, vectors, graph, store } = deps;
  await Promise.all([text.drop(scope), vectors.drop(scope), graph.drop(scope)]);
  const { left } = await eraseCollections(store, scope, restoredCollections);
  const rows = await countRows(deps, scope);
  return left + rows.text + rows.vectors + rows.nodes + rows.edges;
}
