import { type EngramError, engramError } from '../../services/common/kernel/errors.ts';
import type { Realm } from './realm.ts';

/** Errors of administrators, with messages for conditions. `store` is for example `MongoDB at host:27017`. */

/** The store cannot be reached, or cannot answer now. */
export function away(store: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} cannot be reached`, { cause, retryable: true });
}

export function tooSlow(store: string, cause: unknown): EngramError {
  return engramError('DeadlineExceededError', `${store} did not answer in time`, { cause, retryable: true });
}

/** The administrator's credentials are wrong or lack a privilege; `look` names the setting to check. */
export function refused(store: string, look: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} refuses the administrator: ${look}`, { cause });
}

/** Any other failure of the store; the cause goes to the log. */
export function failed(store: string, what: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', `${store} failed: ${what}`, { cause, retryable: true });
}

export function unfit(store: string, why: string, cause?: unknown): EngramError {
  return engramError('UnsupportedOperationError', `${store} cannot keep a tenant apart: ${why}`, { cause });
}

/** `found`: the owner in the mark; null when something of that name exists without a mark. */
export function ownedByAnother(store: string, what: string, found: string | null): EngramError {
  const owner = found === null ? 'has no owner' : `belongs to ${found}`;
  return engramError('OwnedByAnother', `${what} in ${store} ${owner}; remove it, or name its owner, by hand`);
}

/** Throws `OwnedByAnother` unless the mark has the owner of the realm. */
export function requireOwner(realm: Realm, found: unknown, store: string, what: string): void {
  if (found === realm.ownerUid) return;
  throw ownedByAnother(store, what, typeof found === 'string' ? found : null);
}

/** Translates errors of the driver to those of the port. An abort rejects with the signal's reason. */
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
