// Made from crds/datasets.engram.dev.yaml by `npm run generate`. Do not edit.
import type { Condition } from '../kube-runtime/conditions.ts';
import type { CustomObject, ResourceKind } from '../kube-runtime/kube-object.ts';

export type Dataset = CustomObject<DatasetSpec, Partial<DatasetStatus>>;

export const DATASET_KIND = {
  apiVersion: 'engram.dev/v1alpha1',
  kind: 'Dataset',
  plural: 'datasets',
  namespaced: true,
} as const satisfies ResourceKind;

/**
 * Desired state of the dataset.
 */
export interface DatasetSpec {
  readonly tenantRef: DatasetTenantRef;
  /**
   * Name of the dataset in Engram's API. Absent, it is the name of the resource. It cannot be changed.
   */
  readonly name?: string;
  /**
   * Id of a dataset of the tenant that exists already, to take it over with its data as it is. It cannot be changed once it is set. A dataset that another resource stands for is not taken over.
   */
  readonly datasetId?: string;
  /**
   * Leaves everything as it is while true: nothing is corrected, changed or started. Deletion is not held up.
   */
  readonly suspend: boolean;
  readonly access?: DatasetAccess;
  readonly graphModel?: DatasetGraphModel;
  readonly prompt?: DatasetPrompt;
  readonly embedding?: DatasetEmbedding;
  readonly chunking?: DatasetChunking;
  readonly pipeline?: DatasetPipeline;
  readonly freshness?: DatasetFreshness;
  readonly retention?: DatasetRetention;
  /**
   * Sources that are brought in and followed: what is new, changed and deleted there. The connections belong to the tenant's owner and are changed only here. `status.sources` and condition `SourcesReady` say how each is. While the Dataset is suspended, what is connected is still followed.
   */
  readonly sources?: readonly DatasetSourcesEntry[];
  readonly source?: DatasetSource;
  /**
   * Handling of the data when the resource is deleted. `Retain`: everything is kept, and another Dataset with this `datasetId` takes it over. `Delete`: everything is erased in every store and counted; the resource goes when nothing is left, and a signed receipt stays in a ConfigMap. An erasure that has begun is carried out, whatever is said here then. `Snapshot`: a snapshot is taken and checked once nobody can write any more, and then everything is erased; the receipt names the snapshot, which stays where the Tenant's `backup` says (without one, in the installation, as long as the tenant is there). Absent, as the Tenant says; where that goes itself by `Snapshot`, the dataset is snapshot and erased with all the others of it.
   */
  readonly deletionPolicy?: 'Retain' | 'Delete' | 'Snapshot';
}

/**
 * The Tenant that the dataset belongs to. It cannot be changed.
 */
export interface DatasetTenantRef {
  /**
   * Name of the Tenant.
   */
  readonly name: string;
  /**
   * Namespace of the Tenant. Absent, that of the Dataset. The Tenant says by `datasets.allowedNamespaces` from where it takes Datasets.
   */
  readonly namespace?: string;
}

/**
 * Who may use the dataset, besides the tenant's owner.
 */
export interface DatasetAccess {
  /**
   * Removes grants that are not declared here. Otherwise those that were made through the API are left alone.
   */
  readonly exclusive: boolean;
  /**
   * Declared grants. One that is taken out of the list is taken away.
   */
  readonly grants?: readonly DatasetAccessGrant[];
}

export interface DatasetAccessGrant {
  readonly principal: DatasetAccessGrantPrincipal;
  /**
   * Permissions granted. None implies another.
   */
  readonly permissions: readonly ('read' | 'write' | 'delete' | 'share')[];
}

/**
 * Whom the permissions are given to, exactly one of its fields.
 */
export interface DatasetAccessGrantPrincipal {
  /**
   * Email address of an account.
   */
  readonly user?: string;
  /**
   * Name of a role of the tenant.
   */
  readonly role?: string;
  /**
   * Every member of the tenant.
   */
  readonly tenant?: boolean;
}

/**
 * The kinds of entities and relations that extraction looks for, as JSON: what `graph_model` of the request `POST /api/v1/cognify` takes. It holds for requests that bring none. Data that was built with another model is not rebuilt by itself; condition `SchemaCurrent` says so.
 */
export interface DatasetGraphModel {
  /**
   * The text itself.
   */
  readonly inline?: string;
  readonly configMapRef?: DatasetGraphModelConfigMapRef;
}

