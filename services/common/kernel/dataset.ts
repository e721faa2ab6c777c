import type { DatasetId, TenantId, UserId } from './brand.ts';
import { type DatasetScope, datasetScope } from './scope.ts';

/** A dataset as services hand it to each other; auth owns the registry. Times are ISO-8601 with offset. */
export interface DatasetRef {
  readonly id: DatasetId;
  readonly name: string;
  readonly ownerId: UserId;
  readonly tenant: TenantId;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

export function scopeOf(dataset: Pick<DatasetRef, 'tenant' | 'id'>): DatasetScope {
  return datasetScope(dataset.tenant, dataset.id);
}
