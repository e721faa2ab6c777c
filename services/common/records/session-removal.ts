import { type SessionKey, sessionDocumentId } from '../domain/session.ts';
import type { DatasetId, UserId } from '../kernel/brand.ts';
import type { Scope, SystemScope } from '../kernel/scope.ts';
import { type AnyCollection, type DocumentStore, removeWhere } from '../storage/ports/document-store.ts';
import { ownerField } from '../storage/ports/owned-collection.ts';
import { ownedBy } from './collections.ts';
import { distillationsCollection } from './improve/distillations.ts';
import { createImproveRequests } from './improve/improve-requests.ts';
import { preferenceProgressCollection } from './improve/preferences.ts';
import { createWatermarks } from './improve/watermarks.ts';
import { createSessionContexts } from './sessions/session-context.ts';
import { createSessionEntries } from './sessions/session-entries.ts';
import { createSessions } from './sessions/sessions.ts';

const PAGE = 100;
/** Limit of the removal; sessions that come back meanwhile are counted as left. */
const MAX_PAGES = 10_000;

/** Removes sessions with their entries, what was learned in them and what was still to be done. Repeating is harmless. */
export function createSessionRemoval(store: DocumentStore) {
  const sessions = createSessions(store);
  const entries = createSessionEntries(store, sessions);
  const improveRequests = createImproveRequests(store);
  const contexts = createSessionContexts(store);
  const watermarks = createWatermarks(store);
  const learnings = createUserLearnings(store);
  const removeSession = async (scope: Scope, key: SessionKey): Promise<void> => {
    // Alone, because there may be very many; the session is removed with the entries that came meanwhile.
    await entries.removeEntries(scope, key);
    await store.commit(scope, [
      ...entries.removeWrites(key),
      improveRequests.removeOfSessionWrite(key.user, key.session),
      contexts.removeOfSessionWrite(key),
      watermarks.removeOfSessionWrite(key),
    ]);
    await learnings.removeOfSession(scope, key);
  };
  return {
    session: removeSession,
    /** Sessions of all users that are bound to the dataset. Returns how many records are left; 0 when nothing fails. */
    async ofDataset(scope: Scope, dataset: DatasetId): Promise<number> {
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const found = await sessions.ofDataset(scope, dataset, PAGE);
        // What is not found is not left.
        if (found.length === 0) return improveRequests.eraseDataset(scope, dataset);
        for (const key of found) await removeSession({ tenant: scope.tenant }, key);
      }
      return (await sessions.countOfDataset(scope, dataset)) + (await improveRequests.eraseDataset(scope, dataset));
    },
    /** Sessions of a user in the tenant, or under `SystemScope` in every one, with the learnings of the user. Returns how many are left. */
    async ofUser(scope: Scope | SystemScope, user: UserId): Promise<number> {
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const found = await sessions.ofUser(scope, user, PAGE);
        for (const { scope: place, session } of found) await removeSession(place, session);
        if (found.length < PAGE) break;
      }
      // Of sessions that went while something was noted on them.
      await store.commit(scope, [contexts.removeOfUserWrite(user), watermarks.removeOfUserWrite(user)]);
      await learnings.removeOfUser(scope, user);
      return (await sessions.ofUser(scope, user, PAGE)).length;
    },
  };
}

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
