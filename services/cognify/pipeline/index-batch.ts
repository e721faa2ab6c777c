import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextEntry } from '../../common/storage/ports/text-index.ts';
import type { VectorEntry } from '../../common/storage/ports/vector-index.ts';

/** A vector to be made: the entry and the text it stands for. */
export interface Embedding {
  readonly entry: Omit<VectorEntry, 'vector'>;
  readonly text: string;
}

/** Rows of one generation of one item, for the three indexes. */
export interface IndexBatch {
  readonly entries: readonly TextEntry[];
  readonly embeddings: readonly Embedding[];
  readonly nodes: readonly NodeEvidence[];
  readonly edges: readonly EdgeEvidence[];
}

/** A batch that grows while chunks are extracted. */
export interface GrowingBatch extends IndexBatch {
  readonly entries: TextEntry[];
  readonly embeddings: Embedding[];
  readonly nodes: NodeEvidence[];
  readonly edges: EdgeEvidence[];
}

export function emptyBatch(): GrowingBatch {
  return { entries: [], embeddings: [], nodes: [], edges: [] };
}

export function rowCount({ entries, embeddings, nodes, edges }: IndexBatch): number {
  return entries.length + embeddings.length + nodes.length + edges.length;
}
