import { recentlyUsed } from '../../common/kernel/recently-used.ts';
import { headingPath } from '../../common/text/chunking/release-headings.ts';
import { headingTime } from '../../common/text/language/heading-dates.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import { isConversation, turnsOf } from '../../common/text/language/turns.ts';
import type { RankedPassage } from '../model.ts';
import { contentWords, readQuestion } from './question.ts';
import { type PassagePayload, pronounReader, type Telling, tellingOf, tellSentence } from './told-turns.ts';

/** A sentence of a passage, with the heading or key above it. */
export interface Statement {
  readonly text: string;
  /** Heading or key, the items that it is nested in, and the question before it that it replies to; '' without any. */
  readonly label: string;
  /** The heading in the passage above it; '' without one. */
  readonly heading: string;
  /** The headings above that one, of the document and of the passage, outermost first. */
  readonly above?: readonly string[];
  /** The time that the headings above it give; null without one. */
  readonly time: TimeSpan | null;
  /** A command of an example for a shell. */
  readonly isCommand?: true;
  /** A name with its value in code, which says all of the answer. */
  readonly isValue?: true;
  /** The question of another one that it replies to. */
  readonly asked?: string;
  /** A question, which answers none. */
  readonly isQuestion?: true;
  /** An item of a list. */
  readonly isItem?: true;
  /** Of a message, and not its first sentence: the one before it says what it is about. */
  readonly isContinued?: true;
  /** Of a turn that is told of: its sentence as it stands, and the speakers that it says something of. */
  readonly verbatim?: string;
  readonly about?: readonly string[];
  /** It may be what the question asks of speech. */
  readonly isSpeech?: boolean;
  /** Who says it, and who asked what it replies to. */
  readonly speaker?: string;
  readonly asker?: string;
}

/** Code between fences, with the fences. */
export interface Example {
  readonly code: string;
  readonly heading: string;
  readonly above: readonly string[];
  /** The last statement of its section before it; null without one. */
  readonly sentence: Statement | null;
}

/** A statement as its text has it. */
export const verbatimOf = ({ text, verbatim }: Statement): string => verbatim ?? text;

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

/** A part of a decision record that is named at the beginning of its paragraph: `Why. A row …` */
const RUN_IN =
  /^(?:Status|Context|Background|Problem|Motivation|Decision|Why|Rationale|Reasons?|Consequences|Alternatives)\.$/u;
const NEAR = 8;
/** A heading of a manual page, whose section is indented: `EXIT STATUS`. */
const MANUAL_HEADING = /^\p{Lu}{2}[\p{Lu} ]{1,30}:?$/u;
/** A heading that is underlined. */
const UNDERLINED = /^([^\n]{1,100})\n(?:(={3,})|-{3,})[ \t]*$/gmu;

