import type { UserId } from '../../common/kernel/brand.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { put } from '../../common/records/base/repository.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type AccountMailsDocument = {
  /** Times of the mails of the last hour (ISO-8601), oldest first. The id is that of the user. */
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

/** Counts the mails to each account, so that a mailbox cannot be flooded by requests for mails. */
export function createAccountMails(store: DocumentStore) {
  return {
    /**
     * Counts one mail. False, without counting, when the account got `limit` mails within the hour. Holds across replicas.
     */
    async take(user: UserId, now: Date, limit: number): Promise<boolean> {
      return retryOnConflict(async () => {
        const stored = await store.get(SYSTEM_SCOPE, accountMailsCollection, user);
        const since = new Date(now.getTime() - WINDOW_MS).toISOString();
        const recent = (stored?.value.sentAt ?? []).filter((at) => at > since);
        if (recent.length >= limit) return false;
        const document = { sentAt: [...recent, now.toISOString()] };
        await store.commit(SYSTEM_SCOPE, [put(accountMailsCollection, user, document, stored)]);
        return true;
      });
    },
  };
}
