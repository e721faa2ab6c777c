import type { DataItem } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { type Source, textSource } from '../usecases/input-source.ts';
import { type EchoDependencies, readEchoes } from './echoes.ts';

/** What a source is once what came out of memory is taken away. */
export type FreshSource =
  | { readonly kind: 'new'; readonly source: Source }
  /** Nothing of it is new: the item that says it. */
  | { readonly kind: 'echo'; readonly item: DataItem };

/** Texts that agents remember come as strings, or as small files of plain text. */
const MAX_BYTES = 48_000;
const PLAIN = /\.(?:txt|md)$/iu;

/**
 * A text whose writer was shown all of it is no new memory; of a string, what is new is kept. A file is kept as it is, or
 * not at all: it is a document.
 */
export async function freshSource(
  dependencies: EchoDependencies,
  { dataset, principal }: { readonly dataset: DatasetRef; readonly principal: Principal },
  source: Source,
): Promise<FreshSource> {
  if (source.isCopy) return { kind: 'new', source };
  const isFile = !source.plainText;
  if (source.sizeBytes > MAX_BYTES || source.sizeBytes === 0 || (isFile && !PLAIN.test(source.fileName))) {
    return { kind: 'new', source };
  }
  const text = Buffer.from(await source.bytes()).toString('utf8');
  // What improve writes down of a session was shown to whoever had the session.
  const reader = source.itemId === undefined ? principal.id : null;
  const { text: left, item } = await readEchoes(dependencies, scopeOf(dataset), reader, text);
  if (item === null || left === text) return { kind: 'new', source };
  if (left === null) return { kind: 'echo', item };
  if (isFile) return { kind: 'new', source };
  return { kind: 'new', source: trimmed(source, left) };
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
