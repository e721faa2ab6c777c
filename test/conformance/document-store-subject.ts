import { randomUUID } from 'node:crypto';
import { asId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope, type Scope } from '../../services/common/kernel/scope.ts';
import type { Collection } from '../../services/common/storage/ports/document-store.ts';

export type Thing = {
  readonly name?: string | null;
  readonly rank?: number | null;
  readonly flag?: boolean | null;
  readonly mixed?: string | number | boolean | null;
  readonly nested?: { readonly deep?: string | null };
  readonly key?: string | null;
  readonly count?: number;
  readonly text?: string;
  readonly list?: readonly string[];
};

const indexes: Collection<Thing>['indexes'] = [
  { fields: ['name'] },
  { fields: ['rank', 'name'] },
  { fields: ['flag', 'rank'] },
  { fields: ['mixed'] },
  { fields: ['nested.deep'] },
  { fields: ['key'], unique: true },
];

export const systemThings: Collection<Thing> = { name: 'system_things', level: 'system', indexes };
export const tenantThings: Collection<Thing> = { name: 'tenant_things', level: 'tenant', indexes };
export const datasetThings: Collection<Thing> = { name: 'dataset_things', level: 'dataset', indexes };
export const numberedThings: Collection<Thing> = {
  name: 'numbered_things',
  level: 'tenant',
  sequenced: true,
  indexes: [{ fields: ['name', 'sequence'] }, { fields: ['key'], unique: true }],
};

export const allThings = [systemThings, tenantThings, datasetThings, numberedThings];

/** A tenant of its own for each test, so that tests share a store. */
export function newTenant(): Scope {
  return { tenant: asId(randomUUID()) };
}

export function newDataset(tenant: Scope = newTenant()): DatasetScope {
  return datasetScope(tenant.tenant, asId(randomUUID()));
}
