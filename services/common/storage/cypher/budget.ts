import { engramError } from '../../kernel/errors.ts';

/** Limits of one query on the embedded graph. Neo4j has its own for time and memory; rows and the answer's size are the same. */
export interface Budget {
  /** Called for each node, edge and row that is looked at. Throws when the time is over or the caller has given up. */
  step(): void;
  /** Called with the weight of what is kept until the end: rows of a sort, members of a group. See `weightOf`. */
  hold(weight: number): void;
}

export const DEFAULT_ROWS = 1000;
export const DEFAULT_TIMEOUT_MS = 10_000;
/** Characters of an answer as JSON. */
export const MAX_ANSWER_LENGTH = 5_000_000;

const STEPS_BETWEEN_CHECKS = 1024;
/** About bytes. */
const MAX_HELD = 200_000_000;

export function tookTooLong(timeoutMs: number) {
  return engramError('DeadlineExceededError', `The query took longer than ${timeoutMs} ms.`);
}

export function createBudget(timeoutMs: number, isCancelled: () => boolean = () => false): Budget {
  const end = performance.now() + timeoutMs;
  let steps = 0;
  let held = 0;
  return {
    step() {
      steps += 1;
      if (steps % STEPS_BETWEEN_CHECKS !== 0) return;
      if (isCancelled() || performance.now() > end) throw tookTooLong(timeoutMs);
    },
    hold(weight) {
      held += weight;
      if (held > MAX_HELD) throw engramError('CypherSearchError', 'The query needs too much memory.');
    },
  };
}
