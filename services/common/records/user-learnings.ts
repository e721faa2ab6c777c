import { type SessionKey, sessionDocumentId } from '../domain/session.ts';
import type { UserId } from '../kernel/brand.ts';
import type { Scope, SystemScope } from '../kernel/scope.ts';
import { type AnyCollection, type DocumentStore, removeWhere } from '../storage/ports/document-store.ts';
import { ownerField } from '../storage/ports/owned-collection.ts';
import { ownedBy } from './collections.ts';
import { distillationsCollection } from './improve/distillations.ts';
import { preferenceProgressCollection } from './improve/preferences.ts';

/** Data that datasets have learned of their users: removed with the dataset, and with the user. */
export const userLearningCollections = ownedBy('improve').filter(
  (collection) => collection.level === 'dataset' && ownerField(collection, 'user') === 'userId',
);

/** How far sessions were read: removed with the session. */
const progressCollections: readonly AnyCollection[] = [distillationsCollection, preferenceProgressCollection];

export function createUserLearnings(store: DocumentStore) {
  return {
    /** In the datasets of a tenant, or under `SystemScope` in all. Repeating is harmless. */
    async removeOfUser(scope: Scope | SystemScope, user: UserId): Promise<void> {
      // One commit each: great numbers go in parts.
      for (const collection of userLearningCollections) {
        await store.commit(scope, [removeWhere(collection, { userId: user })]);
      }
    },
    async removeOfSession({ tenant }: Scope, key: SessionKey): Promise<void> {
      const writes = progressCollections.map((collection) => removeWhere(collection, { id: sessionDocumentId(key) }));
      await store.commit({ tenant }, writes);
    },
  };
}
