import { contentWords, type Question, readQuestion } from './question.ts';
import { type PlacedStatement, putWantedFirst, type RankedSentence, type Sentence } from './rank-sentences.ts';
import { tellingOf } from './told-turns.ts';

/**
 * Whether a sentence of a turn tells of others than the speaker whom the question names, or is nothing of the kind that the
 * question asks of speech.
 */
export function isOfOtherSpeaker({ statement, passage }: PlacedStatement): boolean {
  const telling = tellingOf(passage.payload);
  const { about, speaker, isSpeech } = statement;
  if (telling === null || about === undefined) return false;
  if (telling.speech !== null) return isSpeech !== true;
  if (telling.asked === null || about.includes(telling.asked)) return false;
  return about.length > 0 || speaker !== telling.asked;
}

const SMALL_TALK = new Set(
  `good great nice fine cool awesome fantastic wonderful amazing lovely sorry hear glad love happy thank thanks congrats
  congratulations lucky welcome sure course okay fair enough better well idea sounds sound perfect exactly totally definitely
  absolutely right true wow yay haha woohoo busy fun exciting proud agree agreed bet worry worries problem luck bye see soon
  later talk morning evening afternoon night seriously really poor thing bad long time flies cute aww ouch ooh lol classic told
  knew know same way much lot`.split(/\s+/u),
);

/** Whether a sentence of a turn only greets or comments, and replies to nothing that could be asked again. */
export function isSmallTalk({ statement, passage }: PlacedStatement): boolean {
  const telling = tellingOf(passage.payload);
  if (telling === null || statement.verbatim === undefined) return false;
  const names = new Set(telling.speakers.flatMap((one) => one.toLowerCase().split(' ')));
  const isEmpty = (text: string) => contentWords(text).every((word) => SMALL_TALK.has(word) || names.has(word));
  return isEmpty(statement.text) && (statement.asked === undefined || isEmpty(statement.asked));
}

/** Whether a sentence is one of a turn that is told of. */
export const isTold = (sentence: Pick<Sentence, 'statement'> | undefined): boolean =>
  sentence?.statement.verbatim !== undefined;

/** Returns who says a sentence, for a question that asks who said or suggested something; null for any other. */
export function speakerAsked({ statement, passage }: PlacedStatement): string | null {
  return tellingOf(passage.payload)?.speech?.isWho === true ? (statement.speaker ?? null) : null;
}

/** Puts a reply to a question of the same kind before a sentence about the same that replies to none. */
export function replyFirst(
  { type }: Pick<Question, 'type'>,
  ranked: readonly RankedSentence[],
): readonly RankedSentence[] {
  const [best] = ranked;
  const isReply = ({ statement: { asked } }: RankedSentence) =>
    asked !== undefined && readQuestion(asked).type === type;
  if (best === undefined || !ASKED_IN_TURN.has(type) || tellingOf(best.passage.payload) === null) return ranked;
  // The first words of a reply are the answer.
  if (isReply(best) && best.statement.isContinued !== true) return ranked;
  return putWantedFirst(ranked, SENTENCES_READ, (one) => isReply(one) && one.statement.isContinued !== true);
}

/** Whether a sentence of a turn replies to a question for the same kind of answer. */
export function repliesToSameKind(
  { type }: Pick<Question, 'type'>,
  { statement: { asked, verbatim } }: Pick<Sentence, 'statement'>,
): boolean {
  return verbatim !== undefined && asked !== undefined && ASKED_IN_TURN.has(type) && readQuestion(asked).type === type;
}

const ASKED_IN_TURN: ReadonlySet<string> = new Set(['place', 'date', 'person', 'number', 'reason']);
const SENTENCES_READ = 4;
