import type { DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { slices } from '../../common/kernel/slices.ts';
import { type Source, textSource } from '../items/input-source.ts';
import { type EchoDependencies, type EchoReading, readEchoes, type ShownTo } from './echoes.ts';

/** A source without the text that came out of memory. */
export type FreshSource =
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
