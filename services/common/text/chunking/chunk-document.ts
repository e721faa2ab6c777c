import { sha256 } from '../../kernel/hashes.ts';
import { chunkId } from '../../kernel/ids.ts';
import { append } from '../../kernel/long-lists.ts';
import type { ChunkableDocument, ChunkDraft, ChunkOptions, ChunkPart } from './chunk-draft.ts';
import { layoutOf, type PlacedBlock } from './layout.ts';
import { type Piece, type SplitLimits, splitBlock } from './split-block.ts';

const DEFAULT_TARGET_TOKENS = 400;
/** A block or a document this much above the target is not worth cutting. */
const SLACK = 1.5;
/** A new section starts a new chunk when the one before is at least this part of the target. */
const SECTION_SHARE = 0.3;
/** The last chunk joins the one before when it is smaller than this part of the target. */
const TAIL_SHARE = 0.2;

/**
 * Cuts a document where its structure allows: at headings first, then between paragraphs, list items and definitions,
 * then between sentences or rows, then between words. Chunks tile the text, a heading stands with what follows it, a
 * short document is one chunk. The same document and options give the same chunks.
 */
export function chunkDocument(document: ChunkableDocument, options: ChunkOptions): ChunkDraft[] {
  const max = Math.max(1, Math.floor(options.maxTokens));
  const target = Math.max(1, Math.min(options.targetTokens ?? DEFAULT_TARGET_TOKENS, max));
  const whole = Math.min(max, Math.floor(target * SLACK));
  const { blocks, hasOffsets } = layoutOf(document);
  const groups = hasOneChunk(blocks, whole, options)
    ? [wholeGroup(blocks, options)]
    : joinTail(group(blocks, { target, whole }, options), { target, whole }, options);
  return toDrafts(document, groups, hasOffsets, options);
}

/** Wire ids of the chunks, in order. */
export function chunkIds(documentId: string, drafts: readonly ChunkDraft[]): string[] {
  return drafts.map((draft) => chunkId(documentId, draft.contentHash, draft.occurrence));
}

interface PlacedPiece extends Piece {
  readonly placed: PlacedBlock;
}

interface Group {
  readonly pieces: PlacedPiece[];
  readonly first: PlacedBlock;
  symbols: Set<string | undefined>;
  tokens: number;
  /** Only headings so far: something must follow. */
  isOpen: boolean;
}

function hasOneChunk(blocks: readonly PlacedBlock[], whole: number, options: ChunkOptions): boolean {
  const definitions = new Set(blocks.map((placed) => placed.block.symbol).filter((symbol) => symbol !== undefined));
  if (definitions.size > 1) return false;
  return options.countTokens(blocks.map((placed) => placed.text).join('')) <= whole;
}

function wholeGroup(blocks: readonly PlacedBlock[], options: ChunkOptions): Group | undefined {
  const first = blocks[0];
  if (first === undefined) return undefined;
  const text = blocks.map((placed) => placed.text).join('');
  const tokens = options.countTokens(text);
  const pieces = blocks.map(
    (placed): PlacedPiece => ({ text: placed.text, start: placed.start, tokens: 0, cutType: 'paragraph_end', placed }),
  );
  return { pieces, first, symbols: new Set(blocks.map((placed) => placed.block.symbol)), tokens, isOpen: false };
}

function group(blocks: readonly PlacedBlock[], limits: SplitLimits, options: ChunkOptions): Group[] {
  const groups: Group[] = [];
  let current: Group | undefined;
  for (const placed of blocks) {
    if (current !== undefined && startsAnew(current, placed, limits.target)) current = undefined;
    for (const piece of splitBlock(placed, limits, options)) {
      if (current !== undefined && !hasRoom(current, piece, limits, options)) current = undefined;
      if (current === undefined) {
        current = { pieces: [], first: placed, symbols: new Set(), tokens: prefixTokens(piece, options), isOpen: true };
        groups.push(current);
      }
      current.pieces.push({ ...piece, placed });
      current.tokens += piece.tokens;
      current.symbols.add(placed.block.symbol);
      current.isOpen &&= placed.block.kind === 'heading';
    }
  }
  return groups;
}

