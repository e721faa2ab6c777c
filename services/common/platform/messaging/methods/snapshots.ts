import type { SnapshotPart } from '../../../domain/snapshot.ts';
import type { DatasetId, TenantId } from '../../../kernel/brand.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { SnapshotPlace } from '../../../storage/ports/snapshot-places.ts';
import type { VectorSpace } from '../../../storage/ports/vector-index.ts';
import { defineMethod } from '../method.ts';

/** Snapshots of datasets, and datasets from snapshots. */
const codecs = () => import('../codecs/snapshots.ts');

/** A snapshot by the tenant that it was taken of. */
export interface SnapshotRef {
  readonly tenantId: TenantId;
  readonly name: string;
}

export interface TakeSnapshotRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  /** `metadata.uid` of the resource that manages the dataset, or that erases its tenant. */
  readonly crUid: string;
  /** Lower-case letters, digits, `.`, `_`, `-`; the tenant has one of the name. */
  readonly name: string;
  readonly place: SnapshotPlace;
  /** Everything is read again before it counts. */
  readonly verify?: boolean;
}

/** A snapshot that is complete. */
export interface SnapshotInfo {
  readonly name: string;
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  /** ISO-8601: the moment that it shows. */
  readonly at: string;
  readonly items: number;
  readonly sizeBytes: number;
  /** Of its manifest. */
  readonly sha256: string;
  /** Where it is, without any credential. */
  readonly place: string;
}

export interface SnapshotFailure {
  /** Class name of the error. */
  readonly name: string;
  readonly message: string;
}

/** How far it has come; ask again until `snapshot` is there. */
export interface SnapshotProgress {
  readonly snapshot: SnapshotInfo | null;
  /** Items. */
  readonly done: number;
  readonly total: number;
  /** Why the last attempt did not end; the next call tries again. */
  readonly failure: SnapshotFailure | null;
}

/**
 * Takes a snapshot of a dataset at one moment, or goes on with it; answers at the latest after 10 s. The name says which: the
 * same one is never taken twice. Errors: `DatasetNotFoundError`, `OwnedByAnother`, `ConflictError` (the name is another
 * dataset's, or it is being erased), `InvalidRequestError` (a name that is none).
 */
export const takeSnapshot = defineMethod<TakeSnapshotRequest, SnapshotProgress>('ingest.TakeSnapshot', () =>
  codecs().then(({ TakeSnapshot }) => TakeSnapshot),
);

export interface RestoreDatasetRequest {
  readonly tenantId: TenantId;
  readonly crUid: string;
  /** Of the new dataset. */
  readonly name: string;
  readonly snapshot: SnapshotRef;
  readonly place: SnapshotPlace;
  /** Public keys that may have signed it beside the installation's: `x` of Ed25519 keys in JWK, base64url. */
  readonly signers?: readonly string[];
}

export interface RestoreProgress {
  /** The dataset, once it is there with all of the snapshot; null before. Ask again until then. */
  readonly datasetId: DatasetId | null;
  /** What is being done now, in a few words. */
  readonly step: string;
  /** Parts. */
  readonly done: number;
  readonly total: number;
  readonly failure: SnapshotFailure | null;
}

/**
 * Makes a dataset from a snapshot, for the resource that is to manage it; answers at the latest after 10 s. Nobody sees it
 * before it is complete. `failure` names what is wrong with the snapshot (`ConflictError`), `EntityAlreadyExistsError` where
 * the tenant's owner has a dataset of the name, `EntityNotFoundError` where there is no such snapshot.
 */
export const restoreDataset = defineMethod<RestoreDatasetRequest, RestoreProgress>('ingest.RestoreDataset', () =>
  codecs().then(({ RestoreDataset }) => RestoreDataset),
);

export interface ListSnapshotsRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
}

