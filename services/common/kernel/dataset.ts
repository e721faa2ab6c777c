import type { DataItemId, DatasetId, TenantId, UserId } from './brand.ts';
import { type DatasetScope, datasetScope } from './scope.ts';

/** A dataset as services hand it to each other; auth owns the registry. Times are ISO-8601 with offset. */
export interface DatasetRef {
  readonly id: DatasetId;
  readonly name: string;
  readonly ownerId: UserId;
  readonly tenant: TenantId;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  /** For whom it was resolved, when a source says who sees which of its items; absent: all who may read it see all of it. */
  readonly reader?: SourceReader;
  /** Items that the reader may not see, as `records/integrations/source-access.ts` finds them. Never travels. */
  readonly withheld?: ReadonlySet<DataItemId>;
}

/** A reader of a dataset with items that not everybody sees. */
export interface SourceReader {
  /** Another one after every change of who sees what in the dataset. */
  readonly version: string;
  /** The user, or the one that an agent works for; null: a key of the tenant, which is nobody at a source. */
  readonly account: UserId | null;
  /** Address of the account when it is verified, as `emailKey`. */
  readonly address: string | null;
}

export function scopeOf({ tenant, id, withheld }: Pick<DatasetRef, 'tenant' | 'id' | 'withheld'>): DatasetScope {
  const scope = datasetScope(tenant, id);
  return withheld === undefined ? scope : { ...scope, withheld };
}
