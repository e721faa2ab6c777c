import { createGrants } from '../../services/auth/repositories/grants.ts';
import type { UserId } from '../../services/common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../services/common/kernel/dataset.ts';
import type { Permission } from '../../services/common/kernel/principal.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';

type Shared = Pick<DatasetRef, 'id' | 'tenant'>;

/** Writes a grant as its route does, without asking whether anybody may. */
export function giveGrant(store: DocumentStore, dataset: Shared, holder: UserId, permission: Permission) {
  return setGrant(store, dataset, { holder, permission, isGiven: true });
}

export function takeGrant(store: DocumentStore, dataset: Shared, holder: UserId, permission: Permission) {
  return setGrant(store, dataset, { holder, permission, isGiven: false });
}

interface Change {
  readonly holder: UserId;
  readonly permission: Permission;
  readonly isGiven: boolean;
}

async function setGrant(store: DocumentStore, dataset: Shared, change: Change) {
  const changes = await createGrants(store).changes(scopeOf(dataset), [dataset.id], change);
  await store.commit(
    scopeOf(dataset),
    changes.flatMap(({ writes }) => writes),
  );
}
