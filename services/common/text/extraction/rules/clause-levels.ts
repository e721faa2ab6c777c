import type { TaggedWord } from './tagger.ts';

/** A thing named in a sentence, in order of place. */
export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Words and names that belong together: the sentence without its parentheses, or one of them behind the name it explains. */
export interface ClauseLevel {
  readonly words: readonly TaggedWord[];
  readonly parts: readonly Argument[];
}

/**
 * Separates parentheses from the sentence: in `Byles (born 1948 in Kingston, Jamaica), known as …` nobody knows Jamaica
 * as anything. Names that only describe the noun behind them (`a Rhodes scholar`, `the 2005 film`) are no arguments.
 */
export function levelsOf(text: string, words: readonly TaggedWord[], parts: readonly Argument[]): ClauseLevel[] {
  const visible = words.filter((word) => word.pos !== 'SPACE');
  const args = parts.filter((part) => !isModifier(text, visible, part));
  const asides = parentheses(visible);
  const isAside = (one: { readonly start: number; readonly end: number }): boolean =>
    asides.some(({ start, end }) => one.start >= start && one.end <= end);
  const top: ClauseLevel = {
    words: visible.filter((word) => !isAside(word)),
    parts: args.filter((part) => !isAside(part)),
  };
  const inner = asides.flatMap(({ start, end }): ClauseLevel[] => {
    const inside = args.filter((part) => part.start > start && part.end < end);
    const owner = top.parts.findLast((part) => part.end <= start && text.slice(part.end, start).trim() === '');
    if (inside.length === 0) return [];
    return [
      {
        words: visible.filter((word) => word.start > start && word.end < end),
        parts: owner === undefined ? inside : [owner, ...inside],
      },
    ];
  });
  return [top, ...inner].filter((level) => level.parts.length > 1);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Outermost pairs; an open one that is never closed is none. */
function parentheses(words: readonly TaggedWord[]): Span[] {
  const found: Span[] = [];
  let depth = 0;
  let start = 0;
  for (const word of words) {
    if (/^[([][^)\]]?$/u.test(word.text)) {
      if (depth === 0) start = word.start;
      depth++;
    } else if (/^[^([]?[)\]]$/u.test(word.text) && depth > 0) {
      depth--;
      if (depth === 0) found.push({ start, end: word.end });
    }
  }
  return found;
}

const HOUSE =
  /^(?:hospital|clinic|school|university|college|museum|library|hotel|restaurant|café|cafe|bar|pub|station|airport|church|bank|shop|store|supermarket|gym|theatre|theater|cinema|factory|office)$/u;

/** `at Sint-Lucas hospital`: the noun says what the name is one of, and no article makes it describe another one. */
function isNameOfHouse(words: readonly TaggedWord[], part: Argument, noun: TaggedWord): boolean {
  if (part.type === 'Date' || !HOUSE.test(noun.text)) return false;
  const before = words.findLast((word) => word.end <= part.start);
  const after = words.find((word) => word.start >= noun.end);
  return before?.pos === 'ADP' && after?.pos !== 'NOUN';
}

/** Whether a name only describes the noun behind it. */
export function isModifier(text: string, words: readonly TaggedWord[], part: Argument): boolean {
  if (text[part.end] === '-') return true;
  const next = words.find((word) => word.start >= part.end);
  if (next === undefined || /^['’]s?$/u.test(next.text)) return false;
  if (next.pos === 'NOUN') return !isNameOfHouse(words, part, next);
  const before = words.findLast((word) => word.end <= part.start);
  return part.type === 'Date' && before?.pos === 'DET' && /^(?:ADJ|PROPN)$/u.test(next.pos);
}
