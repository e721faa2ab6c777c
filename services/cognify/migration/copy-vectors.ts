import {
  type ChunkPayload,
  chunkEmbeddedText,
  type EdgePayload,
  type EntityPayload,
  edgeEmbeddedText,
  entityEmbeddedText,
  NODE_TYPES,
  type SummaryPayload,
  type TripletPayload,
} from '../../common/domain/index-rows.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { embedAll } from '../../common/models/embed-all.ts';
import type { Embedder, ModelCallContext } from '../../common/ports/models.ts';
import { activeEmbedding, type EmbeddingDependencies } from '../../common/records/cognify/active-embedding.ts';
import type { VectorIndexVersions } from '../../common/records/cognify/vector-index-versions.ts';
import type { DatasetIndexes } from '../../common/storage/ports/dataset-indexes.ts';
import { type Provenance, VECTOR_KINDS } from '../../common/storage/ports/index-entry.ts';
import { type TextRow, textPages } from '../../common/storage/ports/text-index.ts';
import type { VectorIndex } from '../../common/storage/ports/vector-index.ts';
import type { Embedding } from '../pipeline/index-writer.ts';
import type { CognifySettings } from '../settings.ts';

interface CopyDependencies extends Pick<DatasetIndexes, 'text' | 'graph'> {
  readonly vectors: VectorIndex;
  readonly settings: CognifySettings;
}

/** The scope of the index version that vectors are copied to, and the model that makes them. */
export interface CopyTarget {
  readonly scope: DatasetScope;
  readonly embedder: Embedder;
}

/**
 * Embeds the text rows of a generation of an item and writes their vectors to another index version. Idempotent. `onPage` is
 * called after each page of rows.
 */
export async function copyItem(
  { text, graph, vectors, settings }: CopyDependencies,
  scope: DatasetScope,
  origin: Provenance,
  {
    target,
    context,
    onPage,
  }: { readonly target: CopyTarget; readonly context: ModelCallContext; readonly onPage?: () => Promise<void> },
): Promise<void> {
  const { embedder } = target;
  for await (const page of embeddingsOf({ text, graph }, scope, origin)) {
    context.signal?.throwIfAborted();
    const texts = page.map((embedding) => embedding.text);
    const made = await embedAll(embedder, texts, context, settings);
    const entries = page.map(({ entry }, index) => ({
      ...entry,
      vector: made[index] ?? new Float32Array(embedder.space.dimensions),
    }));
    await vectors.upsert(target.scope, embedder.space, entries);
    await onPage?.();
  }
}

/**
 * Copies the vectors of an item that was built while a migration moved the dataset's vectors, so that all of its vectors are in
 * the active index version when it becomes visible. `versions`: index versions that its vectors were written to.
 */
export async function gatherVectors(
  dependencies: Omit<CopyDependencies, 'vectors'> &
    Pick<EmbeddingDependencies, 'embedders'> & {
      readonly vectorVersions: VectorIndexVersions;
    },
  scope: DatasetScope,
  {
    origin,
    versions,
    context,
  }: { readonly origin: Provenance; readonly versions: ReadonlySet<number>; readonly context: ModelCallContext },
): Promise<void> {
  const { vectorVersions } = dependencies;
  let known = versions;
  for (;;) {
    const { active } = await vectorVersions.state(scope);
    if ([...known].every((version) => version === active)) return;
    const target = await activeEmbedding(dependencies, scope);
    try {
      await copyItem({ ...dependencies, vectors: vectorVersions.inVersions }, scope, origin, { target, context });
    } finally {
      await vectorVersions.written(scope, target.number);
    }
    known = new Set([target.number]);
  }
}

const ROWS_PER_PAGE = 500;

type Readers = Pick<DatasetIndexes, 'text' | 'graph'>;

/** Yields the texts that the vectors of a generation of an item are made from, page by page. */
export async function* embeddingsOf(
  { text, graph }: Readers,
  scope: DatasetScope,
  origin: Provenance,
): AsyncGenerator<readonly Embedding[]> {
  const title = await titleOf({ graph }, scope, origin);
  for (const kind of VECTOR_KINDS) {
    for await (const rows of textPages(text, scope, { kind, provenance: origin, limit: ROWS_PER_PAGE }))
      yield rows.map((row) => embeddingOf(row, title));
  }
}

function embeddingOf(row: TextRow, title: string | null): Embedding {
  const { kind, id, item, generation, nodeSets } = row;
  return { entry: { kind, id, item, generation, nodeSets }, text: embeddedText(row, title) };
}

/** Returns the text that cognify and improve embed. */
function embeddedText({ kind, payload }: TextRow, title: string | null): string {
  if (kind === 'chunk') return chunkEmbeddedText(payload as ChunkPayload, title);
  if (kind === 'entity') return entityEmbeddedText(payload as EntityPayload);
  if (kind === 'edge') return edgeEmbeddedText(payload as EdgePayload);
  return (payload as SummaryPayload | TripletPayload).text;
}

/** Returns the title that the chunks of a document are embedded with; null when it has none but its name. */
async function titleOf(
  { graph }: Pick<Readers, 'graph'>,
  scope: DatasetScope,
  { item, generation }: Provenance,
): Promise<string | null> {
  const nodes = await graph.nodes(scope, [item]);
  const own = nodes.find((node) => node.generation === generation && node.type === NODE_TYPES.document);
  const title = own?.properties['title'];
  return typeof title === 'string' && title !== own?.name ? title : null;
}
