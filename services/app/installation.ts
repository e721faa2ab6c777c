import { randomUUID } from 'node:crypto';
import { SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import { ignoreDuplicate } from '../common/platform/async/retry-on-conflict.ts';
import { type DocumentStore, insert } from '../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../common/storage/ports/owned-collection.ts';

type InstallationDocument = { readonly installation: string };

/** One document, by which stores distinguish this installation from others. */
export const installationCollection: OwnedCollection<InstallationDocument> = {
  name: 'installation',
  level: 'system',
  owner: 'platform',
  belongsTo: 'system',
  indexes: [],
};

const ID = 'server';

/** The id of the installation that the records belong to; made with the first question. */
export async function installationId(store: DocumentStore): Promise<string> {
  const stored = await store.get(SYSTEM_SCOPE, installationCollection, ID);
  if (stored !== null) return stored.value.installation;
  const installation = randomUUID();
  const isFirst = await ignoreDuplicate(
    store.commit(SYSTEM_SCOPE, [insert(installationCollection, ID, { installation })]),
  );
  // Else another process of a new installation made it at the same moment.
  return isFirst ? installation : installationId(store);
}
