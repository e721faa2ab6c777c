import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Embedder } from '../../ports/models.ts';
import { COMMON_WORD_RANK } from '../../text/language/common-words.ts';
import { contentStems, stemOf } from '../../text/language/tokenize.ts';

const HASHING_MODEL_NAME = 'builtin/hashing-v1';
/** Other work gets its turn after this long. */
const SLICE_MS = 5;

/**
 * The embedder of installs without a model: lexical vectors that need no download, no statistics and no state. It adds
 * to BM25 what exact words cannot: shared stems, compounds, misspellings. It knows no synonyms.
 */
export function createHashingEmbedder(options: { readonly dimensions?: number } = {}): Embedder {
  const dimensions = options.dimensions ?? 384;
  if (!Number.isInteger(dimensions) || dimensions < 8 || dimensions > 65_536) {
    throw new RangeError(
      `Dimensions of the hashing embedder must be a whole number from 8 to 65536, got ${dimensions}.`,
    );
  }
  let model: HashingModel | undefined;
  return {
    space: { model: HASHING_MODEL_NAME, dimensions },
    maxInputTokens: 1_000_000,
    async embed(texts, context) {
      model ??= createHashingModel(dimensions);
      const vectors: Float32Array[] = [];
      let turnEnds = performance.now() + SLICE_MS;
      for (const text of texts) {
        if (performance.now() > turnEnds) {
          await nextTurn();
          context.signal?.throwIfAborted();
          turnEnds = performance.now() + SLICE_MS;
        }
        vectors.push(model.vectorOf(text));
      }
      return vectors;
    },
  };
}

/** Turns texts into vectors; keeps what it learnt about words, and nothing about texts. */
type HashingModel = ReturnType<typeof createHashingModel>;

/**
 * Word n-grams of this length make inflections, compounds and misspellings alike. Four beat three on both train sets
 * (fewer chance meetings in few dimensions).
 */
const GRAM_LENGTH = 4;
/** Total weight of a word's n-grams relative to the word itself: each has `GRAM_WEIGHT / √count`, the norm of all is this. */
const GRAM_WEIGHT = 1.2;
const INFORMATION_EXPONENT = 1.2;
/** A word said c times counts `1 + REPETITION · ln c`. */
const REPETITION = 1.5;
/** Every feature goes to two places: one chance collision then costs only half of it. */
const PLACES = 2;
const UNKNOWN_RANK = 20_000;
const ZIPF_SHIFT = 2.7;
const CACHED_WORDS = 10_000;

/** The sparse vector of a word: places in the dense vector and what to add there. */
interface WordVector {
  readonly places: Uint16Array;
  readonly values: Float32Array;
}

/**
 * Signed feature hashing (Weinberger et al., 2009) of stems and their character n-grams, weighted by how rare the word is
 * in English (Zipf's law over the rank table of `language/common-words.ts`), so no statistics of the corpus are needed
 * and a text has the same vector for ever.
 */
function createHashingModel(dimensions: number) {
  const ranks = stemRanks();
  const cache = new Map<string, WordVector>();

  function wordVector(stem: string): WordVector {
    const known = cache.get(stem);
    if (known !== undefined) return known;
    if (cache.size >= CACHED_WORDS) cache.clear();
    const vector = buildWordVector(stem, weightOf(ranks.get(stem)), dimensions);
    cache.set(stem, vector);
    return vector;
  }

  return {
    vectorOf(text: string) {
      const counts = new Map<string, number>();
      for (const stem of contentStems(text)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
      const vector = new Float32Array(dimensions);
      for (const [stem, count] of counts) {
        const scale = 1 + REPETITION * Math.log(count);
        const { places, values } = wordVector(stem);
        for (let at = 0; at < places.length; at++) {
          const place = places[at] as number;
          vector[place] = (vector[place] as number) + scale * (values[at] as number);
        }
      }
      return toUnitLength(vector);
    },
  };
}

function stemRanks(): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const [word, rank] of COMMON_WORD_RANK) {
    const stem = stemOf(word);
    if (!ranks.has(stem)) ranks.set(stem, rank);
  }
  return ranks;
}

/** 0 for the commonest word to 1 for an unknown one. */
function weightOf(rank = UNKNOWN_RANK): number {
  const information = Math.log((rank + ZIPF_SHIFT) / (1 + ZIPF_SHIFT));
  return (information / Math.log((UNKNOWN_RANK + ZIPF_SHIFT) / (1 + ZIPF_SHIFT))) ** INFORMATION_EXPONENT;
}

function buildWordVector(stem: string, weight: number, dimensions: number): WordVector {
  const features: (readonly [string, number])[] = [[stem, weight]];
  const marked = `^${stem}$`;
  const grams = stem.length > 3 ? marked.length - GRAM_LENGTH + 1 : 0;
  for (let at = 0; at < grams; at++) {
    features.push([`#${marked.slice(at, at + GRAM_LENGTH)}`, (GRAM_WEIGHT * weight) / Math.sqrt(grams)]);
  }
  const places = new Uint16Array(features.length * PLACES);
  const values = new Float32Array(features.length * PLACES);
  features.forEach(([feature, value], index) => {
    for (let copy = 0; copy < PLACES; copy++) {
      const hash = hashOf(feature, copy);
      places[index * PLACES + copy] = hash % dimensions;
      values[index * PLACES + copy] = hash & 0x80000000 ? value : -value;
    }
  });
  return { places, values };
}

/** FNV-1a over UTF-16 units with the finaliser of MurmurHash3: stable for ever, vectors on disk depend on it. */
function hashOf(feature: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function toUnitLength(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return vector;
  const factor = 1 / Math.sqrt(sum);
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) * factor;
  return vector;
}