/** Those that are complete, newest first. */
export const listSnapshots = defineMethod<ListSnapshotsRequest, { readonly snapshots: readonly SnapshotInfo[] }>(
  'ingest.ListSnapshots',
  () => codecs().then(({ ListSnapshots }) => ListSnapshots),
);

export interface PruneSnapshotsRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly crUid: string;
  /** The newest ones, at least 1. */
  readonly keep: number;
  readonly place: SnapshotPlace;
}

/** Removes all but the newest in the place. Names of those that went. `OwnedByAnother`. */
export const pruneSnapshots = defineMethod<PruneSnapshotsRequest, { readonly removed: readonly string[] }>(
  'ingest.PruneSnapshots',
  () => codecs().then(({ PruneSnapshots }) => PruneSnapshots),
);

/** What of a snapshot is to be done. */
export type RestoreStep =
  | { readonly kind: 'part'; readonly part: SnapshotPart; readonly space: VectorSpace | null }
  | { readonly kind: 'count' }
  | { readonly kind: 'discard' };

export interface RestoreBuiltRequest {
  readonly tenantId: TenantId;
  /** Of no dataset yet. */
  readonly datasetId: DatasetId;
  readonly snapshot: SnapshotRef;
  readonly step: RestoreStep;
  readonly place: SnapshotPlace;
}

export interface RestoreBuiltResponse {
  /** Records that were restored, by collection. */
  readonly documents: JsonObject;
  /** Of `count`. */
  readonly rows: {
    readonly text: number;
    readonly vectors: number;
    readonly nodes: number;
    readonly edges: number;
  };
  /** Of `discard`: what is there still. */
  readonly left: number;
}

/**
 * Writes what a part of a snapshot has of cognify's, counts it, or removes it again, in a dataset that is not registered.
 * `ConflictError` when it is, and with the reason when the part cannot be restored here.
 */
export const restoreBuilt = defineMethod<RestoreBuiltRequest, RestoreBuiltResponse>('cognify.RestoreBuilt', () =>
  codecs().then(({ RestoreBuilt }) => RestoreBuilt),
);

export interface SignSnapshotRequest {
  /** Of the manifest, lower-case hex. */
  readonly sha256: string;
}

export interface SignSnapshotResponse {
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** The installation's word for a manifest, by the key of its receipts. */
export const signSnapshot = defineMethod<SignSnapshotRequest, SignSnapshotResponse>('auth.SignSnapshot', () =>
  codecs().then(({ SignSnapshot }) => SignSnapshot),
);

export interface CheckSnapshotRequest extends SignSnapshotRequest, SignSnapshotResponse {}

/** Whether the installation has signed it, also by a key before the present one. */
export const checkSnapshot = defineMethod<CheckSnapshotRequest, { readonly isOurs: boolean }>(
  'auth.CheckSnapshot',
  () => codecs().then(({ CheckSnapshot }) => CheckSnapshot),
);

export interface AdmitDatasetRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly name: string;
  /** Of the resource that is to manage it. */
  readonly crUid: string;
}

/**
 * Registers a dataset that was restored under its id, for the tenant's owner, managed by the resource. `EntityAlreadyExistsError`
 * where the owner has the name already; `OwnedByAnother`, `TenantNotFoundError`, `PayloadTooLargeError` (budget).
 */
export const admitDataset = defineMethod<AdmitDatasetRequest, Record<string, never>>('auth.AdmitDataset', () =>
  codecs().then(({ AdmitDataset }) => AdmitDataset),
);

export interface AdmitOwnDatasetRequest {
  readonly datasetId: DatasetId;
  readonly name: string;
}

/**
 * Registers a dataset that was restored under its id, for the principal, in the tenant that it works in. Errors as of
 * `admitDataset`, and `PermissionDeniedError` where the principal may not make datasets.
 */
export const admitOwnDataset = defineMethod<AdmitOwnDatasetRequest, Record<string, never>>('auth.AdmitOwnDataset', () =>
  codecs().then(({ AdmitOwnDataset }) => AdmitOwnDataset),
);
