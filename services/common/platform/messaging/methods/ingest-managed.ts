import type { DatasetId, TenantId } from '../../../kernel/brand.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { SnapshotPlace } from '../../../storage/ports/snapshot-places.ts';
import { defineMethod } from '../method.ts';

/** What the operator asks of ingest for its `Tenant` and `Dataset` resources. */
const codecs = () => import('../codecs/ingest-managed.ts');

export interface EraseDatasetRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  /** `metadata.uid` of the resource that manages it. */
  readonly crUid: string;
  /** Its snapshots stay, and the receipt names them. Those that lie elsewhere always stay. */
  readonly keepSnapshots?: boolean;
  /** Taken and checked before anything is erased, once nobody can write any more. */
  readonly finalSnapshot?: { readonly name: string; readonly place: SnapshotPlace };
  /** None is wanted, whatever an earlier request asked for. With neither word nothing is erased, unless that has begun. */
  readonly withoutSnapshots?: boolean;
}

export interface EraseTenantRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  readonly keepSnapshots?: boolean;
  /** Of every dataset, whosever; named by `finalSnapshotName`. As of a dataset, all of them before anything is erased. */
  readonly finalSnapshots?: { readonly place: SnapshotPlace };
  readonly withoutSnapshots?: boolean;
}

/** How far an erasure has come. */
export interface ErasureProgress {
  /** Everything is gone and there is a receipt. Ask again until then. */
  readonly erased: boolean;
  /** What is being erased now, in a few words; empty once erased. */
  readonly step: string;
  /** Counts by kind. */
  readonly removed: JsonObject;
  /** What was counted after the last attempt; 0 once erased. */
  readonly residue: number;
  /** JSON text, signed; null until erased. */
  readonly receipt: string | null;
  /** Why the last attempt did not end. `FinalSnapshotFailed`: nothing is erased yet. */
  readonly failure: { readonly name: string; readonly message: string } | null;
}

export interface ErasureResponse {
  readonly progress: ErasureProgress;
}

/**
 * Erases a dataset at all its owners, or goes on with it; answers at the latest after 10 s how far it has come, and for ever
 * the same receipt once it is gone. Errors: `DatasetNotFoundError` (there is none and the resource never erased one),
 * `OwnedByAnother` (also for a dataset that no resource manages).
 */
export const eraseDataset = defineMethod<EraseDatasetRequest, ErasureResponse>('ingest.EraseDataset', () =>
  codecs().then(({ EraseDataset }) => EraseDataset),
);

/** Erases a tenant with all its datasets; as `eraseDataset`. `TenantNotFoundError`, `OwnedByAnother`. */
export const eraseTenant = defineMethod<EraseTenantRequest, ErasureResponse>('ingest.EraseTenant', () =>
  codecs().then(({ EraseTenant }) => EraseTenant),
);

export interface CheckIsolationRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** Tenants to compare with, in both directions. */
  readonly otherTenantIds: readonly TenantId[];
}

export interface CanaryLeak {
  /** Whose canary was seen. */
  readonly tenantId: TenantId;
  readonly seenByTenantId: TenantId;
  /** How: `search`, `dataset id`, `dataset name`, `item`. */
  readonly way: string;
}

export interface CheckIsolationResponse {
  /** Why this proves nothing yet, a sentence; null: the tenant finds its own canary by words and by vector. */
  readonly unproven: string | null;
  /** With which of the others it was compared; the rest has no canary, or does not serve. */
  readonly comparedTenantIds: readonly TenantId[];
  readonly leaks: readonly CanaryLeak[];
}

/**
 * Looks for a tenant's canary (common/domain/canary.ts), which is made when there is none: as the tenant, which must find it,
 * and as others, which must not; and for those of the others as the tenant. All of it goes the way of requests. Errors:
 * `TenantNotFoundError`, `OwnedByAnother`, `ConflictError` (the tenant is being erased).
 */
export const checkIsolation = defineMethod<CheckIsolationRequest, CheckIsolationResponse>('ingest.CheckIsolation', () =>
  codecs().then(({ CheckIsolation }) => CheckIsolation),
);

export interface RemoveCanaryRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
}

export interface RemoveCanaryResponse {
  /** False: there was none. */
  readonly removed: boolean;
}

/** Before a tenant is let go with all it has: it is nobody's to look for any more. Errors as `checkIsolation`. */
export const removeCanary = defineMethod<RemoveCanaryRequest, RemoveCanaryResponse>('ingest.RemoveCanary', () =>
  codecs().then(({ RemoveCanary }) => RemoveCanary),
);

export interface SetRetentionRequest {
  readonly tenantId: TenantId;
  /** Absent: the tenant is meant. */
  readonly datasetId?: DatasetId;
  /** `metadata.uid` of the resource that manages it. */
  readonly crUid: string;
  /** Of a tenant: after the last use of a session. Absent, as the next: as the server keeps them. */
  readonly sessionsMs?: number;
  readonly eventsMs?: number;
  /** Of a dataset: after an item was added or replaced. Absent: for ever. */
  readonly itemsMs?: number;
}

/**
 * How long what a tenant or a dataset has is kept, in place of what was declared before. Errors: `OwnedByAnother`,
 * `DatasetNotFoundError`, `ConflictError` (it is being erased).
 */
export const setRetention = defineMethod<SetRetentionRequest, Record<never, never>>('ingest.SetRetention', () =>
  codecs().then(({ SetRetention }) => SetRetention),
);

export interface DatasetStatisticsRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
}

export interface DatasetStatistics {
  readonly items: number;
  readonly chunks: number;
  readonly nodes: number;
  readonly edges: number;
  /** Items that were added and are not in memory yet; those that failed are not among them. */
  readonly pending: number;
  /** Items whose last run failed. */
  readonly failed: number;
  /** ISO-8601 with offset; null: never. */
  readonly lastCognifiedAt: string | null;
  /** Age of the oldest pending item; 0 without one. */
  readonly lagSeconds: number;
  /** Null: nobody writes now. */
  readonly writer: { readonly holder: string; readonly fencingToken: number } | null;
  readonly activeRun: { readonly id: string; readonly pipeline: string; readonly startedAt: string } | null;
}

/** `DatasetNotFoundError`. */
export const datasetStatistics = defineMethod<DatasetStatisticsRequest, DatasetStatistics>(
  'ingest.DatasetStatistics',
  () => codecs().then(({ DatasetStatistics: codec }) => codec),
);
