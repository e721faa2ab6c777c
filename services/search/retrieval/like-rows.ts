import { createLargeCache } from '../../common/kernel/recently-used.ts';
import { inverseRowFrequency } from '../../common/ranking/bm25.ts';
import type { TextCandidate } from '../../common/storage/ports/text-index.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { translations } from '../../common/text/words/translations.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { byScore, type LaneContext, type LaneHit, runs } from './lanes.ts';
import { likenessTo } from './word-likeness.ts';

/** A passage with words of like meaning: for each term of the query, the share of its information that the likest one has. */
export interface LikeHit extends LaneHit {
  readonly shares: readonly number[];
}

/** Share of the information of a query that the words of one passage hold; with more, no other words are looked for. */
const ENOUGH = 0.5;
/** Whether no passage has most of the words of a query, so that those that answer it say it in others. */
export function areOtherWords(rows: readonly TextCandidate[], information: readonly number[]): boolean {
  const total = information.reduce((sum, value) => sum + value, 0);
  const best = rows.reduce((most, { frequencies }) => Math.max(most, heldBy(frequencies, information)), 0);
  return best < ENOUGH * total;
}

/** Terms of the second search: a long query has few words of like meaning for each of its own. */
const MAX_TERMS = 128;
/** Rows that the index is asked for, and those that are kept. */
const ROWS_READ = 100;
const ROWS_KEPT = 40;
/** Forms of words of other languages for one word. */
const MAX_FOREIGN = 12;

/**
 * Finds passages that say in other words what a query asks, by the words nearest to its words. Only when no passage has the
 * words of the query: they cost a second search of the index.
 */
export async function likeHits(
  context: LaneContext,
  { rows, information }: { readonly rows: readonly TextCandidate[]; readonly information: readonly number[] },
): Promise<readonly LikeHit[]> {
  const { terms, words } = context.analysis;
  if (!runs(context, 'meaning') || !areOtherWords(rows, information)) return [];
  const likestOfEach = Math.max(0, Math.floor(MAX_TERMS / terms.length) - 1);
  /** By term of the index: the term of the query that it is like, and how much. */
  const likes = new Map<string, { readonly at: number; readonly share: number }[]>();
  const add = (term: string, at: number, share: number) => {
    const known = likes.get(term);
    if (known === undefined) likes.set(term, [{ at, share }]);
    else known.push({ at, share });
  };
  for (const [at, term] of terms.entries()) {
    add(term, at, 1);
    const word = words[at];
    if (word == null) continue;
    for (const like of likestTerms(word, likestOfEach)) add(like.term, at, like.share);
  }
  if (likes.size === terms.length) return [];
  const found = await context.text.candidates(
    context.scope,
    {
      kind: 'chunk',
      terms: [...likes.keys()],
      limit: ROWS_READ,
      withPayload: false,
      ...(context.nodeSets === undefined ? {} : { nodeSets: context.nodeSets }),
    },
    context.signal,
  );
  const { rowCount, rowFrequencies } = found.statistics;
  /** Most of the terms are in no row. */
  const shared = [...likes.values()].flatMap((ofTerm, place) => {
    const frequency = rowFrequencies[place] ?? 0;
    const rarity = inverseRowFrequency(rowCount, frequency);
    return frequency === 0 ? [] : [{ place, rarity, ofTerm }];
  });
  return (await context.visibility.filter(found.candidates))
    .map(({ id, frequencies }) => {
      const shares = terms.map(() => 0);
      for (const { place, rarity, ofTerm } of shared) {
        if (frequencies[place] === 0) continue;
        for (const { at, share } of ofTerm) {
          const rare = Math.min(1, rarity / (information[at] || 1));
          shares[at] = Math.max(shares[at] ?? 0, share * rare);
        }
      }
      return { id, shares, score: shares.reduce((sum, share, at) => sum + share * (information[at] ?? 0), 0) };
    })
    .sort(byScore)
    .slice(0, ROWS_KEPT);
}

interface LikeTerm {
  readonly term: string;
  /** How far it says what the word asks for, 0 to 0.99. */
  readonly share: number;
}

/** Words of questions whose likest terms are kept, about 1 KB each: finding those of a question takes as long as a search of the index. */
const CACHED_WORDS = 2000;
const cache = createLargeCache<string, { readonly terms: readonly LikeTerm[]; readonly read: number }>(CACHED_WORDS);
/** Questions of other lengths want other numbers of them: they are read by so many. */
const TERMS_READ = 16;

/** Returns the terms of the index that are likest to a word, the likest first, at most `count`; none for an unknown word. */
function likestTerms(word: string, count: number): readonly LikeTerm[] {
  let known = cache.get(word);
  if (known === undefined || (known.read < count && known.terms.length === known.read)) {
    const read = TERMS_READ * Math.ceil(count / TERMS_READ);
    known = { terms: [...termsLike(word).take(read)], read };
    cache.set(word, known);
  }
  return known.terms.slice(0, count);
}

function* termsLike(word: string): Generator<LikeTerm> {
  const likeness = likenessTo(word);
  if (likeness === null) return;
  for (const near of likestWords(word)) yield { term: stemOf(near), share: likeness(wordSenses().row(near)) };
}

/** Returns words that say the same as a word or something like it, those of other languages among them, the likest first. */
function* likestWords(word: string): Generator<string> {
  const row = wordSenses().row(word);
  const english = row >= 0 && row < wordTable().size ? wordTable().wordAt(row) : word;
  const seen = new Set([word]);
  const isNew = (near: string) => seen.size < seen.add(near).size;
  if (isNew(english)) yield english;
  for (const near of translations().foreign(english).slice(0, MAX_FOREIGN)) if (isNew(near)) yield near;
  for (const near of everydayWords().near(row)) if (isNew(near)) yield near;
  for (const near of wordTable().nearest(english)) if (isNew(near)) yield near;
}

function heldBy(frequencies: readonly number[], information: readonly number[]): number {
  return information.reduce((sum, value, at) => sum + ((frequencies[at] ?? 0) > 0 ? value : 0), 0);
}
