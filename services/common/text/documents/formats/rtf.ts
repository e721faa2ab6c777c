import type { DocumentDraft } from './draft.ts';
import { paragraphBlocks } from './plain-text.ts';

/** Groups without text: fonts, colours, styles, pictures, and every `{\*\…}`, which a reader may skip. */
const NOT_TEXT = new Set(
  `
    fonttbl colortbl stylesheet info pict object header headerl headerr footer footerl footerr listtable
    listoverridetable generator themedata datastore xmlnstbl rsidtbl fldinst filetbl revtbl
  `
    .trim()
    .split(/\s+/),
);

const SYMBOLS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    par: '\n\n',
    sect: '\n\n',
    page: '\n\n',
    line: '\n',
    row: '\n',
    cell: ' | ',
    tab: '\t',
    emdash: '—',
    endash: '–',
    bullet: '•',
    lquote: '‘',
    rquote: '’',
    ldblquote: '“',
    rdblquote: '”',
    emspace: ' ',
    enspace: ' ',
  }),
);

interface GroupState {
  readonly isHidden: boolean;
  /** Number of characters to skip after `\uN`. */
  readonly fallbackLength: number;
}

/** Reads the paragraphs of an RTF file, without formatting, pictures and headers. Code page: that of `\ansicpg`, else 1252. */
export function readRtf(source: string): DocumentDraft {
  return { blocks: paragraphBlocks(rtfText(source)) };
}

function rtfText(source: string): string {
  const decoder = ansiDecoder(source);
  const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
  const stack: GroupState[] = [];
  let state: GroupState = { isHidden: false, fallbackLength: 1 };
  let skip = 0;
  let text = '';
  const write = (part: string): void => {
    const kept = skip === 0 ? part : part.slice(skip);
    skip = Math.max(0, skip - part.length);
    if (!state.isHidden) text += kept;
  };
  for (const [, word, parameter, hex, symbol, brace, plain] of source.matchAll(token)) {
    if (brace === '{') stack.push(state);
    else if (brace === '}') state = stack.pop() ?? state;
    else if (plain !== undefined) write(plain);
    else if (hex !== undefined) write(decoder.decode(Uint8Array.of(Number.parseInt(hex, 16))));
    else if (symbol !== undefined) {
      if (symbol === '*') state = { ...state, isHidden: true };
      else write(symbol === '~' ? ' ' : symbol === '_' ? '-' : /[\\{}]/.test(symbol) ? symbol : '');
    } else if (word === 'u' && parameter !== undefined) {
      skip = 0;
      if (!state.isHidden) text += String.fromCharCode(Number(parameter) & 0xffff);
      skip = state.fallbackLength;
    } else if (word === 'uc' && parameter !== undefined)
      state = { ...state, fallbackLength: Math.min(8, Math.abs(Number(parameter))) };
    else if (word !== undefined && NOT_TEXT.has(word)) state = { ...state, isHidden: true };
    else if (word !== undefined) write(SYMBOLS.get(word) ?? '');
  }
  return text;
}

function ansiDecoder(source: string): InstanceType<typeof TextDecoder> {
  const page = /\\ansicpg(\d{3,5})/.exec(source.slice(0, 2_000))?.[1] ?? '1252';
  try {
    return new TextDecoder(page === '65001' ? 'utf-8' : `windows-${page}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
