import { sha256 } from '../../common/kernel/hashes.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { type DocumentStore, insert, remove, removeWhere } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** A sign-in at a provider that was started in a browser. */
export type SignInAttempt = {
  readonly provider: string;
  /** Hash of the cookie that the browser got. */
  readonly browser: string;
  readonly nonce: string;
  /** PKCE (RFC 7636). */
  readonly codeVerifier: string;
  /** Validated address to send the browser to afterwards. */
  readonly returnTo: string | null;
  /** ISO-8601 */
  readonly expiresAt: string;
};

export const signInAttemptsCollection: OwnedCollection<SignInAttempt> = {
  name: 'sign_in_attempts',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [{ fields: ['expiresAt'] }],
};

/** Attempts by the `state` of their request, which is stored as a hash. */
export function createSignInAttempts(store: DocumentStore) {
  return {
    /** Also removes attempts that expired before `now`. */
    async add(state: string, attempt: SignInAttempt, now: Date): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [
        removeWhere(signInAttemptsCollection, { expiresAt: { lessThan: now.toISOString() } }),
        insert(signInAttemptsCollection, attemptId(state), attempt),
      ]);
    },
    async get(state: string): Promise<SignInAttempt | null> {
      return (await store.get(SYSTEM_SCOPE, signInAttemptsCollection, attemptId(state)))?.value ?? null;
    },
    /** Uses an attempt up; true for one caller only. */
    async take(state: string): Promise<boolean> {
      const [removed] = await store.commit(SYSTEM_SCOPE, [remove(signInAttemptsCollection, attemptId(state))]);
      return removed?.changed === 1;
    },
  };
}

function attemptId(state: string): string {
  return sha256(state);
}
