import { ownValue, parseJson } from '../../../kernel/json.ts';
import { isRecord } from '../../../kernel/objects.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';

/**
 * A line of a messenger's export: `12/03/2025, 18:04 - Marit: …`, `[12.03.25, 18:04:22] Marit: …`, `3/12/25, 6:04 PM - …`,
 * `[2025-03-12T18:04:00Z] Marit: …`.
 */
const LINE =
  /^\u200e?[[(]?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:,? |T)(\d{1,2}):(\d\d)(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?(?:[ \u202f]?([ap])\.?m\.?)?(?:[\])]| [-–]) ?(.*)$/iu;
/** The same with the name first: `Marit (2025-03-12 18:04): …`. */
const NAME_FIRST = /^(\p{Lu}[^:()[\]\n]{0,40}?) ?[[(]([^\])\n]{12,40})[\])]: (.*)$/u;
const SPEAKER = /^\u200e?([^:\n]{1,60}): (.*)$/u;
/** What stands for a picture or a message that is gone. */
const NO_WORDS =
  /^(?:<[^<>]*>|(?:\p{L}+ ){1,3}(?:omitted|weggelassen|omitido|omise?)|.{1,80}\((?:file attached|Datei angehängt|archivo adjunto|fichier joint)\)|(?:this message was|you) deleted(?: this message)?\.?|Diese Nachricht wurde gelöscht\.?)$/iu;
const MIN_TURNS = 3;
/** Logs look the same. */
const LOG_LEVEL = /^(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE|FATAL)$/u;

interface Message {
  readonly numbers: readonly [number, number, number];
  readonly isDotted: boolean;
  readonly hasHalves: boolean;
  readonly time: string;
  /** Null for what the messenger itself says. */
  readonly speaker: string | null;
  readonly lines: string[];
}

/**
 * Reads the export of a chat: the day as a heading, a turn for each message, without what the messenger itself says. Null for
 * any other text.
 */
