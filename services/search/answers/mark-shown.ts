import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, MonotonicClock } from '../../common/ports/system.ts';
import { type EchoMarks, MARKS_PER_ANSWER, type ShownSentence } from '../../common/records/ingest/echo-marks.ts';
import type { EntryKey } from '../../common/storage/ports/index-entry.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { sentenceFingerprint } from '../../common/text/repetition/fingerprint.ts';
import type { SearchOutcome, SearchRequest, SearchSettings } from '../model.ts';

/** Lifetime of marks when sessions never expire. */
const DEFAULT_TTL_MS = 7 * 86_400_000;

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
  deps: MarkDependencies,
  { principal }: SearchRequest,
  dataset: DatasetRef,
  outcome: SearchOutcome,
): Promise<void> {
  const keyOf = ({ item, generation, id }: EntryKey) => `${principal.id}/${dataset.id}/${item}/${generation}/${id}`;
  const { sentences: shown, passages } = fingerprints(
    textsOf(outcome).filter(({ row }) => row === null || !deps.recentlyShown.has(keyOf(row))),
  );
  if (shown.length === 0) return;
  const ttlMs = deps.settings.echoTtlMs || DEFAULT_TTL_MS;
  try {
    await deps.echoes.put(scopeOf(dataset), principal.id, shown, { now: deps.clock.now(), ttlMs });
    deps.recentlyShown.add(passages.map(keyOf));
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError') throw error;
    deps.logger.warn('search.echo_marks.save_failed', { error });
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

/** Passages marked recently: they need not be split into sentences and marked again with every answer. */
interface RecentlyShown {
  has(passage: string): boolean;
  add(passages: readonly string[]): void;
}

/** Much shorter than the lifetime of marks, which are renewed in the second half of it. */
const REMEMBERED_MS = 3_600_000;
const MAX_PASSAGES = 100_000;

export function createRecentlyShown(
  clock: MonotonicClock,
  { rememberedMs = REMEMBERED_MS, maxPassages = MAX_PASSAGES } = {},
): RecentlyShown {
  const until = new Map<string, number>();
  return {
    has: (passage) => (until.get(passage) ?? 0) > clock.monotonicMs(),
    add(passages) {
      const endsAt = clock.monotonicMs() + rememberedMs;
      for (const passage of passages) {
        until.delete(passage);
        if (until.size >= maxPassages) until.delete(until.keys().next().value ?? '');
        until.set(passage, endsAt);
      }
    },
  };
}
