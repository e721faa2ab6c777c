import type { DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId, UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { sentenceFingerprint } from '../../common/text/repetition/fingerprint.ts';
import { newParts } from '../../common/text/repetition/new-parts.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type Source, textSource } from '../items/input-source.ts';

/** A source without the text that came out of memory. */
type FreshSource =
  | { readonly kind: 'new'; readonly source: Source }
  /** Nothing of it is new: the item that says it. */
  | { readonly kind: 'echo'; readonly item: DataItem };

/** Texts that agents remember come as strings, or as small files of plain text. */
const MAX_BYTES = 48_000;
const PLAIN = /\.(?:txt|md)$/iu;

/** Sources whose texts are held and looked up together. */
const AT_ONCE = 200;

/**
 * A text whose writer was shown all of it is no new memory; of a string, what is new is kept. A file is kept as it is, or
 * not at all: it is a document. In the order of the sources.
 */
export async function freshSources(
  dependencies: EchoDependencies,
  { dataset, principal }: { readonly dataset: DatasetRef; readonly principal: Principal },
  sources: readonly Source[],
): Promise<readonly FreshSource[]> {
  const fresh: FreshSource[] = [];
  for (const slice of slices(sources, AT_ONCE)) {
    const texts = await Promise.all(slice.map((source) => textOf(source, principal)));
    const readings = await readEchoes(dependencies, scopeOf(dataset), texts);
    for (const [at, source] of slice.entries()) fresh.push(freshOf(source, texts[at]?.text ?? '', readings[at]));
  }
  return fresh;
}

/** Empty for what is no text that an agent would send back. */
async function textOf(source: Source, { id }: Principal): Promise<ShownTo> {
  // What improve writes down of a session was shown to the owner of the session.
  const user = source.itemId === undefined ? id : null;
  const isText = source.plainText || PLAIN.test(source.fileName);
  if (!isText || source.isCopy || source.sizeBytes > MAX_BYTES) return { user, text: '' };
  return { user, text: Buffer.from(await source.bytes()).toString('utf8') };
}

function freshOf(source: Source, text: string, reading: EchoReading | undefined): FreshSource {
  const item = reading?.item ?? null;
  const left = reading === undefined ? text : reading.text;
  if (item === null || left === text) return { kind: 'new', source };
  if (left === null) return { kind: 'echo', item };
  return { kind: 'new', source: source.plainText ? trimmed(source, left) : source };
}

/** Named by its content only when it was before. */
function trimmed(source: Source, text: string): Source {
  const made = textSource(text);
  const isNamed = !/^text_[0-9a-f]{32}\.txt$/u.test(source.fileName);
  return {
    ...made,
    ...(isNamed ? { fileName: source.fileName } : {}),
    ...(source.itemId === undefined ? {} : { itemId: source.itemId }),
  };
}

type EchoDependencies = IngestDependencies;

interface EchoReading {
  /** The new part of the text: null when all of it came out of this memory, the text itself when nothing did. */
  readonly text: string | null;
  /** The first item that says what came back; null when nothing did. */
  readonly item: DataItem | null;
}

/** Longer texts are documents, not something that a user sends back to be remembered. */
const MAX_LENGTH = 16_000;

/** A text and who may have been shown it; null: anybody. */
interface ShownTo {
  readonly user: UserId | null;
  readonly text: string;
}

/**
 * Recognises in each of the texts what was shown out of the dataset's memory, to its user and lately, and is still there.
 * A statement that was replaced since is no echo: a user who repeats it means it. The reads do not grow with the
 * number of texts.
 */
async function readEchoes(dependencies: EchoDependencies, scope: DatasetScope, texts: readonly ShownTo[]) {
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
