import type { UserId } from '../../common/kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert, replace } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type AccountMailsDocument = {
  /** When mails were sent within the last hour (ISO-8601), oldest first. The id is the user's. */
  readonly sentAt: readonly string[];
};

export const accountMailsCollection: OwnedCollection<AccountMailsDocument> = {
  name: 'account_mails',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'id' },
  indexes: [],
};

const WINDOW_MS = 3_600_000;

export type AccountMails = ReturnType<typeof createAccountMails>;

/** How many mails each account got of late, so that nobody's mailbox can be filled by asking for them. */
export function createAccountMails(store: DocumentStore) {
  return {
    /** Counts one mail; false, and nothing is counted, when the account had `limit` within the hour. Holds across replicas. */
    async take(user: UserId, now: Date, limit: number): Promise<boolean> {
      return retryOnConflict(async () => {
        const stored = await store.get(SYSTEM_SCOPE, accountMailsCollection, user);
        const since = new Date(now.getTime() - WINDOW_MS).toISOString();
        const recent = (stored?.value.sentAt ?? []).filter((at) => at > since);
        if (recent.length >= limit) return false;
        const document = { sentAt: [...recent, now.toISOString()] };
        const write =
          stored === null
            ? insert(accountMailsCollection, user, document)
            : replace(accountMailsCollection, user, document, stored.version);
        await store.commit(SYSTEM_SCOPE, [write]);
        return true;
      });
    },
  };
}