/** Code between fences, with its language; or a table with its heads, rule and rows. */
const FENCED_OR_TABLE =
  /^[ \t]*(?<fence>```+|~~~+)(?<language>[^\n]*)\n(?<code>[\s\S]*?)(?:^[ \t]*\k<fence>[ \t]*$|(?![\s\S]))|^[ \t]*\|(?<heads>[^\n]*)\|[ \t]*\n[ \t]*\|[ \t]*:?-[-:| \t]*\|[ \t]*(?<rows>(?:\n[ \t]*\|[^\n]*\|[ \t]*$)+)/gmu;
const SHELL = /^[ \t]*(?:ba|z|fi|power)?sh(?:ell)?\b|^[ \t]*(?:console|cmd|bat)\b/iu;
/** `$ npm ci`: what a person types, where the output is shown, too. */
const PROMPT = /^[ \t]*(?:\$|>>>|PS>)[ \t]+/u;
const COMMENT_MARKS = /^[ \t]*(?:\/\/+|\/\*+|\*+(?![*\p{L}]))[ \t]?|[ \t]*\*+\/[ \t]*$/gu;
/** Without comments on several lines, `* ` begins an item. */
const MARKS_OF_LINES = /^[ \t]*\/\/+[ \t]?/gu;
/** Also the mark of what is not done. */
const BULLET = /^[-*•‣–][ \t]+(?:\[ \][ \t]+)?/u;
const CODE =
  /[{}][ \t]*$|[=()[\]{}].*;[ \t]*$|^[ \t]*[}\])]|=>|^[ \t]*(?:import|export|const|let|var|function|def|async|await|return|throw|#include)[ \t].*[({=;'"]|^[ \t]*(?:use|using|pub|package|fn|impl|mod)[ \t].*[;{][ \t]*$|^[ \t]*[\w.]+\([^ ]*\)[;,]?$|^[ \t]*(?:\$|>>>) |^[ \t]*<[^>]+>/u;
const BOILERPLATE =
  /^(?:copyright\b|©|\(c\) |all rights reserved|permission is hereby granted\b|the above copyright notice\b|the software is provided "as is"|in no event shall\b|redistributions (?:of source code|in binary form) must\b|skip to (?:main )?content|table of contents|click here|sign (?:in|up)|log in|cookie)/iu;
const ITEM = /^(?:[-*•‣–]|\d{1,3}[.)])[ \t]+\S/u;
const LITERAL =
  '(?:-?\\d[\\d_.]*\\w{0,3}(?: ?[*+] ?[\\d_.]+)*(?: ?\\* ?[\\w.]+)?|"[^"\\n]{1,80}"|\'[^\'\\n]{1,80}\'|`[^`\\n$]{1,80}`|true|false|True|False)(?=\\s*(?:[,;)}\\]#/]|$))';
const NAME_OF_VALUE = '[\\p{L}_][\\p{L}\\p{N}_]{2,}';
/** A name with its value in code: `timeout = 30_000`, `port: int = 80`, `env.PORT ?? '80'`, `getenv("PORT", "80")`. */
const VALUE = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?<name>${NAME_OF_VALUE})(?:\\??: ?[\\w<>[\\]| .]{1,40}?)? ?:?= ?(?<value>${LITERAL})|(?<![\\p{L}\\p{N}_])(?<key>${NAME_OF_VALUE}) ?(?:\\?\\?|\\|\\|) ?(?<other>${LITERAL})|\\bget(?:[eE]nv)?\\( ?["'](?<variable>\\w+)["'], ?(?<fallback>${LITERAL})`,
  'gmu',
);
/** A line that is nothing but a name with its value, perhaps with a comment. */
const ASSIGNED = new RegExp(`^[ \\t]*[A-Z_][A-Z\\d_]{2,} ?= ?${LITERAL}[ \\t]*(?:(?:#|//).*)?$`, 'u');
/** The first words of an item that say nothing without the rest of it: `3. Fee.`, `Ada Moss – Engineer.` */
const LEAD = /^(?:\d{1,3}[.)] )?(?:(?:\S+ ){1,4}[–—] |(?:\S+ ){0,3}\S+\.(?: |$))/u;
const MAX_ITEM_LENGTH = 240;
/** A line of an earlier mail or of a quotation. */
const QUOTED_MARKS = /^(?:>[ \t]?)+/u;
/** Sender and subject in the headers of a mail, as the reader of mails writes them, without what marks a reply. */
const MAIL =
  /^From: ([^\n<]*)[^\n]*\n(?:(?:To|Cc|Date): [^\n]*\n)*Subject: (?:(?:re|aw|fwd?|wg|tr|rv)(?:\[\d+\])?:\s*)*([^\n]+)/iu;
/** A heading over a list of the headings below. */
const CONTENTS =
  /^(?:#+[ \t]+)?(?:table of )?contents$|^(?:#+[ \t]+)?(?:Inhalt(?:sverzeichnis|sübersicht)?|[ÍI]ndice|Contenido|Sommaire|Table des matières)$/iu;
/** Nothing but links and images, or the words of one that lost its address. */
const LINKS = /^\[[^\][\n]{1,60}\]$|^(?:[-*•|·,\s]*!?\[(?:!?\[[^\]]*\]\([^)]*\)|[^\]]*)\]\([^)]*\))+[-*•|·,\s]*$/u;

/**
 * Returns the sentences of a passage that can answer a question, in order: sentences of prose and of comments in code, values
 * of constants and defaults of parameters, rows of tables with the heads of their columns, and the commands of shell examples,
 * which are marked; no other code. Headings, keys without a value, items and questions become labels of what is below them. A
 * passage that is only a title returns the title.
 */