export function readChatExport(text: string): DocumentDraft | null {
  if (/^\s*[[{]\s*["{[]/u.test(text)) return readChatJson(text);
  const copied = readCopiedChat(text);
  if (copied !== null) return copied;
  const messages: Message[] = [];
  // One line after the other: most texts are no chat, which the first line says, and a text may have millions of lines.
  for (const [line] of text.trimStart().matchAll(/[^\r\n]+/gu)) {
    const message = messageOf(line.replace(NAME_FIRST, '[$2] $1: $3'));
    if (message !== null) messages.push(message);
    else if (messages.length === 0) return null;
    else messages.at(-1)?.lines.push(line);
  }
  const turns = messages.filter(({ speaker }) => speaker !== null);
  if (turns.length < MIN_TURNS || turns.some(({ speaker }) => LOG_LEVEL.test(speaker ?? ''))) return null;
  const dayOf = dayReader(messages);
  return chatOf(
    messages.flatMap((message) =>
      message.speaker === null
        ? []
        : [{ day: dayOf(message), time: message.time, speaker: message.speaker, words: message.lines.join('\n') }],
    ),
  );
}

/** A line that is nothing but who speaks, as pages of assistants are copied: `You said:`, `**ChatGPT said:**`, `**User**`. */
const SPEAKER_LINE =
  /^(?:\*\*)?(?:(You|User|Human|Me)|ChatGPT|Claude|Gemini|Copilot|Perplexity|Grok|DeepSeek|Assistant|AI)(?: (?:said|asked|wrote|responded|replied))?(?::\*\*|\*\*:?|:)$/u;

/** Reads a conversation with an assistant that stands below lines which name the speaker; null for any other text. */
function readCopiedChat(text: string): DocumentDraft | null {
  if (!/(?:^|\n)(?:\*\*)?(?:You|User|Human|Me)(?: said| asked| wrote)?(?::\*\*|\*\*:?|:)[ \t]*\r?\n/u.test(text))
    return null;
  const messages: { readonly isUser: boolean; readonly lines: string[] }[] = [];
  const before: string[] = [];
  for (const line of text.split(/\r?\n/u)) {
    const mark = SPEAKER_LINE.exec(line.trim());
    if (mark !== null) messages.push({ isUser: mark[1] !== undefined, lines: [] });
    else (messages.at(-1)?.lines ?? before).push(line);
  }
  if (messages.length < MIN_TURNS || new Set(messages.map(({ isUser }) => isUser)).size < 2) return null;
  const chat = chatOf(
    messages.map(({ isUser, lines }) => ({
      day: '',
      time: '',
      speaker: isUser ? 'User' : 'Assistant',
      words: lines.join('\n'),
    })),
  );
  const title = before
    .join('\n')
    .trim()
    .replace(/^#{1,6} /u, '');
  if (title === '') return chat;
  const isHeading = !title.includes('\n');
  const first: DocumentBlock = isHeading
    ? { kind: 'heading', level: 1, text: title }
    : { kind: 'paragraph', text: title };
  return { ...chat, blocks: [first, ...(chat.blocks ?? [])] };
}

/** A text of its own may be the JSON of a chat, or its messages one per line. */
function readChatJson(text: string): DocumentDraft | null {
  const whole = parseJson(text);
  if (whole !== undefined) return readChatRecords(whole);
  const records: unknown[] = [];
  for (const line of text.trim().split('\n')) {
    if (line.trim() === '') continue;
    const record = parseJson(line);
    if (record === undefined) return null;
    records.push(record);
  }
  return readChatRecords(records);
}

interface Said {
  /** '' when it is not known. */
  readonly day: string;
  readonly time: string;
  readonly speaker: string;
  readonly words: string;
}

/** The day as a heading, a turn for each message. */
function chatOf(messages: readonly Said[]): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let last = '';
  for (const { day, time, speaker, words: all } of messages) {
    const words = all.replaceAll('\u200e', '').trim();
    if (words === '' || NO_WORDS.test(words)) continue;
    if (day !== last && day !== '') blocks.push({ kind: 'heading', level: 2, text: day });
    last = day;
    blocks.push({ kind: 'paragraph', text: `${time === '' ? '' : `[${time}] `}${speaker}: ${words}` });
  }
  return { blocks, emptyReason: 'the chat has no words' };
}

const LISTS = ['messages', 'chat_messages', 'conversation'];
const SPEAKERS = [
  'user_profile',
  'speaker',
  'from',
  'author',
  'sender',
  'sender_name',
  'user',
  'username',
  'name',
  'role',
];
const LOG_FIELDS = ['level', 'severity', 'levelname', 'loglevel'];
const NAMES = ['real_name', 'display_name', 'nickname', 'name', 'username', 'role'];
const WORDS = ['text', 'content', 'message', 'body'];
const TIMES = ['ts', 'timestamp', 'timestamp_ms', 'created_at', 'create_time', 'date', 'time'];

/**
 * Reads the messages that Slack, Telegram, Discord and assistants export as JSON: a list of records with who speaks and the
 * words, or a record that holds one. Null for any other JSON.
 */
export function readChatRecords(value: unknown): DocumentDraft | null {
  const list = Array.isArray(value) ? value : firstOf(value, LISTS);
  if (!Array.isArray(list) || list.length < MIN_TURNS) return null;
  const messages = list.map(saidIn).filter((said) => said !== null);
  if (messages.length * 2 <= list.length) return null;
  const speakers = new Set(messages.map(({ speaker }) => speaker)).size;
  const isTimed = messages.every(({ time }) => time !== '');
  const isChat = isTimed ? speakers < messages.length : speakers * 2 <= messages.length;
  return isChat ? chatOf(messages) : null;
}

function saidIn(message: unknown): Said | null {
  const words = plainWords(firstOf(message, WORDS));
  const from = firstOf(message, SPEAKERS);
  const name = typeof from === 'string' ? from : firstOf(from, NAMES);
  // Logs have a name and a message, too.
  if (firstOf(message, LOG_FIELDS) !== undefined) return null;
  if (words === null || typeof name !== 'string' || name.length > MAX_NAME || name.includes('\n')) return null;
  const at = timeOf(firstOf(message, TIMES));
  const speaker = name.charAt(0).toUpperCase() + name.slice(1);
  return { day: at.slice(0, 10), time: at.slice(11, 16), speaker, words };
}

const MAX_NAME = 40;

/** Text, or parts of it, of which some have marks: `["see ", {"type": "link", "text": "the list"}]`. */
function plainWords(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const parts = value.map((part) => (typeof part === 'string' ? part : firstOf(part, ['text'])));
  return parts.every((part) => typeof part === 'string') ? parts.join('') : null;
}

/** Returns the time as `2025-02-06T09:14`, '' for none; numbers count seconds or milliseconds. */
function timeOf(value: unknown): string {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)/u.test(value)) return value;
  const number = Number(value ?? Number.NaN);
  const date = new Date(number > 1e11 ? number : 1000 * number);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** The first of some fields that a record has. */
function firstOf(value: unknown, names: readonly string[]): unknown {
  if (!isRecord(value)) return undefined;
  return names.map((name) => ownValue(value, name)).find((one) => one != null);
}

function messageOf(line: string): Message | null {
  const [, first = '', sign = '', second = '', third = '', hour = '', minute = '', half = '', rest = ''] =
    LINE.exec(line) ?? [];
  if (first === '') return null;
  const [, speaker = null, words = ''] = SPEAKER.exec(rest) ?? [];
  const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return {
    numbers: [Number(first), Number(second), Number(third)],
    isDotted: sign === '.',
    hasHalves: half !== '',
    time: `${String(hours).padStart(2, '0')}:${minute}`,
    speaker: speaker === null ? null : speaker.replace(/^~\s*/u, '').trim(),
    lines: [words],
  };
}

/** Tells day from month by a number above twelve, by full stops, and by the order of the days; `6:04 PM` is American. */
function dayReader(messages: readonly Message[]): (message: Message) => string {
  const isYearFirst = messages.some(({ numbers }) => numbers[0] > 31);
  const months = messages.map(({ numbers: [first, second] }) => ({ first, second }));
  const rises = (keys: readonly number[]) => keys.every((key, at) => at === 0 || key >= (keys[at - 1] ?? 0));
  const keyOf = (year: number, month: number, day: number) => (year * 12 + month) * 31 + day;
  const isMonthFirst =
    !messages.some(({ isDotted }) => isDotted) &&
    !months.some(({ first }) => first > 12) &&
    (months.some(({ second }) => second > 12) ||
      !rises(messages.map(({ numbers: [day, month, year] }) => keyOf(year, month, day))) ||
      messages.some(({ hasHalves }) => hasHalves));
  return ({ numbers: [first, second, third] }) => {
    const [year, month, day] = isYearFirst
      ? [first, second, third]
      : isMonthFirst
        ? [third, first, second]
        : [third, second, first];
    const whole = year < 100 ? 2000 + year : year;
    return [whole, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
  };
}
