import type { WatchedWorkQueue } from '../common/platform/jobs/work-queue.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { RemoteMemory } from '../common/ports/remote-memory.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Tracer } from '../common/ports/tracer.ts';
import type { Datasets } from '../common/records/auth/datasets.ts';
import type { BlobIntents } from '../common/records/ingest/blob-intents.ts';
import type { Connections } from '../common/records/integrations/connections.ts';
import type { SourceEvents } from '../common/records/integrations/deliveries.ts';
import type { SourceAccess } from '../common/records/integrations/source-access.ts';
import type { SourceItems } from '../common/records/integrations/source-items.ts';
import type { SyncRuns } from '../common/records/integrations/sync-runs.ts';
import type { SyncState } from '../common/records/integrations/sync-state.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { Connector } from './providers/connector.ts';
import type { SlackOptions } from './providers/slack.ts';

/** Parts of the service. */
export interface IntegrationsServiceOptions {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly workQueue: WatchedWorkQueue;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  /** Items are only read; downloads lie beside them until ingest has taken them. */
  readonly blobs: BlobStore;
  readonly connectors: readonly Connector[];
  /** The Slack app; absent or null: none is configured. */
  readonly slack?: SlackOptions | null;
  /** Seals the tokens of connections. */
  readonly secretBox: SecretBox;
  /** Browsers reach this server over https. */
  readonly isSecure: boolean;
  /** Loaded with the first sync. */
  readonly remote: () => Promise<RemoteMemory>;
  /** Whether an address or a key of one is configured. */
  readonly hasRemote: boolean;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
  readonly settings: Pick<SyncSettings, 'maxDocumentBytes'> & Partial<SyncSettings>;
}

/** Dependencies of the routes and the worker. */
export interface SyncDependencies extends Omit<IntegrationsServiceOptions, 'settings' | 'connectors' | 'slack'> {
  readonly runs: SyncRuns;
  readonly state: SyncState;
  readonly intents: BlobIntents;
  /** Only read here. */
  readonly datasets: Datasets;
  readonly settings: SyncSettings;
}

export interface SourceDependencies extends SyncDependencies {
  /** By provider, those that are configured. */
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly slack: SlackOptions | null;
  readonly connections: Connections;
  readonly sourceItems: SourceItems;
  readonly sourceAccess: SourceAccess;
  readonly events: SourceEvents;
  readonly credentials: Credentials;
}

export interface SyncSettings {
  /** Maximum size of one download. */
  readonly maxDocumentBytes: number;
  /** Attempts after the first one. */
  readonly maxRetries: number;
  /** Before the first retry twice this, then doubled each time. */
  readonly retryBaseMs: number;
  /** Lease of a claimed sync. */
  readonly leaseMs: number;
  /** Interval of looking for jobs without a notification. */
  readonly pollMs: number;
  /** Interval of looking for imports that are due. */
  readonly lookEveryMs: number;
  /** Interval of asking auth again whether the user may still sync. */
  readonly recheckMs: number;
  /** Syncs of one process at the same time. */
  readonly maxConcurrent: number;
  /** Time limit of waiting for running syncs at the stop. */
  readonly drainMs: number;
}

export const DEFAULT_SYNC_SETTINGS: Omit<SyncSettings, 'maxDocumentBytes'> = {
  maxRetries: 3,
  retryBaseMs: 1000,
  leaseMs: 15_000,
  pollMs: 1000,
  lookEveryMs: 5000,
  recheckMs: 1000,
  maxConcurrent: 4,
  drainMs: 8000,
};
