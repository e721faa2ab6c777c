import { sourcePlace } from '../../common/domain/source-place.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { sha256OfJson } from '../../common/kernel/hashes.ts';
import { slug } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { ConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type {
  ExtractedEntity,
  Extraction,
  ExtractionInput,
  Extractor,
  KnownName,
} from '../../common/ports/extractor.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';
import type { ModelCache, ModelCacheKey } from '../repositories/model-cache.ts';
import { countIn, countNamed, type NamedEntry, nameAndType } from './document-entities.ts';
import { blameOf } from './item-failures.ts';
import type { ItemChunk, ItemSource } from './model.ts';

interface ExtractChunksOptions {
  readonly ask: AskExtractor;
  readonly source: ItemSource;
  readonly context: ModelCallContext;
  readonly options: CognifyOptions;
  readonly limit: ConcurrencyLimit;
  /** Position of the item in its run: earlier items end first, so progress is even and little is lost with a worker. */
  readonly priority: number;
}

/**
 * Chunks that are extracted at the same time and know the same names. A constant, so that the result does not depend on
 * the machine: a resumed run builds the same graph.
 */
export const CHUNKS_PER_WAVE = 16;

const SUMMARY_LENGTH = 200;

/** The extraction of a chunk. A failed one has no entities; the text of the chunk is indexed like any other. */
export interface ChunkOutcome {
  readonly extraction: Extraction;
  /** Why there are no entities. */
  readonly error?: unknown;
}

/**
 * Extracts the chunks of one wave; results in order. A failure of one chunk costs its entities. A failure that would hit all
 * chunks is thrown after every call of the wave has ended.
 */
export async function extractWave(
  settings: ExtractChunksOptions,
  chunks: readonly ItemChunk[],
  knownNames: readonly KnownName[],
): Promise<readonly ChunkOutcome[]> {
  settings.context.signal?.throwIfAborted();
  const settled = await Promise.allSettled(
    chunks.map((chunk) => settings.limit(() => extractChunk(settings, chunk, knownNames), settings.priority)),
  );
  return settled.map((outcome, index) => {
    if (outcome.status === 'fulfilled') return { extraction: outcome.value };
    if (settings.context.signal?.aborted === true || !isOfChunk(outcome.reason)) throw outcome.reason;
    return { extraction: withoutEntities(chunks[index] as ItemChunk), error: outcome.reason };
  });
}

/** A request that the provider refuses as invalid would be refused for other chunks too. */
function isOfChunk(error: unknown): boolean {
  return blameOf(error) === 'item' && !(isEngramError(error) && error.wireName === 'CogneeValidationError');
}

/** The chunk as one sentence without mentions; the beginning of its text stands for a summary. */
function withoutEntities({ text }: ItemChunk): Extraction {
  const summary = text.slice(0, SUMMARY_LENGTH).trim();
  return { entities: [], relations: [], sentences: [{ text, start: 0, entities: [] }], summary, usage: null };
}

async function extractChunk(
  { ask, source, context, options }: ExtractChunksOptions,
  chunk: ItemChunk,
  knownNames: readonly KnownName[],
): Promise<Extraction> {
  context.signal?.throwIfAborted();
  const { customPrompt, graphModel } = options;
  const input: ExtractionInput = {
    text: chunk.text,
    documentName: source.title ?? source.item.name,
    ...(source.title === null ? {} : { title: source.title }),
    ...(source.speaker === null ? {} : { speaker: source.speaker }),
    headings: chunk.headings,
    parts: chunk.parts,
    format: source.item.format,
    fileName: source.code === null ? source.item.fileName : sourcePlace(source.item).path,
    ...(source.code?.exports && { exported: source.code.exports.map(([local]) => local) }),
    knownNames,
    ...(customPrompt ? { customPrompt } : {}),
    ...(graphModel ? { graphModel } : {}),
  };
  return ask({ input, source, context });
}

interface ChunkQuestion {
  readonly input: ExtractionInput;
  readonly source: ItemSource;
  readonly context: ModelCallContext;
}

/** Extracts one chunk; the usage of the result is null when no model was paid for it. */
export type AskExtractor = (question: ChunkQuestion) => Promise<Extraction>;

/**
 * Asks the extractor each distinct question once: answers are kept in the cache, and an identical question that is in flight
 * is awaited. Without a cache the extractor costs nothing and is called every time.
 */
export function createAskExtractor(extractor: Extractor, cache: ModelCache | null, scope: DatasetScope): AskExtractor {
  if (cache === null) return ({ input, context }) => extractor.extract(input, context);
  const inFlight = new Map<string, Promise<Extraction>>();

  const ask = async ({ input, source, context }: ChunkQuestion, key: ModelCacheKey): Promise<Extraction> => {
    const known = await cache.get(scope, key);
    if (known !== null) return { ...(known as unknown as Extraction), usage: null };
    const extraction = await extractor.extract(input, context);
    const kept = { ...extraction, usage: null } as unknown as JsonObject;
    await cache.put(scope, key, kept, source.createdAt);
    return extraction;
  };

  return async (question) => {
    const key = keyOf(extractor, question);
    const id = `${key.promptHash}/${key.chunkHash}/${key.contextHash}`;
    const before = inFlight.get(id);
    if (before !== undefined) {
      try {
        return { ...(await before), usage: null };
      } catch {
        // The other item failed or was stopped; this one may still be wanted.
        question.context.signal?.throwIfAborted();
      }
    }
    const own = ask(question, key);
    inFlight.set(id, own);
    try {
      return await own;
    } finally {
      if (inFlight.get(id) === own) inFlight.delete(id);
    }
  };
}

function keyOf(extractor: Extractor, { input, source }: ChunkQuestion): ModelCacheKey {
  const { text, headings, customPrompt, graphModel, title, knownNames } = input;
  return {
    model: extractor.version,
    promptHash: sha256OfJson([headings, customPrompt ?? null, graphModel ?? null]),
    // A line break at the end of a file does not change the question.
    chunkHash: sha256OfJson(text.trimEnd()),
    contextHash: sha256OfJson([title ?? null, knownNames.map(({ name, type }) => [name, type])]),
    item: source.item.id,
  };
}

/** Names that go along with a chunk: more cost more than they help. */
const KNOWN_NAMES = 200;

interface KnownEntry extends NamedEntry {
  readonly ordinal: number;
  mentions: number;
}

/** The names of a document that its later chunks are extracted with. */
export function createKnownNames() {
  const entries = new Map<string, KnownEntry>();
  // Counts only grow: an entry among the most mentioned was there before or was mentioned since.
  let known: readonly KnownEntry[] = [];
  const mentionedSince = new Set<KnownEntry>();
  const entryAt = (key: string): KnownEntry => {
    const entry = entries.get(key) ?? { ordinal: entries.size, spellings: new Map(), types: new Map(), mentions: 0 };
    entries.set(key, entry);
    return entry;
  };
  return {
    /** Adds the names of a chunk, in document order. `subjects`: names that its headings give. */
    add(entities: readonly ExtractedEntity[], subjects: readonly string[]) {
      for (const entity of entities) {
        const key = slug(entity.name.trim());
        if (key === '') continue;
        const entry = entryAt(key);
        countNamed(entry, entity);
        entry.mentions += Math.max(1, entity.mentions);
        mentionedSince.add(entry);
      }
      for (const subject of subjects) {
        const key = slug(subject);
        if (key === '') continue;
        const { spellings } = entryAt(key);
        if (spellings.size === 0) countIn(spellings, subject, 0);
      }
    },
    /** Returns the fullest names met so far, most mentioned first. */
    list(): readonly KnownName[] {
      known = [...new Set([...known, ...mentionedSince])]
        .sort((one, other) => other.mentions - one.mentions || one.ordinal - other.ordinal)
        .slice(0, KNOWN_NAMES);
      mentionedSince.clear();
      return known.map(nameAndType);
    },
  };
}
