import { recentlyUsed } from '../../common/kernel/recently-used.ts';
import { headingTime } from '../../common/text/language/heading-dates.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import type { RankedPassage } from '../model.ts';

/** A sentence of a passage, with the heading or key above it. */
export interface Statement {
  readonly text: string;
  /** Heading or key; '' without one. */
  readonly label: string;
  /** The heading in the passage above it; '' without one. */
  readonly heading: string;
  /** The time that the headings above it give; null without one. */
  readonly time: TimeSpan | null;
}

const MAX_TITLE_LENGTH = 100;
const MAX_KEY_LENGTH = 60;
const HAS_WORD = /[\p{L}\p{N}]/u;
const MARKDOWN_HEADING = /^[ \t]*#{1,6}[ \t]/u;
const ENDS_SENTENCE = /[.!?…。！？｡]["”’»)\]]*$/u;
const ENDS_KEY = /:[ \t]*[>|[{(]?[-+]?$/u;
const TABLE_ROW = /^[ \t]*\|.*\|[ \t]*$/u;
const TABLE_RULE = /^[ \t]*[|+]?[ \t]*:?[-=]{2,}[-=:|+ \t]*$/u;

interface Heading {
  readonly level: number;
  readonly text: string;
}

/** Level of a heading without marks. */
const LOWEST_LEVEL = 7;

/** Code between fences; the lines stay, empty, so that offsets do. */
const FENCED = /^[ \t]*(```|~~~)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[ \t]*$|(?![\s\S]))/gmu;
const COMMENT_MARKS = /^[ \t]*(?:\/\/+|\/\*+|\*+(?![*\p{L}]))[ \t]?|[ \t]*\*+\/[ \t]*$/gu;
const BULLET = /^[-*•‣–][ \t]+/u;
const CODE =
  /[{}][ \t]*$|[=()[\]{}].*;[ \t]*$|^[ \t]*[}\])]|=>|^[ \t]*(?:import|export|const|let|var|function|def|async|await|return|throw|#include)[ \t].*[({=;'"]|^[ \t]*[\w.]+\([^ ]*\)[;,]?$|^[ \t]*(?:\$|>>>) |^[ \t]*<[^>]+>/u;
const BOILERPLATE =
  /^(?:copyright\b|©|\(c\) |all rights reserved|skip to (?:main )?content|table of contents|click here|sign (?:in|up)|log in|cookie)/iu;
/** Nothing but links and images. */
const LINKS = /^(?:[-*•|·,\s]*!?\[(?:!?\[[^\]]*\]\([^)]*\)|[^\]]*)\]\([^)]*\))+[-*•|·,\s]*$/u;

/**
 * Returns the sentences of a passage that can answer a question, comments of code among them, code not. Headings, keys without
 * a value, table heads and rules become labels of the sentences below them. A passage that is only a title returns the title.
 */
export function statementsOf({ payload }: Pick<RankedPassage, 'payload'>): readonly Statement[] {
  const { text, headings, documentName, chunkIndex } = payload;
  const key = JSON.stringify([text, headings, documentName, chunkIndex]);
  return recentlyUsed(known, CACHED_PASSAGES, key, () => readStatements(payload));
}

/** The same passages answer many questions. */
const CACHED_PASSAGES = 200;
const known = new Map<string, readonly Statement[]>();

function readStatements(payload: RankedPassage['payload']): readonly Statement[] {
  const text = payload.text.replace(FENCED, (code) => code.replace(/[^\n]/gu, ' '));
  const read = sentences(text);
  const titles = new Set([...payload.headings.map(plain), payload.documentName]);
  const statements: Statement[] = [];
  let [label, heading] = ['', ''];
  let time = headingTime(payload.headings);
  let path: readonly Heading[] = [];
  for (const [at, sentence] of read.entries()) {
    const line = sentence.text.replace(COMMENT_MARKS, '').trim();
    if (!HAS_WORD.test(line) || CODE.test(line) || BOILERPLATE.test(line) || LINKS.test(line)) continue;
    const following = text.slice(sentence.end, read[at + 1]?.start ?? text.length);
    const isFirst = payload.chunkIndex === 0 && statements.length === 0 && label === '';
    const isTitle = isHeading(line, titles) || (isFirst && isTitleLine(line, following));
    const isLabel =
      isTitle ||
      (line.length <= MAX_KEY_LENGTH && ENDS_KEY.test(line)) ||
      (TABLE_ROW.test(line) && TABLE_RULE.test(read[at + 1]?.text ?? ''));
    if (isTitle) {
      heading = plain(line);
      const level = /^[ \t]*(#{1,6})[ \t]/u.exec(line)?.[1]?.length ?? LOWEST_LEVEL;
      path = [...path.filter((above) => above.level < level), { level, text: heading }];
      time = headingTime([...payload.headings, ...path.map(({ text: above }) => above)]);
    }
    if (isLabel) label = plain(line);
    else statements.push({ text: line.replace(BULLET, '').replace(/\s+/gu, ' '), label, heading, time });
  }
  if (statements.length > 0) return statements;
  const only = read.filter((sentence) => HAS_WORD.test(sentence.text) && !CODE.test(sentence.text));
  return only.length === 1
    ? only.map((sentence) => ({ text: plain(sentence.text), label: '', heading: '', time: null }))
    : [];
}

function isHeading(line: string, titles: ReadonlySet<string>): boolean {
  return titles.has(plain(line)) || (MARKDOWN_HEADING.test(line) && !ENDS_SENTENCE.test(line));
}

/** Whether a first line is a title: short, followed by a blank line, and no row of a table. */
function isTitleLine(line: string, following: string): boolean {
  return (
    !/: .*, .*: /u.test(line) &&
    line.length <= MAX_TITLE_LENGTH &&
    !ENDS_SENTENCE.test(line) &&
    /\n[ \t]*\r?\n/u.test(following)
  );
}

/** Removes the markup of a heading or key. */
function plain(line: string): string {
  return line
    .replace(/^[ \t]*#{1,6}[ \t]+/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
}
