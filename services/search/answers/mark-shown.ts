import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import { type EchoMarks, MARKS_PER_ANSWER, type ShownSentence } from '../../common/records/ingest/echo-marks.ts';
import type { EntryKey } from '../../common/storage/ports/index-entry.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { sentenceFingerprint } from '../../common/text/repetition/fingerprint.ts';
import type { SearchOutcome, SearchRequest, SearchSettings } from '../model.ts';

/** Used where sessions are kept for ever. */
const LONGEST_MS = 7 * 86_400_000;

export interface MarkDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: SearchSettings;
  readonly echoes: Pick<EchoMarks, 'put'>;
  readonly shownBefore: ShownBefore;
}

/**
 * Marks what the caller is about to be shown, so that it is recognised when it is sent back as something to remember.
 * Durable when it resolves: an agent may send it back at once. A store that cannot be written keeps no answer back.
 */
export async function markShown(
  deps: MarkDependencies,
  { principal }: SearchRequest,
  dataset: DatasetRef,
  outcome: SearchOutcome,
): Promise<void> {
  const keyOf = ({ item, generation, id }: EntryKey) => `${principal.id}/${dataset.id}/${item}/${generation}/${id}`;
  const { sentences: shown, passages } = fingerprints(
    textsOf(outcome).filter(({ row }) => row === null || !deps.shownBefore.has(keyOf(row))),
  );
  if (shown.length === 0) return;
  const ttlMs = deps.settings.echoTtlMs || LONGEST_MS;
  try {
    await deps.echoes.put(scopeOf(dataset), principal.id, shown, { now: deps.clock.now(), ttlMs });
    deps.shownBefore.add(passages.map(keyOf));
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError') throw error;
    deps.logger.warn('search.echoes.unmarked', { error });
  }
}

interface ShownText {
  readonly text: unknown;
  readonly item: string;
  /** Null for what was made for this answer. */
  readonly row: EntryKey | null;
}

function textsOf(outcome: SearchOutcome): readonly ShownText[] {
  if (outcome.kind === 'rows') {
    return outcome.rows.map(({ row }) => ({ text: row.payload['text'], item: row.item, row }));
  }
  if (outcome.kind !== 'completion') return [];
  const passages = outcome.passages.map(({ payload, row }) => ({ text: payload.text, item: row.item, row }));
  // What an answer says comes from the best of its passages, as far as that can be told.
  const first = outcome.passages[0]?.row.item;
  const answer =
    outcome.answer === null || first === undefined ? [] : [{ text: outcome.answer, item: first, row: null }];
  return [...answer, ...passages];
}

/** At most as many sentences as are marked for one answer, and the passages of which all are among them. */
function fingerprints(texts: readonly ShownText[]) {
  const found = new Map<string, ShownSentence>();
  const passages: EntryKey[] = [];
  for (const { text, item, row } of texts) {
    if (typeof text !== 'string') continue;
    for (const sentence of sentences(text)) {
      if (found.size >= MARKS_PER_ANSWER) return { sentences: [...found.values()], passages };
      const fingerprint = sentenceFingerprint(sentence.text);
      // A passage that says it word for word is where it comes from, whatever answer quotes it.
      if (fingerprint !== null) found.set(fingerprint, { fingerprint, item: dataItemId(item) });
    }
    if (row !== null) passages.push(row);
  }
  return { sentences: [...found.values()], passages };
}

/** What was marked a while ago, so that a passage is cut into sentences once and not with every answer that shows it. */
interface ShownBefore {
  has(passage: string): boolean;
  add(passages: readonly string[]): void;
}

/** Far less than marks live, and they are renewed in the second half of their life. */
const REMEMBERED_MS = 3_600_000;
const MAX_PASSAGES = 100_000;

export function createShownBefore(
  clock: Pick<Clock, 'monotonicMs'>,
  { rememberedMs = REMEMBERED_MS, maxPassages = MAX_PASSAGES } = {},
): ShownBefore {
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
