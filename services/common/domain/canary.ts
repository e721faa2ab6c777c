import type { DatasetId, TenantId, UserId } from '../kernel/brand.ts';
import type { DatasetRef } from '../kernel/dataset.ts';
import { asId, datasetId, idOfText } from '../kernel/ids.ts';
import type { Principal, UserInTenant } from '../kernel/principal.ts';
import { recentlyUsed } from '../kernel/recently-used.ts';

/**
 * A canary is a fact that each managed tenant keeps for one purpose: it must never be found from outside the tenant. It is the
 * one item of a dataset that belongs to an account which does not exist, so that it is in no list, search or bill.
 * Everything else about it is as of any fact: the same stores, the same rights, the same searches.
 */
export function canaryAccount(tenant: TenantId): UserId {
  return recentlyUsed(accounts, CACHED_ACCOUNTS, tenant, () => asId<UserId>(idOfText(`engram canary of ${tenant}`)));
}

/** Each request asks for that of its tenant. */
const CACHED_ACCOUNTS = 1000;
const accounts = new Map<TenantId, UserId>();

/** One for each tenant: the id says so, whatever the name. */
export function canaryDatasetId(tenant: TenantId): DatasetId {
  return datasetId('canary', canaryAccount(tenant), tenant);
}

/** Account that looks for canaries in a tenant. There is no credential for it. */
export function canaryPrincipal(tenant: TenantId): Principal {
  return { id: canaryAccount(tenant), email: '', tenant, isSuperuser: false, parentId: null };
}

export function isCanaryPrincipal({ id, tenant }: UserInTenant): boolean {
  return id === canaryAccount(tenant);
}

export function isCanaryDataset({ ownerId, tenant }: Pick<DatasetRef, 'ownerId' | 'tenant'>): boolean {
  return ownerId === canaryAccount(tenant);
}

/** `marker`: a word that stands nowhere else; also the name of the dataset. */
export function canaryText(marker: string): string {
  return `The canary ${marker} lives in this tenant. Only this tenant knows ${marker}.`;
}
