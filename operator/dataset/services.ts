import type { DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import type {
  EnsureDatasetRequest,
  EnsureDatasetResponse,
  FindManagedRequest,
  FindManagedResponse,
  ReleaseDatasetRequest,
  ReleaseResponse,
  SyncGrantsRequest,
  SyncGrantsResponse,
} from '../../services/common/platform/messaging/methods/auth-managed.ts';
import type {
  DatasetConfigurationHashes,
  EmbeddingState,
  MigrateEmbeddingRequest,
  SetDatasetConfigurationRequest,
} from '../../services/common/platform/messaging/methods/cognify-managed.ts';
import type {
  DatasetStatistics,
  EraseDatasetRequest,
  ErasureProgress,
  SetRetentionRequest,
} from '../../services/common/platform/messaging/methods/ingest-managed.ts';
import type {
  ListSnapshotsRequest,
  PruneSnapshotsRequest,
  RestoreDatasetRequest,
  RestoreProgress,
  SnapshotInfo,
  SnapshotProgress,
  TakeSnapshotRequest,
} from '../../services/common/platform/messaging/methods/snapshots.ts';

/** What is started by the clock or because data was added. */
export type ScheduledPipeline = 'cognify' | 'improve';

export interface StartRequest {
  readonly pipeline: ScheduledPipeline;
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  readonly name: string;
  /** `metadata.uid` of the resource. */
  readonly crUid: string;
  /** The time of the schedule that it is for, ISO-8601: started once, whoever asks again. Absent: because data was added. */
  readonly dueAt?: string;
}

/**
 * All that the reconciler of datasets asks of the services. Everything but a `start` without time is idempotent. Calls throw the
 * `EngramError` of the service, as the methods of the bus describe them; `ServiceUnavailableError` and
 * `DeadlineExceededError` when it is away.
 */
export interface DatasetServices {
  ensureDataset(request: EnsureDatasetRequest, signal: AbortSignal): Promise<EnsureDatasetResponse>;
  syncGrants(request: SyncGrantsRequest, signal: AbortSignal): Promise<SyncGrantsResponse>;
  setConfiguration(request: SetDatasetConfigurationRequest, signal: AbortSignal): Promise<DatasetConfigurationHashes>;
  setRetention(request: SetRetentionRequest, signal: AbortSignal): Promise<void>;
  /** Works for some seconds where there is something to do. */
  migrateEmbedding(request: MigrateEmbeddingRequest, signal: AbortSignal): Promise<EmbeddingState>;
  statistics(
    dataset: { readonly tenantId: TenantId; readonly datasetId: DatasetId },
    signal: AbortSignal,
  ): Promise<DatasetStatistics>;
  /** On behalf of the dataset's owner; resolves when it is under way, not when it has ended. */
  start(request: StartRequest, signal: AbortSignal): Promise<void>;
  /** Goes on with what was begun; ask again until the snapshot is there. */
  takeSnapshot(request: TakeSnapshotRequest, signal: AbortSignal): Promise<SnapshotProgress>;
  listSnapshots(
    request: ListSnapshotsRequest,
    signal: AbortSignal,
  ): Promise<{ readonly snapshots: readonly SnapshotInfo[] }>;
  pruneSnapshots(request: PruneSnapshotsRequest, signal: AbortSignal): Promise<{ readonly removed: readonly string[] }>;
  /** Goes on with what was begun; ask again until the dataset is there. */
  restoreDataset(request: RestoreDatasetRequest, signal: AbortSignal): Promise<RestoreProgress>;
  eraseDataset(request: EraseDatasetRequest, signal: AbortSignal): Promise<ErasureProgress>;
  findManaged(request: FindManagedRequest, signal: AbortSignal): Promise<FindManagedResponse['managed']>;
  releaseDataset(request: ReleaseDatasetRequest, signal: AbortSignal): Promise<ReleaseResponse>;
}