export const statementsOf = (passage: PassagePayload): readonly Statement[] => read(passage).statements;

/** Returns the code of a passage that stands between fences, in order. */
export const examplesOf = (passage: PassagePayload): readonly Example[] => read(passage).examples;

interface Read {
  readonly statements: readonly Statement[];
  readonly examples: readonly Example[];
}

function read({ payload }: PassagePayload): Read {
  const { text, headings, documentName, chunkIndex } = payload;
  const telling = tellingOf(payload);
  const key = JSON.stringify([text, headings, documentName, chunkIndex, telling, payload.writtenAt]);
  return recentlyUsed(known, CACHED_PASSAGES, key, () => {
    const { statements, examples } = readStatements(payload, telling !== null);
    return { statements: telling === null ? statements : toldStatements(statements, telling), examples };
  });
}

/** The same passages answer many questions. */
const CACHED_PASSAGES = 1000;
const known = new Map<string, Read>();

/** Content words of a question that says little by itself: `Where did you get him?` */
const FEW_WORDS = 2;
/** Statements between a reply and what its question is about. */
const TOPIC_WITHIN = 6;

/** Tells statements of turns; a short question is told with what the one who replies said before it. */
function toldStatements(statements: readonly Statement[], telling: Telling): readonly Statement[] {
  const tell = (text: string, speaker: string) => tellSentence(withoutMark(text), speaker, telling);
  const meaning = pronounReader();
  return statements.map((statement, at): Statement => {
    const { speaker, asked, asker } = statement;
    if (speaker === undefined || !telling.speakers.includes(speaker)) return statement;
    const told = tell(statement.text, speaker);
    const question = asked === undefined || asker === undefined ? null : tell(asked, asker);
    const isShort = question !== null && contentWords(question.text).length <= FEW_WORDS;
    const topic = isShort ? topicOf(statements, at, speaker) : '';
    const toldTopic = topic === '' ? null : tell(topic, speaker);
    const label = asked === undefined ? statement.label : statement.label.replace(asked, '').trim();
    // What one asks and says after it: `How about a hike? We go on Saturday.`
    const previous = statement.isContinued === true ? statements[at - 1] : undefined;
    const isAsked = previous?.isQuestion === true;
    // What is asked of oneself is no answer to it.
    const implied = question?.about.filter((one) => one !== asker) ?? [];
    const ofTopic = toldTopic?.about.filter((one) => one === speaker) ?? [];
    const about = [told.about, implied, ofTopic].find((one) => one.length > 0) ?? [];
    return {
      ...statement,
      text: meaning(told.text, at),
      verbatim: statement.text,
      about,
      isSpeech: told.isSpeech,
      label: [
        label,
        isAsked ? tell(previous.text, speaker).text : '',
        toldTopic?.text ?? '',
        question?.text ?? '',
        speaker === telling.asked ? '' : speaker,
      ]
        .filter((part) => part !== '')
        .join(' '),
      ...(question !== null && { asked: question.text }),
    };
  });
}

function withoutMark(text: string): string {
  const [turn] = turnsOf(text);
  return turn?.start === 0 ? text.slice(turn.saidAt) : text;
}

/** Returns what the one who replies said in the turn before the question; '' when it is not near. */
function topicOf(statements: readonly Statement[], at: number, speaker: string): string {
  const before = statements.slice(Math.max(0, at - TOPIC_WITHIN), at);
  const asked = before.findLastIndex((one) => one.speaker !== speaker);
  const last = before.slice(0, Math.max(0, asked)).findLastIndex((one) => one.speaker === speaker);
  const first = before.slice(0, Math.max(0, last)).findLastIndex((one) => one.speaker !== speaker) + 1;
  const said = last < 0 ? [] : before.slice(first, last + 1).filter(({ isQuestion }) => isQuestion !== true);
  return said.map(({ text }) => withoutMark(text)).join(' ');
}

