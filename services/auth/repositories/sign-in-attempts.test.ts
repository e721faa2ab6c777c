import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createSignInAttempts, signInAttemptsCollection } from './sign-in-attempts.ts';

async function newAttempts() {
  const store = createMemoryDocumentStore();
  await store.prepare([signInAttemptsCollection]);
  return { store, attempts: createSignInAttempts(store) };
}

function attemptUntil(expiresAt: string) {
  return { provider: 'corp', browser: 'hash', nonce: 'nonce', codeVerifier: 'verifier', returnTo: null, expiresAt };
}

describe('sign-in attempts', () => {
  it('can be taken once', async () => {
    const { attempts } = await newAttempts();
    await attempts.add('state', attemptUntil('2026-01-01T00:10:00.000Z'), new Date('2026-01-01T00:00:00Z'));
    expect(await attempts.get('state')).to.include({ provider: 'corp', nonce: 'nonce' });
    const taken = await Promise.all(Array.from({ length: 10 }, () => attempts.take('state')));
    expect(taken.filter(Boolean)).to.have.length(1);
    expect(await attempts.get('state')).to.equal(null);
    expect(await attempts.take('other')).to.equal(false);
  });

  it('are removed after their expiry, with the next attempt', async () => {
    const { store, attempts } = await newAttempts();
    await attempts.add('old', attemptUntil('2026-01-01T00:10:00.000Z'), new Date('2026-01-01T00:00:00Z'));
    await attempts.add('new', attemptUntil('2026-01-01T00:20:00.001Z'), new Date('2026-01-01T00:10:00.001Z'));
    expect(await store.count(SYSTEM_SCOPE, signInAttemptsCollection, {})).to.equal(1);
    expect(await attempts.get('old')).to.equal(null);
  });
});
