import { engramError } from '../../../kernel/errors.ts';
import type { DocumentBlock, ParsedDocument } from '../../../ports/documents.ts';
import { markedText } from '../../chunking/marked-text.ts';
import type { FormatDescription } from './format-table.ts';
import type { ParseContext } from './limits.ts';

/** The result of a format reader, from which `finishDocument` makes the parsed document. */
export interface DocumentDraft {
  readonly blocks: readonly DocumentBlock[];
  /** The decoded text, for formats whose text stays verbatim. */
  readonly text?: string;
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly code?: ParsedDocument['code'];
  /** Why there is no text, for the error: "every page is an image". */
  readonly emptyReason?: string;
}

/**
 * Removes blank lines around blocks and empty blocks; all text becomes well-formed Unicode without NUL (both are replaced by
 * U+FFFD), and of a run of white space at most `MAX_SPACE` characters stay. Errors: `UnreadableFileContentError` when no text is left.
 */
export function finishDocument(draft: DocumentDraft, format: FormatDescription, context: ParseContext): ParsedDocument {
  const blocks: DocumentBlock[] = [];
  for (const block of draft.blocks) {
    const bare = cleanText(trimBlankLines(block.text));
    if (bare === '') continue;
    const text =
      block.kind === 'code' && draft.text === undefined && format.format !== 'code'
        ? fenced(bare, block.language)
        : bare;
    blocks.push(text === block.text ? block : { ...block, text });
  }
  if (blocks.length === 0) {
    const reason = draft.emptyReason ?? 'it contains no text';
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: ${reason}`);
  }
  return {
    text:
      draft.text === undefined
        ? blocks
            .map((block, at) => markedText(block, blocks[at + 1]))
            .join('')
            .trimEnd()
        : cleanText(draft.text),
    blocks,
    title: cleanTitle(draft.title ?? null),
    format: format.format,
    metadata: { ...cleanMetadata(draft.metadata ?? {}), mimeType: format.mimeType, extension: format.extension },
    ...(draft.code === undefined ? {} : { code: draft.code }),
  };
}

/** Code among prose, between fences as Markdown has them: readers and models see what it is. */
function fenced(code: string, language: string = ''): string {
  if (/^(?:```|~~~)/u.test(code)) return code;
  const longest = (code.match(/`{3,}/gu) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

/** Maximum run of white space, which costs hardly any tokens: without it a chunk of two words could have ten megabytes. */
const MAX_SPACE = 200;

/** Matches only from the beginning of a run, so that the time stays linear. */
const LONG_SPACE = new RegExp(`(?<!\\s)(\\s{${MAX_SPACE}})\\s+`, 'gu');

function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  const visible = wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
  return visible.replace(LONG_SPACE, '$1');
}

/** Removes blank lines at both ends, and keeps the indentation of the first line. */
function trimBlankLines(text: string): string {
  const lastVisible = text.trimEnd().length;
  if (lastVisible === 0) return '';
  const firstVisible = text.length - text.trimStart().length;
  const start = text.lastIndexOf('\n', firstVisible) + 1;
  return start === 0 && lastVisible === text.length ? text : text.slice(start, lastVisible);
}

function cleanTitle(title: string | null): string | null {
  const clean = title === null ? '' : cleanText(title).replaceAll(/\s+/g, ' ').trim().slice(0, 500);
  return clean === '' ? null : clean;
}

function cleanMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const clean = Object.entries(metadata).map(([key, value]) => [key, cleanText(value).trim().slice(0, 2_000)] as const);
  return Object.fromEntries(clean.filter(([, text]) => text !== ''));
}