/** An open group (headings only) takes what follows as long as the limit of a whole block allows. */
function hasRoom(current: Group, piece: Piece, limits: SplitLimits, options: ChunkOptions): boolean {
  const total = current.tokens + piece.tokens;
  const isOpen = current.isOpen || current.tokens < limits.target / 2;
  return total <= (isOpen ? limits.whole : limits.target) && staysWithinMax(current, [piece], total, options);
}

/** A text may have more tokens than its pieces have: counts it as a whole where the limit could be near. */
function staysWithinMax(current: Group, more: readonly Piece[], total: number, options: ChunkOptions): boolean {
  if (total <= options.maxTokens / 4) return true;
  const text = [...current.pieces, ...more].map((piece) => piece.text).join('');
  return options.countTokens((current.pieces[0]?.prefix ?? '') + text) <= options.maxTokens;
}

function startsAnew(current: Group, next: PlacedBlock, target: number): boolean {
  if (current.isOpen) return false;
  if (next.block.kind === 'heading') return current.tokens >= target * SECTION_SHARE;
  const { symbol } = next.block;
  if (symbol === undefined || current.symbols.has(symbol)) return false;
  return current.tokens >= target * SECTION_SHARE;
}

function prefixTokens(piece: Piece, options: ChunkOptions): number {
  return piece.prefix === undefined ? 0 : options.countTokens(piece.prefix);
}

function joinTail(groups: Group[], { target, whole }: SplitLimits, options: ChunkOptions): Group[] {
  const last = groups.at(-1);
  const before = groups.at(-2);
  if (last === undefined || before === undefined || last.pieces[0]?.prefix !== undefined) return groups;
  const isSameSection = last.first.headings.join('\n') === before.first.headings.join('\n');
  const total = last.tokens + before.tokens;
  if (!isSameSection || last.tokens >= target * TAIL_SHARE || total > whole) return groups;
  if (last.first.block.symbol !== before.first.block.symbol) return groups;
  if (!staysWithinMax(before, last.pieces, total, options)) return groups;
  append(before.pieces, last.pieces);
  before.tokens += last.tokens;
  return groups.slice(0, -1);
}

function toDrafts(
  document: ChunkableDocument,
  groups: readonly (Group | undefined)[],
  hasOffsets: boolean,
  options: ChunkOptions,
): ChunkDraft[] {
  const seen = new Map<string, number>();
  return groups
    .filter((entry) => entry !== undefined)
    .map((entry, index, all) => {
      const first = entry.pieces[0] as PlacedPiece;
      const end = all[index + 1]?.pieces[0]?.start ?? document.text.length;
      const body = entry.pieces.map((piece) => piece.text).join('');
      const text = (first.prefix ?? '') + (hasOffsets ? body : body.trimEnd());
      const contentHash = sha256(text);
      const occurrence = seen.get(contentHash) ?? 0;
      seen.set(contentHash, occurrence + 1);
      const [symbol] = entry.symbols;
      const row = entry.pieces.find(({ placed }) => placed.row !== undefined)?.placed.row;
      return {
        text,
        index,
        ...(hasOffsets ? { start: first.start, end } : {}),
        headings: entry.first.headings,
        ...(entry.first.page === undefined ? {} : { page: entry.first.page }),
        ...(row === undefined ? {} : { row }),
        ...(entry.symbols.size === 1 && symbol !== undefined ? { symbol } : {}),
        parts: partsOf(entry, text.length),
        cutType: entry.pieces.at(-1)?.cutType ?? 'default',
        tokenCount: options.countTokens(text),
        contentHash,
        occurrence,
      };
    });
}

/** Neighbours of one kind under the same headings are one part. */
function partsOf({ pieces, first }: Group, length: number): ChunkPart[] {
  const parts: ChunkPart[] = [];
  let at = 0;
  for (const { text, prefix, placed } of pieces) {
    const { kind, symbol } = placed.block;
    const start = at;
    at += (start === 0 ? (prefix?.length ?? 0) : 0) + text.length;
    const end = Math.min(at, length);
    const isAtFirst = placed.headings.join('\n') === first.headings.join('\n');
    const headings = isAtFirst ? undefined : placed.headings;
    const before = parts.at(-1);
    const isSame = before?.kind === kind && before.symbol === symbol && before.headings?.join() === headings?.join();
    if (before !== undefined && isSame) parts[parts.length - 1] = { ...before, end };
    else parts.push({ kind, start, end, ...(headings && { headings }), ...(symbol && { symbol }) });
  }
  return parts;
}
