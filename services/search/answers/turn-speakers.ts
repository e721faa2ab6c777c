import { isConversation, roleOf, turnsOf } from '../../common/text/language/turns.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';
import { pronounReader } from './told-turns.ts';

/** A statement of a passage, with who says it: a name, or `User` and the like; null outside of turns. */
interface SpokenStatement {
  readonly statement: Statement;
  readonly speaker: string | null;
  /** The statement without the name of its speaker, with the relative whom its first pronoun means: `my mum loves roses`. */
  readonly said: string;
}

/** Returns the statements of a passage with their speakers, by the name before a turn or by a heading that is a role. */
export function spokenStatements(passage: ReadPassage): readonly SpokenStatement[] {
  const turns = turnsOf(passage.payload.text);
  const areTurns = isConversation(turns) || (turns.length === 1 && turns[0]?.start === 0);
  let last: string | null = null;
  const meaning = pronounReader();
  return statementsOf(passage).map((statement, at) => {
    const [turn] = areTurns ? turnsOf(statement.text) : [];
    const isTurn = turn?.start === 0;
    if (isTurn) last = turn.speaker;
    else if (statement.isContinued !== true) last = null;
    const heading = roleOf(statement.heading) === null ? null : statement.heading;
    return {
      statement,
      speaker: last ?? heading,
      said: meaning(isTurn ? statement.text.slice(turn.saidAt) : statement.text, at),
    };
  });
}

/** Whether a speaker is who asks of `me`: whoever writes notes, and the user of an assistant. */
export const isAsker = (speaker: string | null): boolean => speaker === null || roleOf(speaker) === 'user';

/**
 * Returns who `I` is in what a speaker says, for a question of somebody: `self` for that one, `other` for somebody else, and null
 * when the question is in the first person and the speaker is not who asks.
 */
export function saysOf(whose: string, speaker: string | null): 'self' | 'other' | null {
  if (whose === 'I' || /^(?:my|our) /iu.test(whose)) return isAsker(speaker) ? 'self' : null;
  const first = whose.split(/[ '’]/u)[0] ?? whose;
  return speaker !== null && speaker.split(' ')[0] === first ? 'self' : 'other';
}

/** Says of whom a question is as the speaker says it whom it names: `I` for `Ana`, `my sister` for `Ana's sister`. */
export function inOwnWords(whose: string): string {
  const relative = /['’]s (.+)$/u.exec(whose)?.[1];
  return relative === undefined ? (/^(?:my|our) /iu.test(whose) ? whose : 'I') : `my ${relative}`;
}

/** Returns the statements of a passage that may tell of somebody; `isSelf`: that one says it. */
export function statementsBy(whose: string, passage: ReadPassage) {
  return spokenStatements(passage).flatMap(({ statement, speaker, said }) => {
    const teller = saysOf(whose, speaker);
    return teller === null ? [] : [{ statement, said, isSelf: teller === 'self' }];
  });
}
