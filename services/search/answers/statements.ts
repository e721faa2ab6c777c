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
  /** A command of an example for a shell. */
  readonly isCommand?: true;
}

const MAX_TITLE_LENGTH = 100;
const MAX_KEY_LENGTH = 60;
const HAS_WORD = /[\p{L}\p{N}]/u;
const MARKDOWN_HEADING = /^[ \t]*#{1,6}[ \t]/u;
const ENDS_SENTENCE = /[.!?…。！？｡]["”’»)\]]*$/u;
const ENDS_KEY = /:[ \t]*[>|[{(]?[-+]?$/u;

interface Heading {
  readonly level: number;
  readonly text: string;
}

/** Level of a heading without marks. */
const LOWEST_LEVEL = 7;

/** Code between fences, with its language; or a table with its heads, rule and rows. */
const FENCED_OR_TABLE =
  /^[ \t]*(?<fence>```+|~~~+)(?<language>[^\n]*)\n(?<code>[\s\S]*?)(?:^[ \t]*\k<fence>[ \t]*$|(?![\s\S]))|^[ \t]*\|(?<heads>[^\n]*)\|[ \t]*\n[ \t]*\|[ \t]*:?-[-:| \t]*\|[ \t]*(?<rows>(?:\n[ \t]*\|[^\n]*\|[ \t]*$)+)/gmu;
const SHELL = /^[ \t]*(?:ba|z|fi|power)?sh(?:ell)?\b|^[ \t]*(?:console|cmd|bat)\b/iu;
/** `$ npm ci`: what a person types, where the output is shown, too. */
const PROMPT = /^[ \t]*(?:\$|>>>|PS>)[ \t]+/u;
const COMMENT_MARKS = /^[ \t]*(?:\/\/+|\/\*+|\*+(?![*\p{L}]))[ \t]?|[ \t]*\*+\/[ \t]*$/gu;
/** Also the mark of what is not done. */
const BULLET = /^[-*•‣–][ \t]+(?:\[ \][ \t]+)?/u;
const CODE =
  /[{}][ \t]*$|[=()[\]{}].*;[ \t]*$|^[ \t]*[}\])]|=>|^[ \t]*(?:import|export|const|let|var|function|def|async|await|return|throw|#include)[ \t].*[({=;'"]|^[ \t]*(?:use|using|pub|package|fn|impl|mod)[ \t].*[;{][ \t]*$|^[ \t]*[\w.]+\([^ ]*\)[;,]?$|^[ \t]*(?:\$|>>>) |^[ \t]*<[^>]+>/u;
const BOILERPLATE =
  /^(?:copyright\b|©|\(c\) |all rights reserved|skip to (?:main )?content|table of contents|click here|sign (?:in|up)|log in|cookie)/iu;
/** A line of an earlier mail or of a quotation. */
const QUOTED_MARKS = /^(?:>[ \t]?)+/u;
/** The subject in the headers of a mail, as the reader of mails writes them, without what marks a reply. */
const MAIL_SUBJECT =
  /^From: [^\n]*\n(?:(?:To|Cc|Date): [^\n]*\n)*Subject: (?:(?:re|aw|fwd?|wg|tr|rv)(?:\[\d+\])?:\s*)*([^\n]+)/iu;
/** Nothing but links and images. */
const LINKS = /^(?:[-*•|·,\s]*!?\[(?:!?\[[^\]]*\]\([^)]*\)|[^\]]*)\]\([^)]*\))+[-*•|·,\s]*$/u;

/**
 * Returns the sentences of a passage that can answer a question, in order: sentences of prose and of comments in code, rows of
 * tables with the heads of their columns, and the commands of shell examples, which are marked; no other code. Headings and
 * keys without a value become labels of what is below them. A passage that is only a title returns the title.
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
  const { text, read } = readLines(payload.text);
  const titles = new Set([...payload.headings.map(plain), payload.documentName]);
  const statements: Statement[] = [];
  let label = '';
  let heading = plain(MAIL_SUBJECT.exec(payload.text)?.[1] ?? '');
  let time = headingTime(payload.headings);
  let path: readonly Heading[] = [];
  for (const [at, sentence] of read.entries()) {
    if (sentence.kind !== 'prose') {
      const isCommand = sentence.kind === 'command';
      statements.push({ text: sentence.text, label, heading, time, ...(isCommand && { isCommand }) });
      continue;
    }
    const line = sentence.text.replace(QUOTED_MARKS, '').replace(COMMENT_MARKS, '').trim();
    if (!HAS_WORD.test(line) || CODE.test(line) || BOILERPLATE.test(line) || LINKS.test(line)) continue;
    const following = text.slice(sentence.end, read[at + 1]?.start ?? text.length);
    const isFirst = payload.chunkIndex === 0 && statements.length === 0 && label === '';
    const isTitle = isHeading(line, titles) || (isFirst && isTitleLine(line, following));
    const isLabel = isTitle || (line.length <= MAX_KEY_LENGTH && ENDS_KEY.test(line));
    if (isTitle) {
      heading = plain(line);
      const level = /^[ \t]*(#{1,6})[ \t]/u.exec(line)?.[1]?.length ?? LOWEST_LEVEL;
      path = [...path.filter((above) => above.level < level), { level, text: heading }];
      time = headingTime([...payload.headings, ...path.map(({ text: above }) => above)]);
    }
    if (isLabel) label = plain(line);
    else statements.push({ text: onOneLine(line.replace(BULLET, '')), label, heading, time });
  }
  if (statements.length > 0) return statements;
  const only = read.filter((sentence) => HAS_WORD.test(sentence.text) && !CODE.test(sentence.text));
  return only.length === 1
    ? only.map((sentence) => ({ text: plain(sentence.text), label: '', heading: '', time: null }))
    : [];
}

/** The fields of a record are parted by commas. */
function onOneLine(text: string): string {
  return text.replace(/[ \t]*\n(?=[\p{L}][^\n:]{0,30}: \S)/gu, ', ').replace(/\s+/gu, ' ');
}

interface Line {
  readonly kind: 'prose' | 'command' | 'row';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Returns sentences, commands and rows in their order, and the text with blanks where code and tables stand. */
function readLines(whole: string): { readonly text: string; readonly read: readonly Line[] } {
  const read: Line[] = [];
  const text = whole.replace(FENCED_OR_TABLE, (found, ...matched) => {
    const {
      language = '',
      code,
      heads = '',
      rows = '',
    } = matched.at(-1) as Readonly<Record<string, string | undefined>>;
    const start = matched.at(-3) as number;
    const place = { start, end: start + found.length };
    if (code === undefined) for (const row of rowTexts(heads, rows)) read.push({ kind: 'row', text: row, ...place });
    else for (const command of commands(language, code)) read.push({ kind: 'command', text: command, ...place });
    return found.replace(/[^\n]/gu, ' ');
  });
  for (const sentence of sentences(text)) read.push({ kind: 'prose', ...sentence });
  return { text, read: read.sort((one, other) => one.start - other.start) };
}

function rowTexts(headLine: string, rowLines: string): string[] {
  const heads = cellsOf(headLine);
  const rows = rowLines.trim().split('\n');
  return rows.map((line) => rowText(heads, cellsOf(line.trim().slice(1, -1)))).filter((text) => text !== '');
}

/** `name: Ada, city: Berlin`, as rows of CSV read: the cells of a row with the heads of their columns. */
export function rowText(heads: readonly string[], cells: readonly string[]): string {
  const named = cells.flatMap((cell, at) => (HAS_WORD.test(cell) ? [heads[at] ? `${heads[at]}: ${cell}` : cell] : []));
  return named.join(', ').replace(/\s+/gu, ' ');
}

/** Cells of a line of a Markdown table without its outer marks. */
export function cellsOf(row: string): string[] {
  return row.split(/(?<!\\)\|/u).map((cell) => cell.trim());
}

/** Returns the commands of an example: those after prompts, or all lines of a shell script but comments. */
function commands(language: string, code: string): string[] {
  const lines = code.replaceAll(/\\\n[ \t]*/gu, ' ').split('\n');
  const prompted = lines.filter((line) => PROMPT.test(line)).map((line) => line.replace(PROMPT, ''));
  const typed =
    prompted.length > 0 || !SHELL.test(language) ? prompted : lines.filter((line) => !/^[ \t]*#/u.test(line));
  return typed.map((line) => line.trim().replace(/\s+/gu, ' ')).filter((line) => HAS_WORD.test(line));
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
