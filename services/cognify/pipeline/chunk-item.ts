import type { DataItemId } from '../../common/kernel/brand.ts';
import type { ParsedDocument } from '../../common/ports/documents.ts';
import { chunkDocument, chunkIds } from '../../common/text/chunking/chunk-document.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { estimateTokens } from '../../common/text/language/token-count.ts';
import type { ItemChunk } from './item-chunk.ts';

export interface ChunkSizes {
  /** Never exceeded. */
  readonly maxTokens: number;
  /** What a chunk is filled up to. */
  readonly targetTokens: number;
}

export function chunkItem(item: DataItemId, document: ParsedDocument, sizes: ChunkSizes): readonly ItemChunk[] {
  const drafts = chunkDocument(document, { ...sizes, countTokens: estimateTokens, sentences });
  const ids = chunkIds(item, drafts);
  return drafts.map((draft, position) => ({
    id: ids[position] as string,
    index: draft.index,
    text: draft.text,
    size: draft.tokenCount,
    maxTokens: sizes.maxTokens,
    cutType: draft.cutType,
    contentHash: draft.contentHash,
    headings: draft.headings,
    page: draft.page ?? null,
  }));
}
