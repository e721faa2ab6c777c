/** Lines between two blank ones. */
interface Block {
  readonly end: number;
  /** Its lines end where somebody ended them, and not at the width of a page. */
  readonly isOfNotes: boolean;
}

/** Nobody wraps text at fewer characters. */
const MIN_WIDTH = 45;

/** Two lines may as well be one sentence. */
const MIN_LINES = 3;
/** Lines of wrapped text are longer, also where a link or the like lost a part of it. */
const SHORT_OF_WIDTH = 0.75;

/** At the end of a line, these say that the sentence goes on. */
const GOES_ON =
  /(?:[,([/–—-]|(?<!\p{L})(?:and|or|but|nor|the|an?|of|to|for|with|from|by|as|than|that|which|who|my|our|und|oder|der|die|das|y|de|et|le|la))$/iu;
/** So do these at its beginning. */
const CONTINUES =
  /^(?:[ \t]*[),;]|(?:and|or|but|nor|of|than|that|which|who|whose|where|because|so that|und|oder|aber|sondern|dass|weil|y|o|pero|que|et|ou|mais|qui)(?!\p{L}))/u;
const FIELD = /^[\p{L}_][\w.-]{0,40}: /u;
const ITEM = /^[ \t]*(?:[-*•‣◦–—]|\d{1,3}[.)])[ \t]/u;

/**
 * Returns what tells whether a place is in notes, whose lines end without full stops, and whether a line break there ends what is
 * said on its line. A break wraps a text when the next word would not have fitted on the line: lines are as wide as the longest
 * but one of their block, as a link may be longer. Places are asked for in order.
 */
export function lineBreaks(text: string) {
  let block: Block = { end: -1, isOfNotes: false };
  const isOfNotes = (at: number): boolean => {
    if (at > block.end) block = blockFrom(text, Math.max(0, block.end), at);
    return block.isOfNotes;
  };
  const endsLine = (at: number): boolean => {
    if (!isOfNotes(at)) return false;
    const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trimEnd();
    const nextEnd = text.indexOf('\n', at + 1);
    const next = text.slice(at + 1, nextEnd === -1 ? text.length : nextEnd);
    // What is indented below a line belongs to it, and fields belong to one record.
    if (/^[ \t]/u.test(next) || (FIELD.test(line) && FIELD.test(next))) return false;
    return !GOES_ON.test(line) && !CONTINUES.test(next);
  };
  return { endsLine, isOfNotes };
}

function blockFrom(text: string, from: number, at: number): Block {
  const blank = text.indexOf('\n\n', at);
  const end = blank === -1 ? text.length : blank;
  const start = at === 0 ? 0 : Math.max(from, text.lastIndexOf('\n\n', at - 1));
  return { end, isOfNotes: areNotes(text.slice(start, end).trim().split('\n')) };
}

function areNotes(lines: readonly string[]): boolean {
  if (lines.length < MIN_LINES) return false;
  const lengths = lines.map((line) => line.trimEnd().length);
  const [longest = 0, second = 0] = lengths.toSorted((a, b) => b - a);
  const width = Math.max(MIN_WIDTH, second);
  const breaks = lines.slice(1).map((line, before) => ({ line, before: lengths[before] ?? 0 }));
  const plain = breaks.filter(({ line }) => !ITEM.test(line) && line.trim() !== '');
  // Nothing fits behind the longest line.
  const told = plain.length > 1 ? plain.filter(({ before }) => before < longest) : plain;
  const fitting = told.filter(({ line, before }) => before + 1 + line.search(/\s|$/u) <= width);
  // The first line may begin within a line of what it was copied from, and the last one ends where the text does.
  const inner = lengths.slice(1, -1);
  const short = inner.filter((length) => length < SHORT_OF_WIDTH * width);
  return (
    fitting.length > 0 && fitting.length * 2 >= told.length && short.length > 0 && short.length * 3 >= inner.length
  );
}
