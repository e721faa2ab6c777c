import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { type DocumentStore, insert } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type ErasureReceiptDocument = {
  /** JSON text, signed. */
  readonly text: string;
  readonly createdAt: string;
};

/** Receipts outlive what they describe: they have ids and counts, but no content. */
export const erasureReceiptsCollection: OwnedCollection<ErasureReceiptDocument> = {
  name: 'erasure_receipts',
  level: 'system',
  owner: 'auth',
  belongsTo: 'system',
  indexes: [],
};

/** Receipts by resource and erased thing: a later thing of the same id has another resource. */
export function createErasureReceipts(store: DocumentStore) {
  return {
    async get(crUid: string, thing: ManagedThing): Promise<string | null> {
      return (await store.get(SYSTEM_SCOPE, erasureReceiptsCollection, idOf(crUid, thing)))?.value.text ?? null;
    },
    /** The thing that the resource managed and erased; null: none. */
    async erasedBy(crUid: string): Promise<ManagedThing | null> {
      const where = { id: { prefix: `${crUid}/` } };
      const { items } = await store.find(SYSTEM_SCOPE, erasureReceiptsCollection, { where, limit: 1 });
      const [tenant, dataset] = items[0]?.id.slice(crUid.length + 1).split('/') ?? [];
      return tenant === undefined ? null : { tenant: asId(tenant), dataset: dataset ? asId(dataset) : null };
    },
    /** `DuplicateKeyError` in the commit when there is one already. */
    insertWrite: (crUid: string, thing: ManagedThing, receipt: ErasureReceiptDocument) =>
      insert(erasureReceiptsCollection, idOf(crUid, thing), receipt),
  };
}

function idOf(crUid: string, { tenant, dataset }: ManagedThing): string {
  return `${crUid}/${tenant}/${dataset ?? ''}`;
}
