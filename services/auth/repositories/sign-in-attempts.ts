import { hash } from 'node:crypto';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { type DocumentStore, insert, remove, removeWhere } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** What a browser was sent to a provider with, until it comes back. */
export type SignInAttempt = {
  readonly provider: string;
  /** Hash of the cookie that the browser was given. */
  readonly browser: string;
  readonly nonce: string;
  /** PKCE (RFC 7636). */
  readonly codeVerifier: string;
  /** Checked address to send the browser to afterwards. */
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

export type SignInAttempts = ReturnType<typeof createSignInAttempts>;

/** By the `state` of the request, of which a hash is stored. */
export function createSignInAttempts(store: DocumentStore) {
  return {
    /** Also drops those that have expired before `now`. */
    async add(state: string, attempt: SignInAttempt, now: Date): Promise<void> {
      await store.commit(SYSTEM_SCOPE, [
        removeWhere(signInAttemptsCollection, { expiresAt: { lessThan: now.toISOString() } }),
        insert(signInAttemptsCollection, attemptId(state), attempt),
      ]);
    },
    async get(state: string): Promise<SignInAttempt | null> {
      return (await store.get(SYSTEM_SCOPE, signInAttemptsCollection, attemptId(state)))?.value ?? null;
    },
    /** True for one caller only. */
    async take(state: string): Promise<boolean> {
      const [removed] = await store.commit(SYSTEM_SCOPE, [remove(signInAttemptsCollection, attemptId(state))]);
      return removed?.changed === 1;
    },
  };
}

function attemptId(state: string): string {
  return hash('sha256', state, 'hex');
}
