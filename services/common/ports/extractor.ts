import type { JsonObject } from '../kernel/json.ts';
import type { BlockKind } from './documents.ts';
import type { ModelCallContext, TokenUsage } from './models.ts';

/** Input of an extractor: one chunk with its context in the document. */
export interface ExtractionInput {
  readonly text: string;
  readonly documentName: string;
  /** With its extension; of code the path in its repository. */
  readonly fileName?: string;
  /** Loader format, see `ParsedDocument.format`. */
  readonly format?: string;
  /** Of code: definitions that a statement apart from them exports. */
  readonly exported?: readonly string[];
  /** Absent: prose. */
  readonly parts?: readonly TextPart[];
  /** The title that the document gives itself. Unlike its name it is part of its content. */
  readonly title?: string;
  /** Who says `I` in the text: a name under which the same person is known in the whole dataset. Absent: nobody known. */
  readonly speaker?: string;
  /** Headings above the chunk, outermost first. */
  readonly headings: readonly string[];
  /** Names met in earlier chunks of the document, fullest spelling, so that short names resolve to full ones. */
  readonly knownNames: readonly KnownName[];
  /** Replaces the model's extraction instruction when given; rules ignore it. */
  readonly customPrompt?: string;
  /** JSON schema of a custom graph model; rules ignore it. */
  readonly graphModel?: JsonObject;
}

/** A part of a text, as the format of its document marks it. */
export interface TextPart {
  readonly kind: BlockKind;
  readonly start: number;
  readonly end: number;
  /** Where they differ from those of the chunk. */
  readonly headings?: readonly string[];
  /** Code: qualified name of the definition. */
  readonly symbol?: string;
}

export interface KnownName {
  readonly name: string;
  readonly type: string;
  /** Share of what the text so far says about its type, 0 to 1; absent: all. */
  readonly typeCertainty?: number;
}

export interface ExtractedEntity {
  /** The fullest name the text uses; the identity of the entity is `nodeName(name)`. */
  readonly name: string;
  /** `Person`, `Place`, `Organisation`, `Product`, `Work`, `Date`, `Quantity`, `Concept`, or what a model says. */
  readonly type: string;
  /** How far the text speaks for the type, 0 to 1; absent: see `typeWeight`. */
  readonly typeCertainty?: number;
  readonly description: string;
  /** Other spellings in this chunk. */
  readonly aliases: readonly string[];
  readonly mentions: number;
  /**
   * An ordinary word that helps to find the text (`lasting impression`, `American`): kept out of shown graphs. False for
   * ordinary words that the text is about: a long document shows them only when it comes back to them. Absent for names.
   */
  readonly isKeyword?: boolean;
}

export interface ExtractedRelation {
  readonly source: string;
  readonly target: string;
  /** snake_case verb phrase. */
  readonly relation: string;
  /** The sentence that states it, verbatim. */
  readonly evidence: string;
}

export interface ExtractedSentence {
  readonly text: string;
  /** Offset of the first character in the chunk's text. */
  readonly start: number;
  /** Names of the entities mentioned. */
  readonly entities: readonly string[];
}

export interface Extraction {
  readonly entities: readonly ExtractedEntity[];
  readonly relations: readonly ExtractedRelation[];
  readonly sentences: readonly ExtractedSentence[];
  readonly summary: string;
  readonly usage: TokenUsage | null;
}

/** Entities, relations, sentences and a summary of a chunk: by rules, or by one model call at most. */
export interface Extractor {
  /** Part of the cache key: changes when answers would. */
  readonly version: string;
  extract(input: ExtractionInput, context: ModelCallContext): Promise<Extraction>;
}
