import type { ChunkOptions, CutType } from './chunk-draft.ts';
import type { PlacedBlock } from './layout.ts';

/** The smallest thing that chunks are filled with: a block, or a part of one that is too long. */
export interface Piece {
  readonly text: string;
  readonly start: number;
  readonly tokens: number;
  readonly cutType: CutType;
  /** Prefix of a chunk that starts with this piece: the header row of a table. */
  readonly prefix?: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly cutType: CutType;
}

export interface SplitLimits {
  /** A part is filled up to this. */
  readonly target: number;
  /** A block up to this stays whole. */
  readonly whole: number;
}

/** A block that fits stays whole; prose splits into sentences, code and tables into lines, and those into words. */
export function splitBlock(block: PlacedBlock, limits: SplitLimits, options: ChunkOptions): Piece[] {
  const tokens = options.countTokens(block.text);
  if (tokens <= limits.whole) {
    return [{ text: block.text, start: block.start, tokens, cutType: 'paragraph_end' }];
  }
  if (block.block.kind === 'table' || FENCE.test(block.text)) return splitUnderHead(block, limits, options);
  const spans =
    block.block.kind === 'code' || block.block.kind === 'record'
      ? lineSpans(block.text)
      : sentenceSpans(block.text, options);
  return toPieces(block, spans, limits.target, options);
}

function toPieces(block: PlacedBlock, spans: readonly Span[], limit: number, options: ChunkOptions): Piece[] {
  const pieces = spans.flatMap((span) => fitting(block, span, limit, options));
  const last = pieces.at(-1);
  if (last !== undefined) pieces[pieces.length - 1] = { ...last, cutType: 'paragraph_end' };
  return pieces;
}

function fitting(block: PlacedBlock, span: Span, limit: number, options: ChunkOptions): Piece[] {
  const text = block.text.slice(span.start, span.end);
  const tokens = options.countTokens(text);
  const piece = { text, start: block.start + span.start, tokens, cutType: span.cutType };
  return tokens <= limit ? [piece] : splitWords(piece, limit, options);
}

/** Returns sentences with the blanks after them, and whether endless text was cut in mid-sentence. */
function sentenceSpans(text: string, options: ChunkOptions): Span[] {
  const found = options.sentences(text);
  return found.map((sentence, index) => {
    const end = found[index + 1]?.start ?? text.length;
    const isWhole =
      SENTENCE_END.test(text.slice(Math.max(0, sentence.end - 4), sentence.end)) || text[end - 1] === '\n';
    return { start: index === 0 ? 0 : sentence.start, end, cutType: isWhole ? 'sentence_end' : 'sentence_cut' };
  });
}

function lineSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    spans.push({ start, end, cutType: 'sentence_end' });
    start = end;
  }
  return spans;
}

const SENTENCE_END = /[.!?…。！？｡][^\p{L}\p{N}]*$/u;
const MARKDOWN_RULE = /^[\s:|-]+$/u;
const FENCE = /^[ \t]*(?:```|~~~)/u;

/** Splits a table or fenced code into lines; every part repeats the head of the table, or the fence. */
function splitUnderHead(block: PlacedBlock, limits: SplitLimits, options: ChunkOptions): Piece[] {
  const isTable = block.block.kind === 'table';
  const cutType = isTable ? 'row_end' : 'sentence_end';
  const lines = lineSpans(block.text).map((span) => ({ ...span, cutType }) as const);
  const [first, second] = lines.map((line) => block.text.slice(line.start, line.end));
  let prefix = first ?? '';
  if (isTable && second?.includes('-') && MARKDOWN_RULE.test(second)) prefix += second;
  const prefixTokens = options.countTokens(prefix);
  if (lines.length < 3 || prefixTokens * 2 > limits.target) return toPieces(block, lines, limits.target, options);
  const limit = limits.target - prefixTokens;
  return toPieces(block, lines, limit, options).map((piece, index) =>
    index === 0 || piece.start < block.start + prefix.length ? piece : { ...piece, prefix },
  );
}

/** Cuts at blanks, and inside a word only when it alone is too long; never inside a surrogate pair. */
function splitWords(piece: Piece, limit: number, options: ChunkOptions): Piece[] {
  const parts: Piece[] = [];
  let from = 0;
  while (from < piece.text.length) {
    const until = longestFit(piece.text, from, limit, options);
    const text = piece.text.slice(from, until);
    const isLast = until === piece.text.length;
    const tokens = options.countTokens(text);
    parts.push({ text, start: piece.start + from, tokens, cutType: isLast ? piece.cutType : 'sentence_cut' });
    from = until;
  }
  return parts;
}

/** Starts from the density of the text seen so far and narrows down, so that counting stays linear in the text. */
function longestFit(text: string, from: number, limit: number, options: ChunkOptions): number {
  let low = from;
  let high = Math.min(text.length, from + limit * 16);
  let guess = Math.min(high, from + limit * 3);
  for (let round = 0; round < 12 && low < high; round++) {
    if (options.countTokens(text.slice(from, guess)) <= limit) low = guess;
    else high = guess - 1;
    guess = Math.ceil((low + high) / 2);
    if (low > from && high - low < 16) break;
  }
  if (low >= text.length) return text.length;
  return cutAtBlank(text, from, Math.max(low, from + 1));
}

function cutAtBlank(text: string, from: number, until: number): number {
  const isBlank = (at: number): boolean => /\s/u.test(text[at] ?? '');
  let cut = until;
  const earliest = from + (until - from) / 2;
  while (cut > earliest && !isBlank(cut - 1)) cut--;
  if (cut > earliest) return cut;
  const unit = text.charCodeAt(until);
  const splitsPair = unit >= 0xdc00 && unit <= 0xdfff;
  if (!splitsPair) return until;
  return until - 1 > from ? until - 1 : until + 1;
}
