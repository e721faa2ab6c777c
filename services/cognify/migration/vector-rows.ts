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
import type { DatasetIndexes } from '../../common/storage/ports/dataset-indexes.ts';
import { type Provenance, VECTOR_KINDS } from '../../common/storage/ports/index-entry.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { Embedding } from '../pipeline/index-writer.ts';

const ROWS_PER_PAGE = 500;

type Readers = Pick<DatasetIndexes, 'text' | 'graph'>;

/** What the vectors of a generation of an item are made from, as its text rows tell, a page at a time. */
export async function* embeddingsOf(
  { text, graph }: Readers,
  scope: DatasetScope,
  origin: Provenance,
): AsyncGenerator<readonly Embedding[]> {
  const title = await titleOf({ graph }, scope, origin);
  for (const kind of VECTOR_KINDS) {
    let after: number | undefined;
    do {
      const position = after === undefined ? {} : { after };
      const rows = await text.list(scope, { kind, provenance: origin, limit: ROWS_PER_PAGE, ...position });
      if (rows.length > 0) yield rows.map((row) => embeddingOf(row, title));
      after = rows.length < ROWS_PER_PAGE ? undefined : rows.at(-1)?.ordinal;
    } while (after !== undefined);
  }
}

function embeddingOf(row: TextRow, title: string | null): Embedding {
  const { kind, id, item, generation, nodeSets } = row;
  return { entry: { kind, id, item, generation, nodeSets }, text: embeddedText(row, title) };
}

/** The same text that cognify and improve embed. */
function embeddedText({ kind, payload }: TextRow, title: string | null): string {
  if (kind === 'chunk') return chunkEmbeddedText(payload as ChunkPayload, title);
  if (kind === 'entity') return entityEmbeddedText(payload as EntityPayload);
  if (kind === 'edge') return edgeEmbeddedText(payload as EdgePayload);
  return (payload as SummaryPayload | TripletPayload).text;
}

/** Of the document, which its chunks are embedded with; null when it had none, and its name stands there. */
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
