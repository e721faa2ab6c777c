import type { DataItem } from '../../common/domain/data-item.ts';
import type { RowOrigin } from '../../common/domain/index-rows.ts';
import { timeOfMetadata } from '../../common/domain/item-time.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { CodeFacts } from '../../common/ports/code-facts.ts';
import type { TextPart } from '../../common/ports/extractor.ts';

/** Limits of chunks, in tokens. */
export interface ChunkSizes {
  /** Never exceeded. */
  readonly maxTokens: number;
  /** The size that a chunk is filled up to. */
  readonly targetTokens: number;
}

/** A passage of a document, as the pipeline works with it. */
export interface ItemChunk {
  /** Wire id, derived from document and text. */
  readonly id: string;
  /** 0-based position in the document. */
  readonly index: number;
  readonly text: string;
  /** Tokens. */
  readonly size: number;
  /** The limit it was cut under, tokens. */
  readonly maxTokens: number;
  readonly parts: readonly TextPart[];
  readonly cutType: string;
  /** SHA-256 of the text, hex. */
  readonly contentHash: string;
  /** Outermost first. */
  readonly headings: readonly string[];
  readonly page: number | null;
  /** 1-based number of its first row of a table or sheet. */
  readonly row?: number;
}

/** The fields that every row of an item repeats. */
export interface ItemSource {
  readonly item: DataItem;
  readonly origin: RowOrigin;
  readonly title: string | null;
  /** Who says `I` in the document; null: nobody known. */
  readonly speaker: string | null;
  /** When it was written, by its metadata or by itself, ISO; null when neither says so. */
  readonly writtenAt: string | null;
  /** Null: it is no code. */
  readonly code: CodeFacts | null;
  /** Text of its first chunk. */
  readonly beginning: string;
  readonly externalMetadata: JsonObject | null;
  /** The same for every attempt, so that a resumed run builds the same rows. */
  readonly createdAt: string;
}

export function itemSource(
  item: DataItem,
  generation: number,
  {
    title,
    speaker,
    writtenAt,
    code,
    beginning,
  }: Pick<ItemSource, 'title' | 'speaker' | 'writtenAt' | 'code' | 'beginning'>,
): ItemSource {
  const hasMetadata = Object.keys(item.externalMetadata).length > 0;
  return {
    item,
    origin: { item: item.id, generation, nodeSets: item.nodeSets },
    title,
    speaker,
    writtenAt: timeOfMetadata(item.externalMetadata) ?? writtenAt,
    code,
    beginning,
    externalMetadata: hasMetadata ? item.externalMetadata : null,
    createdAt: item.updatedAt ?? item.createdAt,
  };
}
