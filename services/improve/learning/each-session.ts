import type { SessionKey } from '../../common/domain/session.ts';
import { clientMessage, isEngramError } from '../../common/kernel/errors.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ImprovePass, StageOutcome } from '../stage.ts';

/** Where the sessions of a pass and what they taught are kept: the caller's tenant, whoever has the dataset. */
export function sessionScope({ principal }: ImprovePass): Scope {
  return { tenant: principal.tenant };
}

export function isBudgetError(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'LLMPaymentRequiredError';
}

export interface SessionFailures {
  readonly count: number;
  /** Of the last one, as a caller may read it; null without any. */
  readonly error: string | null;
}

/**
 * One session after the other, each once. One that fails does not keep the next from being worked on; an exhausted budget
 * and an abort end everything.
 */
export async function eachSession(
  { logger, stage }: { readonly logger: Logger; readonly stage: string },
  pass: ImprovePass,
  work: (key: SessionKey) => Promise<void>,
): Promise<SessionFailures> {
  const keys = new Map(pass.sessions.map((key) => [`${key.user}/${key.session}`, key]));
  let count = 0;
  let error: string | null = null;
  for (const key of keys.values()) {
    pass.signal.throwIfAborted();
    try {
      await work(key);
    } catch (reason) {
      pass.signal.throwIfAborted();
      if (isBudgetError(reason)) throw reason;
      logger.warn('improve.session_failed', { stage, dataset: pass.dataset.id, error: reason });
      count += 1;
      error = readable(reason);
    }
  }
  return { count, error };
}

/** Completed, or errored with the last failure. */
export function outcomeOf(failures: SessionFailures, counts: Readonly<Record<string, number>>): StageOutcome {
  if (failures.error === null) return { status: 'completed', counts };
  return { status: 'errored', error: failures.error, counts };
}

function readable(error: unknown): string {
  if (isEngramError(error)) return `${error.wireName}: ${clientMessage(error)}`;
  return 'CogneeSystemError: The session could not be worked on.';
}
