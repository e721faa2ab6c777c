import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { oneOf, WEEKDAYS } from '../../language/calendar-words.ts';
import { dates } from '../../language/dates.ts';
import { isDayLine } from '../../language/heading-dates.ts';
import { isConversation, turnsOf } from '../../language/turns.ts';
import { readChatExport } from './chat-export.ts';
import type { DocumentDraft } from './draft.ts';

/**
 * Matches what only Markdown has: front matter, a heading in front of a paragraph, a list or a table, and the rule below the
 * head of a table.
 */
const MARKDOWN =
  /(?<![\s\S])---[ \t]*\n[\w-]{1,40}:|(?:^|\n[ \t]*\n)#{1,6} [\p{Lu}\p{N}][^\n]{0,200}\n(?:[ \t]*\n|[-*+|] ?\S|1\. )|^\|?[ \t]*:?-{3,}:?[ \t]*\|/mu;
/** Matches lines of code and settings, whose comments look like headings. */
const CODE =
  /^(?:#!|#include\b|import |from \S{1,80} import |(?:async )?(?:def|function) |class [^\n]{0,200}[:{]$|(?:export |const |let |var )[^\n]{0,200}[=({]|[\w.]{2,60}[ \t]?=[^=])/mu;

/**
 * Whether a text whose name does not tell its format is written as Markdown, as agents write. A conversation is none, whatever
 * its messages are written in: their headings are of one message, and not of those behind it.
 */
export function isMarkdown(text: string): boolean {
  const normal = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  if (!MARKDOWN.test(normal) || !(normal.includes('\n```') || !CODE.test(normal))) return false;
  return readChatExport(normal) === null && !isConversation(turnsOf(normal));
}

/** Reads the export of a chat, else paragraphs between blank lines; single lines that are clearly titles become headings. */
export function readPlainText(text: string): DocumentDraft {
  const chat = readChatExport(text);
  if (chat !== null) return chat;
  const paragraphs = paragraphBlocks(text);
  const sessions = withSessions(paragraphs, text) ?? withDays(paragraphs) ?? withNumbered(paragraphs);
  // Headings that the text does not mark as such are marked, so that each passage tells when it was said.
  return sessions === null ? { text, blocks: withTitle(paragraphs) } : { blocks: sessions };
}

/**
 * Takes lines that are nothing but a day as headings of the notes below them: the first line of a text, or one of several. Null
 * without any.
 */
function withDays(blocks: readonly DocumentBlock[]): readonly DocumentBlock[] | null {
  const lines = blocks.map(({ kind, text }) =>
    kind === 'paragraph' ? text.split('\n').map((line) => ({ line, isDay: isDayLine(line.trim()) })) : [],
  );
  const all = lines.flat();
  const days = all.filter(({ isDay }) => isDay).length;
  const isFirst = lines[0]?.[0]?.isDay === true && all.length > 1;
  if (days === 0 || (days === 1 && !isFirst)) return null;
  return blocks.flatMap((block, at) => {
    const parts: DocumentBlock[] = [];
    let said: string[] = [];
    const close = () => {
      const text = said.join('\n').trim();
      if (text !== '') parts.push({ kind: 'paragraph', text });
      said = [];
    };
    for (const { line, isDay } of lines[at] ?? []) {
      if (!isDay) {
        said.push(line);
        continue;
      }
      close();
      parts.push({ kind: 'heading', level: 2, text: line.trim().replace(/[^\p{L}\p{N}]+$/u, '') });
    }
    close();
    return block.kind === 'paragraph' ? parts : [block];
  });
}

const NUMBERED_TITLE = /^\d{1,2}\.[ \t]+\p{Lu}[^\n]*[^.!?:;,\s]$/u;
const MAX_NUMBERED_WORDS = 7;

/** Takes numbered lines without a full stop above others as headings, as the points of minutes; null for fewer than two. */
function withNumbered(blocks: readonly DocumentBlock[]): readonly DocumentBlock[] | null {
  const titleOf = ({ kind, text }: DocumentBlock): string | null => {
    const end = text.indexOf('\n');
    const line = text.slice(0, Math.max(0, end)).trim();
    const isTitle =
      kind === 'paragraph' && NUMBERED_TITLE.test(line) && line.split(/\s+/u).length <= MAX_NUMBERED_WORDS;
    return isTitle && !/^\d{1,2}\.[ \t]/u.test(text.slice(end + 1)) ? line : null;
  };
  const titles = blocks.map(titleOf);
  if (titles.filter((title) => title !== null).length < 2) return null;
  return blocks.flatMap((block, at): readonly DocumentBlock[] => {
    const title = titles[at] ?? null;
    if (title === null) return [block];
    return [
      { kind: 'heading', level: 2, text: title },
      { kind: 'paragraph', text: block.text.slice(block.text.indexOf('\n') + 1).trim() },
    ];
  });
}

/** In a conversation, takes lines that are nothing but a date as headings of what was said then; null without any. */
function withSessions(blocks: readonly DocumentBlock[], text: string): readonly DocumentBlock[] | null {
  if (!isConversation(turnsOf(text))) return null;
  const all = blocks.flatMap((block): readonly DocumentBlock[] => {
    const lines = block.kind === 'paragraph' ? block.text.split('\n') : [];
    const sessions = lines.map(dateOfSession);
    if (sessions.every((date) => date === null)) return [block];
    const starts = sessions.flatMap((date, at) => (date === null ? [] : [at]));
    const parts = [0, ...starts.filter((at) => at > 0)];
    return parts.flatMap((start, at) => {
      const date = sessions[start] ?? null;
      const said = paragraphBlocks(lines.slice(date === null ? start : start + 1, parts[at + 1]).join('\n'));
      return date === null ? said : [{ kind: 'heading' as const, level: 2, text: date }, ...said];
    });
  });
  return all.length === blocks.length && all.every((block, at) => block === blocks[at]) ? null : all;
}

const MAX_DATE_LINE = 80;
/** What stands beside the date of a session: `--- Session 2: Friday, 3 April 2026, 1:56 pm ---`. */
const BESIDE_DATE = new RegExp(
  `\\b(?:session|conversation|chat|call|meeting|part|day|date|time|on|at|the|${oneOf(WEEKDAYS)})\\b|\\b\\d{1,2}[:.]\\d\\d(?: ?[ap]\\.?m\\b)?|\\b\\d{1,2}(?: ?[ap]\\.?m)?\\b|[^\\p{L}\\p{N}]`,
  'giu',
);

/** Returns a line without its marks when it only says on which day what follows was said; null for another line. */
function dateOfSession(line: string): string | null {
  if (line.length > MAX_DATE_LINE || !/\d{4}/u.test(line)) return null;
  const [date, ...others] = dates(line);
  if (date === undefined || others.length > 0 || !/^(?:day|second)$/u.test(date.precision)) return null;
  const rest = `${line.slice(0, date.start)} ${line.slice(date.end)}`.replaceAll(BESIDE_DATE, '');
  return rest === '' ? line.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}.]+$/gu, '') : null;
}