/**
 * A ConfigMap of the same namespace with the text.
 */
export interface DatasetGraphModelConfigMapRef {
  /**
   * Name of the ConfigMap.
   */
  readonly name: string;
  /**
   * Key in the ConfigMap.
   */
  readonly key: string;
}

/**
 * The prompt of extraction: what `custom_prompt` of the request `POST /api/v1/cognify` takes. It holds for requests that bring none.
 */
export interface DatasetPrompt {
  /**
   * The text itself.
   */
  readonly inline?: string;
  readonly configMapRef?: DatasetPromptConfigMapRef;
}

/**
 * A ConfigMap of the same namespace with the text.
 */
export interface DatasetPromptConfigMapRef {
  /**
   * Name of the ConfigMap.
   */
  readonly name: string;
  /**
   * Key in the ConfigMap.
   */
  readonly key: string;
}

/**
 * Another embedding model than the tenant's, on the tenant's account. Absent, the tenant's. When it changes, all vectors are rebuilt from the stored texts, in the background and without asking a language model; searches use the former ones until the new ones are complete and have been checked.
 */
export interface DatasetEmbedding {
  /**
   * Name of the model, as the tenant's provider spells it, or `builtin/hashing-v1`, which is the server's own and needs no account.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
}

/**
 * How documents are cut, for requests that do not say it.
 */
export interface DatasetChunking {
  /**
   * `paragraph`: at the ends of paragraphs and sentences, as near to `maxTokens` as they allow.
   */
  readonly strategy: 'paragraph';
  /**
   * Greatest length of a chunk in tokens. Absent, as the embedding model allows.
   */
  readonly maxTokens?: number;
}

/**
 * Work that is started without a request.
 */
export interface DatasetPipeline {
  readonly cognify?: DatasetPipelineCognify;
  readonly improve?: DatasetPipelineImprove;
}

/**
 * Processing of new data.
 */
export interface DatasetPipelineCognify {
  /**
   * `OnAdd`: soon after data was added. `Schedule`: by the clock. `Manual`: by requests alone.
   */
  readonly trigger: 'OnAdd' | 'Schedule' | 'Manual';
  /**
   * Five fields of cron, UTC: minute, hour, day of month, month, day of week.
   */
  readonly schedule?: string;
}

/**
 * Improvement of the graph by what sessions taught.
 */
export interface DatasetPipelineImprove {
  /**
   * `Schedule`: by the clock. `Manual`: by requests alone.
   */
  readonly trigger: 'Schedule' | 'Manual';
  /**
   * Five fields of cron, UTC: minute, hour, day of month, month, day of week.
   */
  readonly schedule?: string;
}

/**
 * The objective that condition `Fresh` is measured by.
 */
export interface DatasetFreshness {
  /**
   * How long added data may wait until it can be searched, for example `5m`.
   */
  readonly maxLag: string;
  /**
   * How many items may have failed.
   */
  readonly maxFailedItems: number;
}

/**
 * How long the dataset keeps what it has.
 */
export interface DatasetRetention {
  /**
   * Items that were neither added nor replaced for so long are forgotten, with all that was built of them, for example `720h` (30 days). Adding the same content again renews its time. Absent, they are kept. A Dataset that is deleted with `deletionPolicy: Retain` keeps what it has by then, and snapshots keep what they hold.
   */
  readonly itemTTL: string;
}

export interface DatasetSourcesEntry {
  /**
   * Name of the source. Under another name the same source keeps its connection and what came by it.
   */
  readonly name: string;
  /**
   * Kind of the source, as `GET /api/v1/integrations/status` names it: `folder`, `web`, `s3`, `github` and others that the server has.
   */
  readonly connector: string;
  /**
   * Address of a connector that has one: a folder of the server, the URL of a site or feed, `s3://bucket/folder`.
   */
  readonly address?: string;
  /**
   * Name or id of an account that the tenant's owner has connected over OAuth in the console: the source uses its access, with a selection of its own.
   */
  readonly account?: string;
  readonly credentialsSecretRef?: DatasetSourcesEntryCredentialsSecretRef;
  /**
   * Names or ids of the parts to bring in: repositories, channels, folders. What is taken out is removed with the next import. Absent, everything that the source has.
   */
  readonly selection?: readonly string[];
  /**
   * Time between two imports, for example `30m`. Without it and without `schedule`, as often as the connector says, and at once where the source reports its changes.
   */
  readonly interval?: string;
  /**
   * Times of the imports, five fields of cron, UTC: minute, hour, day of month, month, day of week.
   */
  readonly schedule?: string;
  /**
   * What happens to its items when the source is taken out of the list: `Keep` leaves them, `Delete` erases them. When the Dataset itself goes, its `deletionPolicy` decides.
   */
  readonly onRemoval: 'Keep' | 'Delete';
}

/**
 * Secret of the same namespace with what the connector signs in with: `github` and `notion` need the key `token`, `s3` `accessKey` and `secretKey`, `webdav` and `imap` `username` and `password`. A change of it is followed; while it is missing, what is connected stays so.
 */
export interface DatasetSourcesEntryCredentialsSecretRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
}

