import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { type Collection, type DocumentStore, insert, type Write } from '../../common/storage/ports/document-store.ts';

type ErasureReceiptDocument = {
  /** JSON text, signed. */
  readonly text: string;
  readonly createdAt: string;
};

/** They outlive what they tell of: ids and counts, no content. */
export const erasureReceiptsCollection: Collection<ErasureReceiptDocument> = {
  name: 'erasure_receipts',
  level: 'system',
  indexes: [],
};

/** By resource and what it managed: a later thing of the same id is another's. */
export interface ErasureReceipts {
  get(crUid: string, thing: ManagedThing): Promise<string | null>;
  /** What the resource managed and erased; null: nothing. */
  erasedBy(crUid: string): Promise<ManagedThing | null>;
  /** `DuplicateKeyError` in the commit when there is one. */
  insertWrite(crUid: string, thing: ManagedThing, receipt: ErasureReceiptDocument): Write;
}

export function createErasureReceipts(store: DocumentStore): ErasureReceipts {
  return {
    async get(crUid, thing) {
      return (await store.get(SYSTEM_SCOPE, erasureReceiptsCollection, idOf(crUid, thing)))?.value.text ?? null;
    },
    async erasedBy(crUid) {
      const where = { id: { prefix: `${crUid}/` } };
      const { items } = await store.find(SYSTEM_SCOPE, erasureReceiptsCollection, { where, limit: 1 });
      const [tenant, dataset] = items[0]?.id.slice(crUid.length + 1).split('/') ?? [];
      return tenant === undefined ? null : { tenant: asId(tenant), dataset: dataset ? asId(dataset) : null };
    },
    insertWrite: (crUid, thing, receipt) => insert(erasureReceiptsCollection, idOf(crUid, thing), receipt),
  };
}

function idOf(crUid: string, { tenant, dataset }: ManagedThing): string {
  return `${crUid}/${tenant}/${dataset ?? ''}`;
}
