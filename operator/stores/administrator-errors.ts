import { type EngramError, engramError } from '../../services/common/kernel/errors.ts';
import type { Realm } from './realm.ts';

/** What an administrator of a store can say, each with the sentence for a condition. `store` is like `MongoDB at host:27017`. */

/** The store is away, or cannot answer just now. */
export function away(store: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} cannot be reached`, { cause, retryable: true });
}

export function tooSlow(store: string, cause: unknown): EngramError {
  return engramError('DeadlineExceededError', `${store} did not answer in time`, { cause, retryable: true });
}

/** The credentials of the administrator are wrong, or may not do this; `look` says where to look. */
export function refused(store: string, look: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} refuses the administrator: ${look}`, { cause });
}

/** The store failed in a way that none of these sentences is about; the cause goes to the log. */
export function failed(store: string, what: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} failed: ${what}`, { cause, retryable: true });
}

export function unfit(store: string, why: string, cause?: unknown): EngramError {
  return engramError('UnsupportedOperationError', `${store} cannot keep a tenant apart: ${why}`, { cause });
}

/** `found` is the owner that is noted there; null where something of the name is there without a note. */
export function ownedByAnother(store: string, what: string, found: string | null): EngramError {
  const owner = found === null ? 'says of no owner' : `belongs to ${found}`;
  return engramError('OwnedByAnother', `${what} in ${store} ${owner}; remove it, or name its owner, by hand`);
}

/** Throws `OwnedByAnother` unless the owner that is noted is the realm's. */
export function requireOwner(realm: Realm, found: unknown, store: string, what: string): void {
  if (found === realm.ownerUid) return;
  throw ownedByAnother(store, what, typeof found === 'string' ? found : null);
}

/** The driver's errors as the port's, by `translate`. An abort rejects with the signal's reason. */
export async function translatingErrors<T>(
  signal: AbortSignal,
  translate: (error: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw translate(error);
  }
}
