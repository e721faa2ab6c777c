import { STOP_WORDS } from '../../language/stop-words.ts';
import { isConversation, roleOf, type Turn, turnsOf } from '../../language/turns.ts';
import type { AnalysedSentence, Mention } from './mention.ts';

/** Up to three words: a longer line before a colon is a title. */
const NAME = /^\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}$/u;

/** Whether a name in front of a turn only says which side speaks: `User:`. */
export function isRole({ name, end }: Mention, { sentence }: AnalysedSentence): boolean {
  return roleOf(name) !== null && /^\**:/u.test(sentence.text.slice(end));
}

const INTERJECTION =
  /^(?:ph+ew|btw|lol|omg|wow+|wo+ho+|ya+y|ye+ah*|yep|yup|nope|nah|ha(?:ha)+|he(?:he)+|hmm+|huh|ooh+|aw+|ouch|oops|hey+|hi+|hello|hiya|bye|ciao|cheers|congrats|congratulations|thanks|thx|pls|please|ok(?:ay)?|cool|nice+|great|awesome|amazing|fantastic|jealous|cute|mostly|classic|legend|seriously|morning|imo|tbh|idk|fyi)$/iu;

/** Whether a mention is a word that people say in a chat and that names nothing: `Phew`, `WHAT`. `names`: in lower case. */
export function isInterjection({ name }: Pick<Mention, 'name'>, names: ReadonlySet<string>): boolean {
  const word = name.toLowerCase();
  return !names.has(word) && (STOP_WORDS.has(word) || INTERJECTION.test(word));
}

/** The turns of a text that is a conversation; none of any other text. */
export function conversationOf(text: string): readonly Turn[] {
  const turns = turnsOf(text).filter((turn) => NAME.test(turn.speaker));
  return isConversation(turns) ? turns : [];
}

/**
 * Returns who speaks in each sentence: in a conversation the name before the turn, else the speaker of the document. Null:
 * nobody who is known, such as an assistant.
 */
export function speakersOf(
  { text, turns }: { readonly text: string; readonly turns: readonly Turn[] },
  sentences: readonly AnalysedSentence[],
  speaker: string | undefined,
): (index: number) => string | null {
  const own = speaker ?? null;
  if (turns.length === 0) {
    const said = saidBy(text, sentences);
    const outside = /^>/mu.test(text) ? outsideQuotations(text, sentences, own) : () => own;
    return said === null ? outside : (index) => said(index) ?? outside(index);
  }
  return (index) => {
    const { sentence } = sentences[index] as AnalysedSentence;
    const turn = turns.findLast((one) => one.start < sentence.end);
    const role = turn === undefined ? 'user' : roleOf(turn.speaker);
    if (turn === undefined || role === 'user') return own;
    return role === 'assistant' ? null : turn.speaker;
  };
}

/** `On 3 March 2025, Tom Becker wrote:` */
const WRITER =
  /^[> \t]*(?:On|Am|Le|El) [^\n]{4,80}?[,:] (\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){1,2})(?: <[^<>\n]{1,80}>)? wrote:/mu;

/** Lines of a mail behind `>` are those of whom it answers; nobody who is known when it does not say who that is. */
function outsideQuotations(text: string, sentences: readonly AnalysedSentence[], own: string | null) {
  const writer = WRITER.exec(text)?.[1] ?? null;
  return (index: number): string | null => {
    const { start } = (sentences[index] as AnalysedSentence).sentence;
    return text[text.lastIndexOf('\n', start) + 1] === '>' ? writer : own;
  };
}

/** `Beatrix writes: I bought …`, `Devon replied on 10 March: Thank you …`, at the beginning of a line. */
const SAYING =
  /^(\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30}){0,2}) (?:writes|wrote|replie[sd]|answer(?:s|ed)|comment(?:s|ed)|add(?:s|ed)|says|said|report(?:s|ed))(?: (?:on|at) [^:\n]{1,40}| (?:back|again))?: /gmu;

/** Who says what is quoted line by line; null for a text without such lines. */
function saidBy(text: string, sentences: readonly AnalysedSentence[]): ((index: number) => string | null) | null {
  const lines = [...text.matchAll(SAYING)].filter(([, name = '']) => !STOP_WORDS.has(name.toLowerCase()));
  if (lines.length === 0) return null;
  return (index) => {
    const { end } = (sentences[index] as AnalysedSentence).sentence;
    return lines.findLast((line) => line.index + line[0].length < end)?.[1] ?? null;
  };
}