function readStatements(payload: RankedPassage['payload'], isTold: boolean): Read {
  const { text, read } = readLines(payload.text);
  const marks = /\/\*|\*\//u.test(payload.text) ? COMMENT_MARKS : MARKS_OF_LINES;
  const titles = new Set([...payload.headings.map(plain), payload.documentName]);
  const askedBefore = questionReader(text);
  const statements: Statement[] = [];
  const examples: Example[] = [];
  const [, sender = '', subject = ''] = MAIL.exec(payload.text) ?? [];
  let label = sender.trim();
  let heading = plain(subject);
  const saidAt = new Date(payload.writtenAt ?? payload.createdAt);
  let time = headingTime(payload.headings, saidAt);
  let path: readonly Heading[] = [];
  const outer = outerHeadings(payload.headings, text);
  let above = outer.map((one) => one.text);
  let parents: readonly Parent[] = [];
  for (const [at, sentence] of read.entries()) {
    if (sentence.kind === 'example') {
      const last = statements.at(-1);
      examples.push({ code: sentence.text, heading, above, sentence: last?.heading === heading ? last : null });
      continue;
    }
    if (sentence.kind !== 'prose') {
      const [isCommand, isValue] = [sentence.kind === 'command', sentence.kind === 'value'];
      const marks = { ...(isCommand && { isCommand }), ...(isValue && { isValue }) };
      const named = isValue ? `${label} default`.trim() : label;
      statements.push({ text: sentence.text, label: named, heading, above, time, ...marks });
      continue;
    }
    const line = sentence.text.replace(QUOTED_MARKS, '').replace(marks, '').trim();
    if (!HAS_WORD.test(line) || CODE.test(line) || BOILERPLATE.test(line) || LINKS.test(line)) continue;
    const following = text.slice(sentence.end, read[at + 1]?.start ?? text.length);
    const isFirst = payload.chunkIndex === 0 && statements.length === 0 && label === '' && parents.length === 0;
    const isRunIn = RUN_IN.test(line) && /^[ \t]+\S/u.test(text.slice(sentence.end, sentence.end + NEAR));
    const isTitle =
      isRunIn ||
      (MANUAL_HEADING.test(line) && /^[ \t]*\n[ \t]{2,}\S/u.test(text.slice(sentence.end, sentence.end + NEAR))) ||
      isHeading(line, titles) ||
      (isFirst && isTitleLine(line, following));
    const isLabel = isTitle || (line.length <= MAX_KEY_LENGTH && ENDS_KEY.test(line));
    if (isTitle) {
      heading = isRunIn ? line.slice(0, -1) : plain(line);
      const level = /^[ \t]*(#{1,6})[ \t]/u.exec(line)?.[1]?.length ?? LOWEST_LEVEL;
      path = headingPath(path, { level, text: heading });
      const [first] = path;
      const around = first === undefined ? outer : headingPath(outer, first).slice(0, -1);
      const all = [...around, ...path].map((one) => one.text);
      above = [...new Set(all)].filter((one) => one !== heading);
      time = headingTime(all, saidAt);
    }
    const isItem = ITEM.test(line);
    if (isItem && CONTENTS.test(heading)) continue;
    const indent = sentence.start - text.lastIndexOf('\n', sentence.start - 1) - 1;
    const isKey = isLabel && !isTitle;
    parents = isTitle ? [] : parentsOf(parents, { isKey, isItem, indent });
    const parent = parents.at(-1);
    // An item that only names what is below it is no answer.
    if (parent?.isKey === false && parent.text === statements.at(-1)?.text && isName(parent.text)) statements.pop();
    const said = onOneLine(line.replace(BULLET, ''));
    const asked = askedBefore(sentence, isTitle);
    const last = statements.at(-1);
    const isOnLine = at > 0 && !text.slice(read[at - 1]?.start, sentence.start).includes('\n');
    if (last?.isItem === true && isOnLine && LEAD.test(last.text) && last.text.length + said.length < MAX_ITEM_LENGTH) {
      statements[statements.length - 1] = { ...last, text: `${last.text} ${said}` };
      continue;
    }
    if (isTitle) label = heading;
    else if (!isKey) {
      const keys = parents.map((parent) => parent.text);
      const isBelowKey = parents.some((parent) => parent.isKey);
      const labels = [isBelowKey ? '' : label, ...keys, asked.before].filter((part) => part !== '').join(' ');
      const { isQuestion, isContinued, speaker, asker } = asked;
      statements.push({
        text: said,
        label: labels,
        heading,
        above,
        time,
        ...(asked.before !== '' && { asked: asked.before }),
        ...(isQuestion && { isQuestion }),
        ...(isItem && { isItem }),
        ...(isContinued && { isContinued }),
        ...(isTold && speaker !== null && { speaker }),
        ...(isTold && asker !== null && { asker }),
      });
    }
    if (isKey || isItem)
      parents = [...parents, { isKey, level: indent, text: isKey ? plain(said) : said, isNested: false }];
  }
  if (statements.length > 0) return { statements, examples };
  const only = read.filter((line) => line.kind !== 'example' && HAS_WORD.test(line.text) && !CODE.test(line.text));
  const isTitle = only.length === 1;
  return {
    statements: isTitle ? only.map((line) => ({ text: plain(line.text), label: '', heading: '', time: null })) : [],
    examples,
  };
}

/** The headings above a passage with their levels: as its text has them, else as of headings without a gap between. */
function outerHeadings(headings: readonly string[], text: string): readonly Heading[] {
  const levels = new Map(
    [...text.matchAll(/^[ \t]*(#{1,6})[ \t]+(.+)$/gmu)].map(([, marks = '', title = '']) => [
      plain(title),
      marks.length,
    ]),
  );
  return headings.map(plain).map((heading, at) => ({ level: levels.get(heading) ?? at + 1, text: heading }));
}

/** A key without a value or an item of a list, which those below it belong to. */
interface Parent extends Heading {
  readonly isKey: boolean;
  /** What belongs to it is indented more than it. */
  readonly isNested: boolean;
}

/** Returns the keys and items that a line belongs to. `level`: characters before it. */
function parentsOf(
  parents: readonly Parent[],
  { isKey, isItem, indent }: { readonly isKey: boolean; readonly isItem: boolean; readonly indent: number },
): readonly Parent[] {
  const left = parents.filter(
    (parent) =>
      parent.level < indent || (parent.level === indent && parent.isKey && !parent.isNested && (!isKey || isItem)),
  );
  return left.map((parent) => (parent.isKey && parent.level < indent ? { ...parent, isNested: true } : parent));
}

const isName = (text: string) => text.length <= MAX_KEY_LENGTH && !ENDS_SENTENCE.test(text) && !/: \S/u.test(text);

/** Also a question of one word or of a chat without its mark: `Edda: why`, `Ben: how was it?? where did you go in the end` */
const ASKS_IN_TURN =
  /\?["”)]*$|(?:^|: )(?:but )?(?:why|when|where|who|what|how(?: (?:much|many|long|come))?)(?: (?:tho|though|then|exactly|not))?$|(?:^|: |[?!.…]+ )(?:(?:so|and|but|wait|oh|ok) )?(?:since when|where|what|when|who|why|how|which)(?:['’]?s| (?:did|do|does|is|are|was|were|will|have|has)) (?!.*[.!:])[^.!?:]{2,80}$/iu;

/** Sentences behind a question outside of a conversation that may reply to it, and turns in one. */
const REPLY_SENTENCES = 2;
const REPLY_TURNS = 3;

/**
 * Returns what tells, sentence by sentence, whether one asks and which question before it it replies to. In a conversation
 * each of the others replies with what they say next, until the one who asked speaks again.
 */
function questionReader(text: string) {
  const all = turnsOf(text);
  const turns = isConversation(all) ? all : [];
  let before = '';
  let asker: string | null = null;
  let left = 0;
  let [askedAt, lastTurn] = [0, -1];
  const replies = new Map<string, number>();
  return ({ text: line, start }: Pick<Line, 'text' | 'start'>, isTitle: boolean) => {
    const turnAt = turns.findLastIndex((one) => one.start <= start);
    const turn = turns[turnAt];
    const speaker = turn?.speaker ?? null;
    const isQuestion =
      speaker === null
        ? /\?["”)]*$/u.test(line) && readQuestion(plain(line)).type !== 'topic'
        : ASKS_IN_TURN.test(line);
    const isOver =
      speaker === null ? left === 0 : turnAt - askedAt > REPLY_TURNS || (speaker === asker && replies.size > 0);
    if (isQuestion || isTitle || isOver) {
      before = '';
      asker = null;
      replies.clear();
    }
    left -= 1;
    if (turn !== undefined && asker !== null && speaker !== asker) {
      const last = replies.get(turn.speaker) ?? turnAt;
      // Several messages one after another are one reply.
      if (turnAt - last <= 1) replies.set(turn.speaker, turnAt);
    }
    const isReply = turn === undefined || replies.get(turn.speaker) === turnAt;
    const reply = isReply ? before : '';
    const askedBy = asker;
    if (isQuestion && (!isTitle || MARKDOWN_HEADING.test(line))) {
      [before, asker, left, askedAt] = [onOneLine(plain(line)), speaker, REPLY_SENTENCES, turnAt];
    }
    const isContinued = (turnAt >= 0 && turnAt === lastTurn) || undefined;
    lastTurn = turnAt;
    const replyTo = reply === '' ? null : askedBy;
    return { isQuestion: isQuestion || undefined, isContinued, before: reply, speaker, asker: replyTo };
  };
}

/** The fields of a record are parted by commas. */
function onOneLine(text: string): string {
  return text.replace(/[ \t]*\n(?=[\p{L}][^\n:]{0,30}: \S)/gu, ', ').replace(/\s+/gu, ' ');
}

interface Line {
  readonly kind: 'prose' | 'command' | 'row' | 'value' | 'example';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Writes headings that are underlined with marks. */
function markUnderlined(text: string): string {
  if (!/^(?:={3,}|-{3,})[ \t]*$/mu.test(text)) return text;
  return text.replace(UNDERLINED, (found, line: string, double: string | undefined, at: number) => {
    if (double !== undefined) return `# ${line.trim()}\n`;
    const isParagraph = at === 0 || text.slice(0, at).endsWith('\n\n');
    return isParagraph && HAS_WORD.test(line) && !ENDS_SENTENCE.test(line) && !/[|]|: /u.test(line)
      ? `## ${line.trim()}\n`
      : found;
  });
}

/** Returns sentences, commands, values and rows in their order, and the text with blanks where code and tables stand. */
function readLines(source: string): { readonly text: string; readonly read: readonly Line[] } {
  const whole = markUnderlined(source);
  const read: Line[] = [];
  const blank = (found: string) => found.replace(/[^\n]/gu, ' ');
  const addValues = (code: string, start: number) => {
    for (const value of valuesIn(code))
      read.push({ kind: 'value', ...value, start: start + value.start, end: start + value.end });
  };
  const prose = whole.replace(FENCED_OR_TABLE, (found, ...matched) => {
    const {
      language = '',
      code,
      heads = '',
      rows = '',
    } = matched.at(-1) as Readonly<Record<string, string | undefined>>;
    const start = matched.at(-3) as number;
    const place = { start, end: start + found.length };
    if (code === undefined) for (const row of rowTexts(heads, rows)) read.push({ kind: 'row', text: row, ...place });
    else {
      read.push({ kind: 'example', text: found.trim(), ...place });
      for (const command of commands(language, code)) read.push({ kind: 'command', text: command, ...place });
      if (!SHELL.test(language)) addValues(found, place.start);
    }
    return blank(found);
  });
  // Code on several lines would be read as one sentence.
  const text = prose.replace(/^.+$/gmu, (line, start: number) => {
    const isValue = ASSIGNED.test(line);
    if (!isValue && !CODE.test(line.trim())) return line;
    if (isValue)
      read.push({ kind: 'value', text: onOneLine(line.trim().replace(/[,;]$/u, '')), start, end: start + line.length });
    else addValues(line, start);
    return blank(line);
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

/** Returns the values of constants, variables and parameters in code, as `name = value`. */
function valuesIn(code: string): readonly Omit<Line, 'kind'>[] {
  return [...code.matchAll(VALUE)].map(({ 0: found, index, groups = {} }) => {
    const { name, value, key, other, variable, fallback } = groups;
    return {
      text: `${name ?? key ?? variable} = ${value ?? other ?? fallback}`,
      start: index,
      end: index + found.length,
    };
  });
}

function isHeading(line: string, titles: ReadonlySet<string>): boolean {
  return titles.has(plain(line)) || (MARKDOWN_HEADING.test(line) && (!ENDS_SENTENCE.test(line) || line.endsWith('?')));
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
