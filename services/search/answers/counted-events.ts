import { personPattern } from './person-pattern.ts';
import { contentWords, wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { isSaid } from './slots.ts';
import type { Statement } from './statements.ts';
import { inOwnWords, saysOf, spokenStatements } from './turn-speakers.ts';

/** A time that something happened, as a text tells it. */
interface ToldEvent {
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

interface ToldEvents {
  readonly count: number;
  readonly events: readonly ToldEvent[];
}

/** Says of a place that somebody was there. */
const GONE = /^(?:went|go|gone|been|was|travelled|traveled|flew|trip|holiday|stayed)$/u;
const IT = /\b(?:it|them|him|her|this|that)\b/iu;
/** `in 2018 and again in 2023` */
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/gu;

const ASKS =
  /^[Hh]ow (?:many times|often) (?:did|have|has|was|were|had) (?<whose>I|my \p{Ll}+|[\p{Lu}][\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)?(?:['’]s \p{Ll}+)?) (?:already |ever |actually )?(?<deed>[^?]{3,80}?)(?: (?:so far|in total|altogether|already|up to now))?\??$/u;
/** Says how often by itself, or what is usual. */
const COUNTED = /\b(?:once|twice|thrice|times|usually|always|every|each|often|daily|weekly|rarely|sometimes)\b/iu;
const UNREAL =
  /n['’]t\b|\b(?:not|never|nearly|almost|will|going to|want(?:s|ed)?|would|could|should|might|may|if|hope[sd]?|plan(?:s|ned|ning)?|tr(?:y|ies|ied)|refused?|dreamt|dreamed|afraid|tomorrow|next)\b|['’]ll\b|^(?:Not|Never|Nearly|Almost|If|Hope|Will|Would)\b/u;
const AGAIN = /\b(?:again|another|once more|second|third|fourth|fifth|also|too)\b/iu;

/**
 * Returns the times that passages tell that somebody did what a question counts (`How many times did Petra fall off her bike?`), in
 * their order; null for another question, for fewer than two, and when a sentence says the number itself.
 */
export function toldEvents(question: string, passages: readonly ReadPassage[]): ToldEvents | null {
  const { whose = '', deed = '' } = ASKS.exec(question.trim())?.groups ?? {};
  const isVisit = /^(?:been )?(?:to|in) \p{Lu}/u.test(deed) && /\bbeen\b/u.test(question);
  const [verb, ...objects] = isVisit ? ['visit', ...contentWords(deed)] : contentWords(deed);
  if (verb === undefined) return null;
  const isDone = (words: readonly string[]) =>
    isSaid(verb, words) || words.includes(verb) || (isVisit && words.some((word) => GONE.test(word)));
  const asked = /^I$/iu.test(whose) ? 'I' : whose;
  const [by, own] = [personPattern(asked), personPattern(inOwnWords(asked))];
  const events: ToldEvent[] = [];
  let count = 0;
  for (const passage of passages) {
    let isBefore = false;
    let previous: readonly string[] = [];
    for (const { statement, speaker, said } of spokenStatements(passage)) {
      // `My drone is gone, too. Crashed it into the sea.`
      const before = statement.isContinued === true && IT.test(said) ? previous : [];
      previous = contentWords(said);
      const teller = saysOf(asked, speaker);
      if (teller === null || statement.isQuestion === true) continue;
      const words = contentWords(said);
      const deeds = wordsOf(said).filter((word) => isDone([word]));
      if (UNREAL.test(said) || !isOf(teller === 'self' ? own : by, teller === 'self', deeds, said)) continue;
      const isWhole = objects.every((word) => isSaid(word, [...words, ...before]));
      if (!isWhole && !(isBefore && AGAIN.test(said))) continue;
      if (COUNTED.test(said.replace(/\bat once\b/iu, ''))) return null;
      isBefore = true;
      if (events.some((one) => isSameEvent(one, statement, said))) continue;
      events.push({ passage, statement });
      count += AGAIN.test(said) ? Math.max(1, new Set(said.match(YEAR)).size) : 1;
    }
  }
  return count < 2 ? null : { count, events };
}

/** Words between somebody and what that one did, without another subject. */
const BETWEEN =
  "(?:['’]\\p{L}+)?(?: (?!(?:my|our|his|her|their|your|he|she|they|it|you|we|who|which|that)\\b)[\\p{Ll}'’-]+){0,4}? ";
const OPENING = '^[-*•\\s]*(?:(?:Again|Then|Yesterday|Today|Just|Finally|Also),? )?';

/** Whether a sentence says that somebody did something or had it done: `I fell`, `A dog bit me`, `Fell off again.` of who says it. */
function isOf(who: string, isSelf: boolean, deeds: readonly string[], said: string): boolean {
  if (deeds.length === 0) return false;
  const deed = `(?:${deeds.map((word) => `[${word.charAt(0)}${word.charAt(0).toUpperCase()}]${RegExp.escape(word.slice(1))}`).join('|')})(?![\\p{L}\\d])`;
  const object = isSelf ? `(?:me\\b|${who})` : who;
  const forms = [`${who}${BETWEEN}${deed}`, `${deed}[^.;:]{0,20}? ${object}`, ...(isSelf ? [`${OPENING}${deed}`] : [])];
  return forms.some((form) => new RegExp(form, 'u').test(said));
}

/** Whether two statements tell of one event: on one day, and the second one does not say that it was another one. */
function isSameEvent({ statement }: ToldEvent, other: Statement, said: string): boolean {
  if (statement.text === other.text) return true;
  const isSameDay = statement.heading !== '' && statement.heading === other.heading;
  return isSameDay && !AGAIN.test(said);
}
