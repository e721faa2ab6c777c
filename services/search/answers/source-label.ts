import { type ChunkPayload, isGeneratedName } from '../../common/domain/index-rows.ts';

const MAX_START = 48;

type Source = Pick<ChunkPayload, 'text' | 'documentName' | 'headings'> &
  Partial<Pick<ChunkPayload, 'page' | 'externalMetadata'>>;

/**
 * Returns a source as a person knows it: `report.pdf › Costs, page 3`. A text without a name is called by its first words.
 * `heading`: the heading above the sentence in the passage.
 */
export function sourceLabel(source: Source, heading = ''): string {
  const name = documentLabel(source);
  const known = new Set(plainWords(name));
  const path: string[] = [];
  for (const part of [...source.headings, heading]) {
    const words = plainWords(part);
    if (words.length > 0 && words.some((word) => !known.has(word)) && !path.includes(part)) path.push(part);
  }
  const place = [name, ...path].join(' › ');
  return typeof source.page === 'number' ? `${place}, page ${source.page}` : place;
}

/** Returns the file name with its extension, else the name, else the first words of the text. */
export function documentLabel({ text, documentName, headings, externalMetadata }: Source): string {
  if (isGeneratedName(documentName) || documentName === '') {
    return shortened(headings[0] ?? text.trim().split('\n', 1)[0] ?? '');
  }
  const fileName = fileNameOf(externalMetadata);
  return fileName.startsWith(`${documentName}.`) ? fileName : documentName;
}

function fileNameOf(metadata: Source['externalMetadata']): string {
  const { source_uri: uri } = (metadata?.['_cognee'] ?? {}) as { readonly source_uri?: unknown };
  const last = typeof uri === 'string' ? (uri.split('/').at(-1) ?? '') : '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function shortened(line: string): string {
  const plain = line.replace(/^[ \t]*(?:#{1,6}|[-*>])[ \t]+/u, '').trim();
  if (plain.length <= MAX_START) return plain;
  const cut = plain.slice(0, MAX_START);
  return `${(/^.*(?=\s)/u.exec(cut)?.[0] ?? cut).trimEnd()}…`;
}

/** Without signs, which file names have instead of blanks. */
function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
