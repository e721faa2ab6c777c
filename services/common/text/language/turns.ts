/** A turn of a conversation, which begins with the name of its speaker: `Anna:`, `[10:42] Tom Okoye (host):`, `Tom (10:42):`, `12/05/2026, 10:42 - Tom:`, `**User:**`. */
export interface Turn {
  /** Offsets of the line and of the first word said. */
  readonly start: number;
  readonly saidAt: number;
  readonly speaker: string;
  /** The time as written before the name; '' without one. */
  readonly time: string;
  readonly said: string;
  /** An item of a list, which may explain a term. */
  readonly isItem: boolean;
  /** Number of Markdown headings before it. */
  readonly section: number;
}

const TURN =
  /^[ \t>*-]{0,8}(?:[[(]([^\])\n]{1,40})[\])][ \t]{0,4}|((?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ \t]{1,4})?\d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?)[ \t]{1,4}(?:[-–][ \t]{0,4})?)?\*{0,2}(\p{Lu}[\p{L}\p{N} .'’-]{0,40}?)(?:[ \t]{0,2}[[(]([^\])\n]{1,30})[\])])?[ \t]{0,2}\*{0,2}:\*{0,2}[ \t]{1,8}(?=(\S[^\n]*))/gmu;
/** Keys of minutes, notes and documentation, which nobody is called. */
const NO_SPEAKER =
  /^(?:to ?do|action(?: items?| points?)?s?|decisions?|agreed|resolved|votes?|present|attend(?:ees|ance)|participants|apologies|absent|date|time|place|location|venue|next meeting|notes?|nb|ps|aob|any other business|owners?|due|deadline|status|topics?|agenda|minutes|budget|reminders?|update|summary|background|result|outcome|follow[- ]ups?|blockers?|risks?|ideas?|feat(?:ures?)?|fix(?:es|ed)?|chore|docs?|refactor|perf|build|revert|breaking(?: changes?)?|added|removed|changed|deprecated|security|defaults?|required|types?|returns?|throws|usage|examples?|warning|important|tip|caution)$/iu;
const TIME = /\d{1,2}:\d\d(?::\d\d)?/u;
const HEADING = /^#{1,6}[ \t]/gmu;
const USER = /^(?:User|Human|Me|Question|Q|Owner)$/u;
const ASSISTANT = /^(?:Assistant|AI|Bot|System|Answer|A|Agent|Model)$/u;

/** Returns the lines that begin with a name and what it says, in order; `key: value` looks the same (`isConversation`). */
export function turnsOf(text: string): readonly Turn[] {
  if (!text.includes(':')) return [];
  const headings = text.includes('# ') ? [...text.matchAll(HEADING)].map(({ index }) => index) : [];
  let section = 0;
  return [...text.matchAll(TURN)]
    .filter(({ 3: speaker = '' }) => !NO_SPEAKER.test(speaker))
    .map(({ 0: mark, 1: note = '', 2: time = '', 3: speaker = '', 4: behind = '', 5: said = '', index }) => {
      while ((headings[section] ?? index) < index) section += 1;
      return {
        start: index,
        saidAt: index + mark.length,
        speaker,
        said,
        isItem: /^[ \t>]*[-*][ \t]/u.test(mark),
        time: time || ([note, behind].find((one) => TIME.test(one)) ?? ''),
        section,
      };
    });
}

/** Returns who speaks first when a text begins with a turn, else null; reads no more of it than its first line. */
export function firstSpeaker(text: string): string | null {
  const [line = ''] = text.trimStart().split('\n', 1);
  return turnsOf(line)[0]?.speaker ?? null;
}

/** Which side of a conversation a name only says: `User:`. */
export function roleOf(speaker: string): 'user' | 'assistant' | null {
  if (USER.test(speaker)) return 'user';
  return ASSISTANT.test(speaker) ? 'assistant' : null;
}

/**
 * Whether turns are speech rather than keys with their values or terms of a list: two at least, all with a time, most of them
 * sentences, or some where names return. Those alone in their sections are keys of minutes: `Chair: …`, `Next meeting: …`.
 */
export function isConversation(all: readonly Turn[]): boolean {
  const bySpeaker = Map.groupBy(all, ({ speaker }) => speaker);
  // `- Albedo: the share of light that a surface throws back.`
  const turns = all.filter(({ isItem, speaker }) => !isItem || (bySpeaker.get(speaker)?.length ?? 0) > 1);
  if (turns.length < 2) return false;
  if (turns.every(({ time }) => time !== '')) return true;
  const inSection = Map.groupBy(turns, ({ section }) => section);
  if (turns.every(({ section, speaker }) => inSection.get(section)?.length === 1 && roleOf(speaker) === null))
    return false;
  const isSpeech = ({ speaker, said }: Turn): boolean =>
    roleOf(speaker) !== null || /[.!?…]["”)]*\s*$/u.test(said) || /\b(?:I|you|we|me|my)\b/u.test(said);
  const returns = new Set(turns.map(({ speaker }) => speaker)).size * 2 <= turns.length;
  return turns.filter(isSpeech).length * 3 >= turns.length * (returns ? 1 : 2);
}

/** Returns the name of a person by a mail address: `Ann Lee` for `Ann Lee <al@example.com>` and for `ann.lee@example.com`. */
export function personOfAddress(address: string): string {
  const named = /^\s*"?([^"<>]*?)"?\s*<[^<>]*>\s*$/u.exec(address)?.[1]?.trim() ?? '';
  if (named !== '') return named.replace(/^([^,]+), ([^,]+)$/u, '$2 $1');
  const bare = address.replace(/^\s*<|>\s*$/gu, '').trim();
  const words = (bare.split('@')[0] ?? '').split(/[._+-]+/u).filter((word) => /\p{L}/u.test(word));
  return words.length === 0 ? bare : words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