/**
 * Source the dataset is restored from, instead of being empty. It cannot be changed. It is not visible before all of it is there and was checked; no model is asked. Vectors stay as they were made, so their embedding model must be one that the server or the tenant has. What a snapshot has not: sessions, feedback and what improve learned from them (weights; triplets are rebuilt by it), the history of runs, and the answers of models that are kept to save asking twice.
 */
export interface DatasetSource {
  readonly snapshotRef: DatasetSourceSnapshotRef;
  readonly destinationRef?: DatasetSourceDestinationRef;
}

/**
 * A snapshot that this installation has taken.
 */
export interface DatasetSourceSnapshotRef {
  /**
   * Name of the snapshot, as `status.backup` of the Dataset tells it that it was taken of.
   */
  readonly name: string;
  /**
   * Id of the tenant that it was taken of. Absent, the tenant of this dataset. Of another one only where this Dataset and its Tenant are in one namespace, and the other's Tenant is there too or the snapshot is in a bucket (`destinationRef`, or the Tenant's `backup`).
   */
  readonly tenantId?: string;
}

/**
 * Secret of the Tenant's namespace with the bucket that it is in, as of the Tenant's `backup`. Absent, where that says.
 */
export interface DatasetSourceDestinationRef {
  /**
   * Name of the Secret.
   */
  readonly name: string;
}

/**
 * Observed state of the dataset, written by the operator.
 */
export interface DatasetStatus {
  /**
   * The generation of the resource that this status speaks of.
   */
  readonly observedGeneration?: number;
  /**
   * The last value of the annotation `engram.dev/reconcile-at` that was acted on.
   */
  readonly lastHandledReconcileAt?: string;
  /**
   * Id of the dataset in Engram.
   */
  readonly datasetId?: string | undefined;
  /**
   * Id of its tenant.
   */
  readonly tenantId?: string | undefined;
  readonly backup?: DatasetStatusBackup | undefined;
  readonly embedding?: DatasetStatusEmbedding | undefined;
  readonly migration?: DatasetStatusMigration | undefined;
  /**
   * Of the graph model in force, `sha256:…`.
   */
  readonly graphModelHash?: string | undefined;
  /**
   * Of the prompt in force, `sha256:…`.
   */
  readonly promptHash?: string | undefined;
  readonly stats?: DatasetStatusStats | undefined;
  readonly writer?: DatasetStatusWriter | undefined;
  readonly activeRun?: DatasetStatusActiveRun | undefined;
  /**
   * Runs that are started by the clock.
   */
  readonly schedules?: readonly DatasetStatusSchedule[] | undefined;
  /**
   * State of each source of `spec.sources`.
   */
  readonly sources?: readonly DatasetStatusSource[] | undefined;
  readonly erasure?: DatasetStatusErasure | undefined;
  /**
   * See the reference page for types and reasons.
   */
  readonly conditions?: readonly Condition[];
}

/**
 * Snapshots of the dataset, when its Tenant has `backup`.
 */
export interface DatasetStatusBackup {
  /**
   * When the next one is due.
   */
  readonly nextAt?: string | undefined;
  readonly lastSnapshot?: DatasetStatusBackupLastSnapshot | undefined;
  /**
   * Names of all that are kept, newest first.
   */
  readonly snapshots?: readonly string[] | undefined;
}

/**
 * The newest one that is complete.
 */
