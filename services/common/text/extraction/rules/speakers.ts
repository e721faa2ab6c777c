import type { AnalysedSentence, Mention } from './mention.ts';

/** `Anna:`, `[10:42] Tom Okoye:`, `**User:**` at the beginning of a line, with the first words said. */
const TURN =
  /^[ \t>*-]{0,8}(?:[[(][^\])\n]{1,40}[\])][ \t]{0,4}|\d{1,2}:\d\d(?::\d\d)?[ \t]{1,4}(?:-[ \t]{0,4})?)?\*{0,2}(\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2})(?:[ \t]{0,2}[[(][^\])\n]{1,30}[\])])?\*{0,2}:\*{0,2}[ \t]{1,8}(\S[^\n]*)/gmu;
const USER = /^(?:User|Human|Me|Question|Q|Owner)$/u;
const ASSISTANT = /^(?:Assistant|AI|Bot|System|Answer|A|Agent|Model)$/u;

/** Whether a name in front of a turn only says which side speaks: `User:`. */
export function isRole({ name, end }: Mention, { sentence }: AnalysedSentence): boolean {
  return (USER.test(name) || ASSISTANT.test(name)) && /^\**:/u.test(sentence.text.slice(end));
}

/**
 * Returns who speaks in each sentence: in a conversation the name before the turn, else the speaker of the document. Null:
 * nobody who is known, such as an assistant.
 */
export function speakersOf(
  text: string,
  sentences: readonly AnalysedSentence[],
  speaker: string | undefined,
): (index: number) => string | null {
  const own = speaker ?? null;
  const turns = [...text.matchAll(TURN)].map(({ index, 1: name = '', 2: said = '' }) => ({ index, name, said }));
  const isSpeech = ({ name, said }: (typeof turns)[number]): boolean =>
    USER.test(name) || ASSISTANT.test(name) || /[.!?…]["”)]*\s*$/u.test(said) || /\b(?:I|you|we)\b/u.test(said);
  if (turns.length < 2 || turns.filter(isSpeech).length * 3 < turns.length * 2) return () => own;
  return (index) => {
    const { sentence } = sentences[index] as AnalysedSentence;
    const turn = turns.findLast((one) => one.index < sentence.end);
    if (turn === undefined || USER.test(turn.name)) return own;
    return ASSISTANT.test(turn.name) ? null : turn.name;
  };
}