/** Takes a first line that is written like a title as a heading of the text below it. */
function withTitle(blocks: readonly DocumentBlock[]): readonly DocumentBlock[] {
  const [first, second] = blocks;
  if (first?.kind !== 'paragraph' || second?.kind !== 'paragraph' || !isTitle(first.text, second.text)) return blocks;
  return blocks.with(0, { kind: 'heading', level: 1, text: first.text });
}

const MAX_TITLE_WORDS = 10;
const SALUTATION =
  /^(?:Dear|Hi|Hello|Hey|Hallo|Liebe[rs]?|Guten|Estimad[oa]s?|Querid[oa]s?|Hola|Cher|Chère|Bonjour)\b/u;

/** `Setting Up My First Server` above sentences. */
function isTitle(line: string, below: string): boolean {
  const words = line.split(/\s+/u);
  return (
    !/[.!?;,:]$|\n|: /u.test(line) &&
    words.length <= MAX_TITLE_WORDS &&
    /^[\p{Lu}\p{N}]/u.test(line) &&
    words.every((word) => /^[^\p{L}]*(?:\p{Lu}|$)/u.test(word) || word.length <= SHORT_WORD) &&
    !SALUTATION.test(line) &&
    below.length > line.length &&
    /[.!?]["”’)]*$/u.test(below)
  );
}

/** Words that titles write small: `of`, `with`. */
const SHORT_WORD = 4;

export function paragraphBlocks(text: string): DocumentBlock[] {
  const normal = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  const blocks: DocumentBlock[] = [];
  // More blank lines give empty parts: a pattern with a repeated group overflows at millions of them.
  for (const part of normal.split(/\n[ \t\f\v]*\n/)) {
    const paragraph = part.trim();
    if (paragraph === '') continue;
    const heading = headingOf(paragraph) ?? underlinedHeading(paragraph);
    if (heading === null)
      append(
        blocks,
        turnsIn(paragraph).map((turn) => ({ kind: 'paragraph' as const, text: turn })),
      );
    else blocks.push(heading);
  }
  return blocks;
}

const MIN_TURNS = 4;

/** Splits a conversation, in which most lines name their speaker and speakers return, into turns; else returns the paragraph. */
function turnsIn(paragraph: string): readonly string[] {
  const turns = turnsOf(paragraph);
  const lines = paragraph.split('\n').length;
  const speakers = new Set(turns.map(({ speaker }) => speaker));
  if (turns.length < MIN_TURNS || turns.length * 2 < lines || speakers.size * 2 > turns.length) return [paragraph];
  const starts = [0, ...turns.slice(turns[0]?.start === 0 ? 1 : 0).map(({ start }) => start)];
  return starts.map((start, at) => paragraph.slice(start, starts[at + 1]).trim()).filter((turn) => turn !== '');
}

const NUMBERED_DIVISION =
  /^(part|book|volume|chapter|section|canto|act|scene|appendix|letter|lesson)\s+([ivxlcdm]{1,8}|\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b[^\n]{0,100}$/i;
const LONE_DIVISION =
  /^(prologue|epilogue|preface|foreword|introduction|conclusion|contents|bibliography|references|abstract|summary)[.:]?$/i;

function headingOf(paragraph: string): DocumentBlock | null {
  if (paragraph.length > 120 || paragraph.includes('\n')) return null;
  const division = NUMBERED_DIVISION.exec(paragraph);
  if (division !== null && !/[,;]$/.test(paragraph) && isTitleOfDivision(paragraph)) {
    const level = /^(part|book|volume|act)$/i.test(division[1] ?? '') ? 1 : 2;
    return { kind: 'heading', level, text: paragraph };
  }
  if (LONE_DIVISION.test(paragraph)) return { kind: 'heading', level: 2, text: paragraph };
  return null;
}

/** Whether a line is the title of a division: "Chapter 3 was the hardest to write." is a sentence. */
function isTitleOfDivision(line: string): boolean {
  const rest = line.replace(/^\S+\s+\S+\s*/, '');
  return rest === '' || /^[.:—–-]/.test(rest) || !/^[a-z]/.test(rest) || /^(of|the|in)\b/.test(rest);
}

/** Returns a heading for `Title` above a line of `====` or `----`, as in README.txt and reStructuredText. */
function underlinedHeading(paragraph: string): DocumentBlock | null {
  const lineEnd = paragraph.indexOf('\n');
  if (lineEnd === -1 || lineEnd > 120 || paragraph.indexOf('\n', lineEnd + 1) !== -1) return null;
  const title = paragraph.slice(0, lineEnd).trim();
  const rule = paragraph.slice(lineEnd + 1).trim();
  if (rule.length < 3 || rule.length * 2 < title.length || !/^(=+|-+|~+|\*+)$/.test(rule)) return null;
  return { kind: 'heading', level: rule.startsWith('=') ? 1 : 2, text: title };
}

/** Reads a log: one block per entry, a line with its indented lines (stack traces). */
export function readLog(text: string): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let entry: string[] = [];
  const close = (): void => {
    if (entry.length > 0) blocks.push({ kind: 'paragraph', text: entry.join('\n') });
    entry = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    const continues = /^(\s|at |Caused by|\.\.\. \d+ more)/.test(line) || line === '';
    if (!continues) close();
    if (line.trim() !== '') entry.push(line.trimEnd());
  }
  close();
  return { text, blocks };
}

/** Matches the name that a settings file gives itself. */
const OWN_NAME = /^(?:name|title)[ \t]*[:=][ \t]*["']?([^"'\r\n]{1,100})/m;

/** Reads YAML, TOML and INI: one block per top-level key or section, with the comment lines above it. */
export function readSettings(text: string): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  let hasKey = false;
  const close = (): void => {
    if (lines.some((line) => line.trim() !== '')) blocks.push({ kind: 'record', text: lines.join('\n') });
    lines = [];
    hasKey = false;
  };
  for (const line of text.split(/\r\n?|\n/)) {
    const isComment = /^[#;]/.test(line);
    const isDivider = line === '---' || line === '...';
    const startsKey = line !== '' && !/^[\s#;\]})-]/.test(line);
    if (isDivider || (hasKey && (startsKey || isComment))) close();
    if (isDivider) continue;
    if (startsKey) hasKey = true;
    lines.push(line);
  }
  close();
  return { text, blocks, title: OWN_NAME.exec(text)?.[1]?.trim() ?? null };
}