export interface DatasetStatusBackupLastSnapshot {
  /**
   * Name for `source.snapshotRef` of another Dataset.
   */
  readonly name: string;
  /**
   * The moment that it shows.
   */
  readonly at: string;
  /**
   * Items in it.
   */
  readonly items?: number | undefined;
  /**
   * Bytes that it takes.
   */
  readonly sizeBytes?: number | undefined;
  /**
   * Location of the snapshot.
   */
  readonly place?: string | undefined;
}

/**
 * The embedding model whose vectors are searched.
 */
export interface DatasetStatusEmbedding {
  /**
   * Provider and name.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
}

/**
 * The vectors are being rebuilt by another embedding model; see the condition `Migrating`. Written at most once a minute.
 */
export interface DatasetStatusMigration {
  /**
   * Parts that are being rebuilt.
   */
  readonly kind: 'Reembed';
  readonly from: DatasetStatusMigrationFrom;
  readonly to: DatasetStatusMigrationTo;
  /**
   * Items whose vectors have been made.
   */
  readonly done: number;
  /**
   * Items that are to be done.
   */
  readonly total: number;
  /**
   * When it began.
   */
  readonly startedAt: string;
}

/**
 * The model whose vectors there are.
 */
export interface DatasetStatusMigrationFrom {
  /**
   * Provider and name.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
}

/**
 * The model whose vectors are made.
 */
export interface DatasetStatusMigrationTo {
  /**
   * Provider and name.
   */
  readonly model: string;
  /**
   * How many numbers its vectors have.
   */
  readonly dimensions: number;
}

/**
 * Contents of the dataset, refreshed at most once a minute.
 */
export interface DatasetStatusStats {
  /**
   * Data items.
   */
  readonly items?: number | undefined;
  /**
   * Chunks of their text.
   */
  readonly chunks?: number | undefined;
  /**
   * Nodes of the graph.
   */
  readonly nodes?: number | undefined;
  /**
   * Edges of the graph.
   */
  readonly edges?: number | undefined;
  /**
   * Items that wait for cognify.
   */
  readonly pending?: number | undefined;
  /**
   * Items that cognify could not process.
   */
  readonly failed?: number | undefined;
  /**
   * When an item was processed last.
   */
  readonly lastCognifiedAt?: string | undefined;
}

/**
 * The replica that writes to the dataset now. There is at most one.
 */
export interface DatasetStatusWriter {
  /**
   * Its name.
   */
  readonly holder?: string | undefined;
  /**
   * Grows with every writer; stores refuse those before.
   */
  readonly fencingToken?: number | undefined;
}

/**
 * The run that is under way.
 */
export interface DatasetStatusActiveRun {
  /**
   * Its id.
   */
  readonly id?: string | undefined;
  /**
   * What it does.
   */
  readonly pipeline?: string | undefined;
  /**
   * When it began.
   */
  readonly startedAt?: string | undefined;
}

export interface DatasetStatusSchedule {
  /**
   * Work that is started.
   */
  readonly pipeline: 'cognify' | 'improve';
  /**
   * When it was started last.
   */
  readonly lastStartedAt?: string | undefined;
  /**
   * When it is started next.
   */
  readonly nextStartAt?: string | undefined;
}

export interface DatasetStatusSource {
  /**
   * Its name.
   */
  readonly name: string;
  /**
   * Whether it is followed.
   */
  readonly connected: boolean;
  /**
   * An import waits or is under way.
   */
  readonly importing?: boolean | undefined;
  /**
   * When the last import ended.
   */
  readonly lastSyncedAt?: string | undefined;
  /**
   * When the next import starts.
   */
  readonly nextSyncAt?: string | undefined;
  /**
   * Documents that are in the dataset, as of the end of the last import.
   */
  readonly items: number;
  /**
   * Documents that the last import could not bring in.
   */
  readonly failed: number;
  /**
   * Why it is not as declared, in one word; absent, it is.
   */
  readonly reason?: string | undefined;
  /**
   * The same as a sentence.
   */
  readonly message?: string | undefined;
}

/**
 * How far the erasure has come, while the resource is being deleted with policy `Delete` or `Snapshot`.
 */
export interface DatasetStatusErasure {
  /**
   * Part that is being erased now.
   */
  readonly step?: string | undefined;
  /**
   * Number of entries that all stores together still hold, at the last count.
   */
  readonly residue: number;
  /**
   * ConfigMap with the signed receipt, under `receipt.json`.
   */
  readonly receipt?: string | undefined;
}
