import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { createTtlCache, type TtlCache } from '../../common/kernel/ttl-cache.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, MonotonicClock } from '../../common/ports/system.ts';
import { type EchoMarks, MARKS_PER_ANSWER, type ShownSentence } from '../../common/records/ingest/echo-marks.ts';
import type { EntryKey } from '../../common/storage/ports/index-entry.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { sentenceFingerprint } from '../../common/text/repetition/fingerprint.ts';
import type { SearchOutcome, SearchRequest, SearchSettings } from '../model.ts';

/** Lifetime of marks when sessions never expire. */
const DEFAULT_TTL_MS = 7 * 86_400_000;

/** Passages marked recently, which need not be split into sentences and marked again with every answer. */
type RecentlyShown = TtlCache<string, true>;

/** Much shorter than the lifetime of marks, which are renewed in the second half of it. */
const REMEMBERED_MS = 3_600_000;
const MAX_PASSAGES = 100_000;

export const createRecentlyShown = (clock: MonotonicClock): RecentlyShown =>
  createTtlCache({ clock, ttlMs: REMEMBERED_MS, maxEntries: MAX_PASSAGES });

export interface MarkDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: SearchSettings;
  readonly echoes: Pick<EchoMarks, 'put'>;
  readonly recentlyShown: RecentlyShown;
}

/**
 * Marks the sentences of an outcome before they are returned, so that ingest recognises them as an echo when the caller
 * adds them to memory. Durable when it resolves, since an agent may add them at once. An unavailable store is logged and
 * does not fail the search.
 */
export async function markShown(
  { clock, logger, settings, echoes, recentlyShown }: MarkDependencies,
  { principal }: SearchRequest,
  dataset: DatasetRef,
  outcome: SearchOutcome,
): Promise<void> {
  const keyOf = ({ item, generation, id }: EntryKey) => `${principal.id}/${dataset.id}/${item}/${generation}/${id}`;
  const { sentences: shown, passages } = fingerprints(
    textsOf(outcome).filter(({ row }) => row === null || recentlyShown.get(keyOf(row)) === undefined),
  );
  if (shown.length === 0) return;
  const ttlMs = settings.echoTtlMs || DEFAULT_TTL_MS;
  const from = recentlyShown.lookUp();
  try {
    await echoes.put(scopeOf(dataset), principal.id, shown, { now: clock.now(), ttlMs });
    for (const passage of passages) recentlyShown.put(keyOf(passage), true, from);
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError') throw error;
    logger.warn('search.echo_marks.save_failed', { error });
  }
}

interface ShownText {
  readonly text: unknown;
  readonly item: string;
  /** Null for text that was generated for this answer. */
  readonly row: EntryKey | null;
}

function textsOf(outcome: SearchOutcome): readonly ShownText[] {
  if (outcome.kind === 'rows') {
    return outcome.rows.map(({ row }) => ({ text: row.payload['text'], item: row.item, row }));
  }
  if (outcome.kind !== 'completion') return [];
  const passages = outcome.passages.map(({ payload, row }) => ({ text: payload.text, item: row.item, row }));
  // The answer is attributed to its best passage.
  const first = outcome.passages[0]?.row.item;
  const answer =
    outcome.answer === null || first === undefined ? [] : [{ text: outcome.answer, item: first, row: null }];
  return [...answer, ...passages];
}

/** Returns at most MARKS_PER_ANSWER fingerprints, and the passages of which all sentences are among them. */
function fingerprints(texts: readonly ShownText[]) {
  const found = new Map<string, ShownSentence>();
  const passages: EntryKey[] = [];
  for (const { text, item, row } of texts) {
    if (typeof text !== 'string') continue;
    for (const sentence of sentences(text)) {
      if (found.size >= MARKS_PER_ANSWER) return { sentences: [...found.values()], passages };
      const fingerprint = sentenceFingerprint(sentence.text);
      // A passage that contains the sentence verbatim is its source, rather than an answer that quotes it.
      if (fingerprint !== null) found.set(fingerprint, { fingerprint, item: dataItemId(item) });
    }
    if (row !== null) passages.push(row);
  }
  return { sentences: [...found.values()], passages };
}
