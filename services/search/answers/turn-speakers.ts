import { isConversation, roleOf, turnsOf } from '../../common/text/language/turns.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { type Statement, statementsOf } from './statements.ts';

/** A statement of a passage, with who says it: a name, or `User` and the like; null outside of turns. */
interface SpokenStatement {
  readonly statement: Statement;
  readonly speaker: string | null;
  /** The statement without the name of its speaker. */
  readonly said: string;
}

/** Returns the statements of a passage with their speakers, by the name before a turn or by a heading that is a role. */
export function spokenStatements(passage: ReadPassage): readonly SpokenStatement[] {
  const turns = turnsOf(passage.payload.text);
  const areTurns = isConversation(turns) || (turns.length === 1 && turns[0]?.start === 0);
  let last: string | null = null;
  return statementsOf(passage).map((statement) => {
    const [turn] = areTurns ? turnsOf(statement.text) : [];
    const isTurn = turn?.start === 0;
    if (isTurn) last = turn.speaker;
    else if (statement.isContinued !== true) last = null;
    const heading = roleOf(statement.heading) === null ? null : statement.heading;
    return { statement, speaker: last ?? heading, said: isTurn ? statement.text.slice(turn.saidAt) : statement.text };
  });
}

/** Whether a speaker is who asks of `me`: whoever writes notes, and the user of an assistant. */
export const isAsker = (speaker: string | null): boolean => speaker === null || roleOf(speaker) === 'user';
