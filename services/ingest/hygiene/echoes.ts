import type { DataItemId, UserId } from '../../common/domain/brand.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { sentenceFingerprint } from '../../common/domain/hygiene/fingerprint.ts';
import { newParts } from '../../common/domain/hygiene/new-parts.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import { sentences } from '../../common/language/sentences.ts';
import type { IngestDependencies } from '../usecases/dependencies.ts';

export type EchoDependencies = Pick<IngestDependencies, 'echoes' | 'supersessions' | 'items' | 'ledger' | 'clock'>;

export interface EchoReading {
  /** What is new in the text: null when all of it came out of this memory, the text itself when nothing did. */
  readonly text: string | null;
  /** The first item that says what came back; null when nothing did. */
  readonly item: DataItem | null;
}

/** Longer texts are documents: nobody sends so much back as one thing to remember. */
const MAX_LENGTH = 16_000;

/**
 * Recognises what was shown out of the dataset's memory, to the user (null: to anybody) and lately, and is still there. What
 * was replaced by a newer statement since is no echo: whoever says it again means it.
 */
export async function readEchoes(
  { echoes, supersessions, items, ledger, clock }: EchoDependencies,
  scope: DatasetScope,
  user: UserId | null,
  text: string,
): Promise<EchoReading> {
  const nothing: EchoReading = { text, item: null };
  if (text.length > MAX_LENGTH) return nothing;
  const read = sentences(text).map((sentence) => ({ ...sentence, print: sentenceFingerprint(sentence.text) }));
  const prints = read.flatMap(({ print }) => print ?? []);
  if (prints.length === 0) return nothing;
  const shown = await echoes.find(scope, user, prints, clock.now());
  if (shown.size === 0) return nothing;
  const sources = [...new Set(shown.values())];
  const [present, entries, replaced] = await Promise.all([
    items.getMany(scope, sources),
    ledger.entries(scope, sources),
    supersessions.ofOlderItems(scope, sources),
  ]);
  const isThere = new Map(present.filter(({ id }) => entries.get(id)?.erased !== true).map((item) => [item.id, item]));
  const stale = new Set(
    replaced.filter(({ reverted }) => reverted === null).map(({ older }) => sentenceFingerprint(older.text)),
  );
  const sourceOf = (print: string | null): DataItemId | null => {
    const source = print === null || stale.has(print) ? undefined : shown.get(print);
    return source !== undefined && isThere.has(source) ? source : null;
  };
  const marked = read.map((sentence) => ({ ...sentence, isEcho: sourceOf(sentence.print) !== null }));
  const first = marked.find(({ isEcho }) => isEcho);
  const item = first === undefined ? null : (isThere.get(sourceOf(first.print) as DataItemId) ?? null);
  return { text: newParts(text, marked), item };
}
