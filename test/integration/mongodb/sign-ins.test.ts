import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createLinkedIdentities,
  linkedIdentitiesCollection,
} from '../../../services/auth/repositories/linked-identities.ts';
import {
  createSignInAttempts,
  signInAttemptsCollection,
} from '../../../services/auth/repositories/sign-in-attempts.ts';
import type { UserId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../../services/common/kernel/scope.ts';
import { removeOfWrite } from '../../../services/common/records/collections.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { DuplicateKeyError } from '../../../services/common/storage/ports/document-store.ts';
import { withBackend } from '../backend.ts';
import { openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describe('sign-ins with a provider on MongoDB', () => {
    let database: Awaited<ReturnType<typeof openDatabase>>;
    const openStore = async () => {
      const store = createMongodbDocumentStore(database.connection);
      await store.prepare([signInAttemptsCollection, linkedIdentitiesCollection]);
      return store;
    };
    before(async () => {
      database = await openDatabase(url);
    });
    after(() => database.dispose());

    it('are finished by one of two replicas', async () => {
      const replicas = [createSignInAttempts(await openStore()), createSignInAttempts(await openStore())];
      const attempt = { provider: 'corp', browser: 'b', nonce: 'n', codeVerifier: 'v', returnTo: null };
      const [one] = replicas;
      await one?.add('state', { ...attempt, expiresAt: '2100-01-01T00:00:00.000Z' }, new Date());
      const taken = await Promise.all([...replicas, ...replicas].map((replica) => replica.take('state')));
      expect(taken.filter(Boolean)).to.have.length(1);
    });

    it('link one identity of an issuer to an account, and one account to an identity', async () => {
      const store = await openStore();
      const links = createLinkedIdentities(store);
      const userId = asId<UserId>(randomUUID());
      const link = { issuer: 'https://id.example.com', subject: 'ada', userId, joinedTenants: [], createdAt: '' };
      await store.commit(SYSTEM_SCOPE, [links.insertWrite(link)]);
      const indexOf = async (changes: Partial<typeof link>): Promise<readonly string[]> => {
        try {
          await store.commit(SYSTEM_SCOPE, [links.insertWrite({ ...link, ...changes })]);
        } catch (error) {
          if (error instanceof DuplicateKeyError) return error.index;
          throw error;
        }
        return [];
      };
      expect(await indexOf({ subject: 'eve' })).to.include('userId');
      expect(await indexOf({ userId: asId(randomUUID()) })).to.deep.equal(['id']);
      expect(await indexOf({ issuer: 'https://other.example.com' })).to.deep.equal([]);
      expect(await links.find('https://id.example.com', 'ada')).to.deep.equal(link);
      await store.commit(SYSTEM_SCOPE, [removeOfWrite(linkedIdentitiesCollection, 'user', userId)]);
      expect(await links.ofUser(userId)).to.deep.equal([]);
    });
  });
});
