import type { DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId, UserId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { sentenceFingerprint } from '../../common/text/repetition/fingerprint.ts';
import { newParts } from '../../common/text/repetition/new-parts.ts';
import type { IngestDependencies } from '../dependencies.ts';

export type EchoDependencies = IngestDependencies;

export interface EchoReading {
  /** The new part of the text: null when all of it came out of this memory, the text itself when nothing did. */
  readonly text: string | null;
  /** The first item that says what came back; null when nothing did. */
  readonly item: DataItem | null;
}

/** Longer texts are documents, not something that a user sends back to be remembered. */
const MAX_LENGTH = 16_000;

/** A text and who may have been shown it; null: anybody. */
export interface ShownTo {
  readonly user: UserId | null;
  readonly text: string;
}

/**
 * Recognises in each of the texts what was shown out of the dataset's memory, to its user and lately, and is still there.
 * A statement that was replaced since is no echo: a user who repeats it means it. The reads do not grow with the
 * number of texts.
 */
export async function readEchoes(
  dependencies: EchoDependencies,
  scope: DatasetScope,
  texts: readonly ShownTo[],
): Promise<readonly EchoReading[]> {
  const read = texts.map(({ user, text }) => ({ user, text, sentences: fingerprinted(text) }));
  const shown = await shownAmong(dependencies, scope, read);
  const sources = [...new Set([...shown.values()].flatMap((marks) => [...marks.values()]))];
  if (sources.length === 0) return texts.map(({ text }) => ({ text, item: null }));
  const { isThere, stale } = await presentSources(dependencies, scope, sources);
  return read.map(({ user, text, sentences }) => {
    const marks = shown.get(user);
    const sourceOf = (print: string | null): DataItem | null => {
      const source = print === null || stale.has(print) ? undefined : marks?.get(print);
      return (source === undefined ? undefined : isThere.get(source)) ?? null;
    };
    const marked = sentences.map((sentence) => ({ ...sentence, source: sourceOf(sentence.print) }));
    const first = marked.find(({ source }) => source !== null);
    if (first === undefined) return { text, item: null };
    const parts = marked.map(({ source, ...sentence }) => ({ ...sentence, isEcho: source !== null }));
    return { text: newParts(text, parts), item: first.source };
  });
}

type Fingerprinted = ReturnType<typeof fingerprinted>;

function fingerprinted(text: string) {
  if (text.length > MAX_LENGTH) return [];
  return sentences(text).map((sentence) => ({ ...sentence, print: sentenceFingerprint(sentence.text) }));
}

/** The sentences that each user was shown. */
async function shownAmong(
  { echoes, clock }: EchoDependencies,
  scope: DatasetScope,
  read: readonly { readonly user: UserId | null; readonly sentences: Fingerprinted }[],
): Promise<ReadonlyMap<UserId | null, ReadonlyMap<string, DataItemId>>> {
  const shown = new Map<UserId | null, ReadonlyMap<string, DataItemId>>();
  for (const [user, ofUser] of Map.groupBy(read, (one) => one.user)) {
    const prints = ofUser.flatMap((one) => one.sentences.flatMap(({ print }) => print ?? []));
    if (prints.length > 0) shown.set(user, await echoes.find(scope, user, prints, clock.now()));
  }
  return shown;
}

async function presentSources(
  { items, ledger, supersessions }: EchoDependencies,
  scope: DatasetScope,
  sources: readonly DataItemId[],
): Promise<{ readonly isThere: ReadonlyMap<DataItemId, DataItem>; readonly stale: ReadonlySet<string | null> }> {
  const [present, entries, replaced] = await Promise.all([
    items.getMany(scope, sources),
    ledger.entries(scope, sources),
    supersessions.ofOlderItems(scope, sources),
  ]);
  const there = present.filter(({ id }) => entries.get(id)?.erased !== true);
  const standing = replaced.filter(({ reverted }) => reverted === null);
  return {
    isThere: new Map(there.map((item) => [item.id, item])),
    stale: new Set(standing.map(({ older }) => sentenceFingerprint(older.text))),
  };
}
