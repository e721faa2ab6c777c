import type { DescMethodUnary, Message, MessageShape } from '@bufbuild/protobuf';
import type * as auth from '../../../../proto/gen/engram/auth/v1/auth_pb.ts';
import type * as managed from '../../../../proto/gen/engram/auth/v1/managed_pb.ts';
import type * as cognify from '../../../../proto/gen/engram/cognify/v1/cognify_pb.ts';
import type { RestoredPart as RestoredPartMessage } from '../../../../proto/gen/engram/cognify/v1/snapshots_pb.ts';
import type { Dataset, IdList } from '../../../../proto/gen/engram/common/v1/dataset_pb.ts';
import type * as principal from '../../../../proto/gen/engram/common/v1/principal_pb.ts';
import type * as run from '../../../../proto/gen/engram/common/v1/run_pb.ts';
import type { SnapshotBucket } from '../../../../proto/gen/engram/common/v1/snapshot_pb.ts';
import type * as events from '../../../../proto/gen/engram/events/v1/events_pb.ts';
import type { ImproveService } from '../../../../proto/gen/engram/improve/v1/improve_pb.ts';
import type * as ingest from '../../../../proto/gen/engram/ingest/v1/ingest_pb.ts';
import type { IntegrationsService } from '../../../../proto/gen/engram/integrations/v1/integrations_pb.ts';
import type { SearchService } from '../../../../proto/gen/engram/search/v1/search_pb.ts';
import type { SystemService } from '../../../../proto/gen/engram/system/v1/system_pb.ts';
import type { MethodPath } from '../../../../proto/gen/method-table.ts';
import type { BudgetKind, BudgetLimits } from '../../domain/budget.ts';
import type { DataItem } from '../../domain/data-item.ts';
import type { TripletPayload } from '../../domain/index-rows.ts';
import type { RunEvent, RunItem, RunOutcome, RunState, RunStatus } from '../../domain/run.ts';
import type { ServiceName } from '../../domain/service-paths.ts';
import type { NewQa, SessionSpending } from '../../domain/session.ts';
import type { TurnNote } from '../../domain/session-context.ts';
import type { UsedSkill } from '../../domain/skill.ts';
import type { SnapshotPart } from '../../domain/snapshot.ts';
import type { Span } from '../../domain/span.ts';
import type { TenantHibernation, TenantState } from '../../domain/tenant-state.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Permission, PresentedKey, Principal } from '../../kernel/principal.ts';
import type { Provenance } from '../../storage/ports/index-entry.ts';
import type { SnapshotPlace } from '../../storage/ports/snapshot-places.ts';
import type { VectorSpace } from '../../storage/ports/vector-index.ts';

interface Services {
  readonly auth: typeof auth.AuthService;
  readonly cognify: typeof cognify.CognifyService;
  readonly improve: typeof ImproveService;
  readonly ingest: typeof ingest.IngestService;
  readonly integrations: typeof IntegrationsService;
  readonly search: typeof SearchService;
}

type SystemMethod = 'Describe' | 'Health';

/** A method by `<service>.<Method>`, as proto/README.md lists them; those of `system.proto` are answered by every service. */
export type CallPath = Exclude<MethodPath, `system.${string}`> | `${ServiceName}.${SystemMethod}`;

type MethodOf<Path> = Path extends `${string}.${infer Name extends SystemMethod}`
  ? MethodNamed<typeof SystemService, Name>
  : Path extends `${infer Service extends keyof Services}.${infer Name}`
    ? MethodNamed<Services[Service], Name>
    : never;

type MethodNamed<
  Service extends { readonly method: object },
  Name extends string,
> = Service['method'][Uncapitalize<Name> & keyof Service['method']] extends infer Method extends DescMethodUnary
  ? Method
  : never;

/** Request of a method: the message of `proto/` as plain values. Absent fields and flags that are false may be left out. */
export type RequestOf<Path extends CallPath> = RequestShape<MessageShape<MethodOf<Path>['input']>>;

/** Answer of a method: the message of `proto/` as plain values. Absent fields are null. */
export type AnswerOf<Path extends CallPath> = AnswerShape<MessageShape<MethodOf<Path>['output']>>;

/** Answer as a handler gives it: what is null may be left out. */
export type ReplyOf<Path extends CallPath> = NullsLeftOut<AnswerOf<Path>>;

type NullsLeftOut<Shape> = Flat<
  { readonly [Key in keyof Shape as null extends Shape[Key] ? never : Key]: Shape[Key] } & {
    readonly [Key in keyof Shape as null extends Shape[Key] ? Key : never]?: Shape[Key];
  }
>;

/** Messages that are published by topic: their subject is `engram.<topic>.<key>`. */
export interface Topics {
  /** Remembered access is outdated: of one user or of all, of one dataset or of all. Key: the tenant. */
  readonly access: AnswerShape<events.AccessChanged>;
  /** Published after the state is durable, without the run's items, which may be too many: `GetRun` has them. Key: the run. */
  readonly runs: RunEvent;
  /** Models or their keys were changed: every process reads its model settings again. */
  readonly settings: AnswerShape<events.ModelSettingsChanged>;
  /** A call of MCP was cancelled at another replica than the one that serves it. */
  readonly mcp: AnswerShape<events.McpCallCancelled>;
  /** Ended spans of a traced process. */
  readonly spans: AnswerShape<events.SpansEnded>;
}

/** Subscribes to a topic that is keyed by tenant, whatever the tenant. */
export const EVERY_TENANT = '>';
/** The only key of the topic `settings`: there is one server. */
export const MODEL_SETTINGS = 'models';
/** The only key of the topic `mcp`. */
export const MCP_CANCELLED = 'cancelled';
/** The only key of the topic `spans`. */
export const SPANS_ENDED = 'ended';

/**
 * Messages that stand for a value of the domain whose names or shape differ, or in which absent, null and empty do:
 * mapped-messages.ts converts them.
 */
export interface MappedMessages {
  'engram.auth.v1.FindManagedResponse': Mapped<managed.FindManagedResponse, { readonly managed: Managed | null }>;
  'engram.auth.v1.SetQuotaRequest': Mapped<auth.SetQuotaRequest, QuotaRequest>;
  'engram.auth.v1.TenantHibernation': Mapped<managed.TenantHibernation, TenantHibernation>;
  'engram.auth.v1.UsageOfKind': Mapped<auth.UsageOfKind, UsageOfKind>;
  'engram.cognify.v1.CognifyOptions': Mapped<cognify.CognifyOptions, CognifyOptions>;
  'engram.cognify.v1.ItemPatch': Mapped<cognify.ItemPatch, ItemPatch>;
  'engram.cognify.v1.RecordRunRequest': Mapped<cognify.RecordRunRequest, RunRecord>;
  'engram.cognify.v1.RestoredPart': Mapped<RestoredPartMessage, RestoredPart>;
  'engram.cognify.v1.Triplet': Mapped<cognify.Triplet, PatchedTriplet>;
  'engram.common.v1.Dataset': Mapped<Dataset, DatasetRef>;
  'engram.common.v1.IdList': Mapped<IdList, readonly string[]>;
  'engram.common.v1.PresentedKey': Mapped<principal.PresentedKey, PresentedKey>;
  'engram.common.v1.Principal': Mapped<principal.Principal, Principal>;
  'engram.common.v1.RunItem': Mapped<run.RunItem, RunItem>;
  'engram.common.v1.RunState': Mapped<run.RunState, RunState>;
  'engram.common.v1.SnapshotBucket': Mapped<SnapshotBucket, SnapshotPlace>;
  'engram.events.v1.RunEvent': Mapped<events.RunEvent, RunEvent>;
  'engram.events.v1.Span': Mapped<events.Span, Span>;
  'engram.ingest.v1.AppendSessionRequest': WithNulls<ingest.AppendSessionRequest>;
  'engram.ingest.v1.DataItem': Mapped<ingest.DataItem, DataItem>;
  'engram.ingest.v1.QaNote': WithNulls<ingest.QaNote>;
  'engram.ingest.v1.SessionSpending': Mapped<ingest.SessionSpending, SessionSpending | null>;
  'engram.ingest.v1.TakeDownloadRequest': WithNulls<ingest.TakeDownloadRequest>;
}

/** Absent fields are null, as in answers. */
type WithNulls<M extends Message> = Mapped<M, AnswerFields<M>>;

interface Mapped<M extends Message, Value> {
  readonly message: M;
  readonly value: Value;
}

/** Types of fields by name, in every message, where they are narrower than in `proto/`. */
interface FieldTypes {
  comparedTenantIds: readonly TenantId[];
  datasetId: DatasetId;
  datasetIds: readonly DatasetId[];
  otherTenantIds: readonly TenantId[];
  ownerId: UserId;
  seenByTenantId: TenantId;
  tenantId: TenantId;
}

/** The same for fields of one message; wins over `FieldTypes`. */
interface NarrowedFields {
  'engram.auth.v1.AuthenticateResponse': { tenantState: Closure };
  'engram.auth.v1.BeginErasureResponse': { dataset: DatasetRef | null; receipt: string };
  'engram.auth.v1.Credential': { kind: 'api-key' | 'bearer' | 'cookie' };
  'engram.auth.v1.DeclaredGrant': { permissions: readonly Permission[] };
  'engram.auth.v1.EndErasureResponse': { receipt: string };
  'engram.auth.v1.EnsureDatasetRequest': { datasetId: string };
  'engram.auth.v1.EnsureTenantRequest': { state: DeclaredTenantState; tenantId: string };
  'engram.auth.v1.ResolveDatasetsRequest': { permission: Permission };
  'engram.auth.v1.SetQuotaRequest': { tenant: TenantId };
  'engram.auth.v1.UsageRequest': { tenant: TenantId };
  'engram.cognify.v1.ApplyGraphPatchResponse': { lostItems: readonly DataItemId[] };
  'engram.cognify.v1.CognifyOptions': { likeItem: DataItemId };
  'engram.cognify.v1.EmbeddingMigration': { phase: 'copying' | 'settling' };
  'engram.cognify.v1.ItemGeneration': { item: DataItemId };
  'engram.cognify.v1.ProbeModelRequest': { kind: 'language' | 'embedding' };
  'engram.cognify.v1.ProbeModelResponse': { outcome: 'accepted' | 'rejected' | 'invalid' | 'unreachable' };
  'engram.cognify.v1.RecordRunRequest': { status: RunStatus; outcome: RunOutcome };
  'engram.common.v1.PresentedKey': { permissions: readonly Permission[] | null; datasets: readonly DatasetId[] | null };
  'engram.common.v1.RunItem': { status: RunItem['status'] };
  'engram.common.v1.RunState': { status: RunStatus };
  'engram.events.v1.AccessChanged': { tenant: TenantId; userId: UserId };
  'engram.events.v1.RunEvent': { kind: RunEvent['kind'] };
  'engram.events.v1.Span': { attributes: JsonObject };
  'engram.ingest.v1.AppendSessionRequest': { datasetId: string; entry: NewQa };
  'engram.ingest.v1.ErasureProgress': { receipt: string };
  'engram.ingest.v1.NoteOnTurnRequest': { note: TurnNote };
  'engram.ingest.v1.RecordSkillRunsRequest': { runs: readonly UsedSkill[] };
  'engram.search.v1.LookForRequest': { datasetId: string };
  'engram.system.v1.DescribeResponse': { openapi: string };
}

/** Message fields that are always there, by their name or one message's. Their generated types do not say so. */
export const REQUIRED_FIELDS = [
  'attributes',
  'dataset',
  'from',
  'options',
  'origin',
  'to',
  'engram.auth.v1.OpenCanaryResponse.principal',
  'engram.cognify.v1.RestoreBuiltRequest.snapshot',
  'engram.cognify.v1.StartRunResponse.run',
  'engram.events.v1.RunEvent.run',
  'engram.ingest.v1.EraseDatasetResponse.progress',
  'engram.ingest.v1.EraseTenantResponse.progress',
  'engram.ingest.v1.RestoreDatasetRequest.snapshot',
] as const;
type RequiredField = (typeof REQUIRED_FIELDS)[number];

/** A message of `proto/` inside a request. */
type RequestShape<M extends Message> = M['$typeName'] extends keyof MappedMessages
  ? MappedMessages[M['$typeName']]['value']
  : RequestFields<M>;

/** A message of `proto/` inside an answer. */
type AnswerShape<M extends Message> = M['$typeName'] extends keyof MappedMessages
  ? MappedMessages[M['$typeName']]['value']
  : AnswerFields<M>;

type RequestFields<M extends Message> = Flat<
  { readonly [Key in RequiredKeys<M> as FieldName<Key>]: FieldValue<M, Key, 'request'> } & {
    readonly [Key in OptionalKeys<M> as FieldName<Key>]?: FieldValue<M, Key, 'request'> | undefined;
  }
>;

export type AnswerFields<M extends Message> = {
  readonly [Key in FieldKeys<M> as FieldName<Key>]:
    | FieldValue<M, Key, 'answer'>
    | (IsOptional<M, Key> extends true ? null : never);
};

type Flat<Shape> = { readonly [Key in keyof Shape]: Shape[Key] };
type FieldKeys<M> = Exclude<keyof M, '$typeName' | '$unknown'> & string;
type RequiredKeys<M extends Message> = Exclude<FieldKeys<M>, OptionalKeys<M>>;
type OptionalKeys<M extends Message> = {
  [Key in FieldKeys<M>]: IsOptional<M, Key> extends true ? Key : boolean extends M[Key] ? Key : never;
}[FieldKeys<M>];

type IsOptional<M extends Message, Key extends FieldKeys<M>> = undefined extends M[Key]
  ? Key extends RequiredField
    ? false
    : `${M['$typeName']}.${Key}` extends RequiredField
      ? false
      : null extends FieldValue<M, Key, 'request'>
        ? false
        : true
  : false;

/** JSON text travels in fields named `…Json`; see `isJsonText` in codec.ts. */
type FieldName<Key extends string> = Key extends `${infer Name}Json` ? Name : Key;

type FieldValue<M extends Message, Key extends FieldKeys<M>, Mode extends 'request' | 'answer'> =
  FieldName<Key> extends keyof Narrowed<M>
    ? Narrowed<M>[FieldName<Key>]
    : FieldName<Key> extends keyof FieldTypes
      ? FieldTypes[FieldName<Key>]
      : Key extends FieldName<Key>
        ? Value<Exclude<M[Key], undefined>, Mode>
        : M[Key] extends readonly unknown[]
          ? readonly JsonObject[]
          : JsonObject;

type Narrowed<M extends Message> = M['$typeName'] extends keyof NarrowedFields
  ? NarrowedFields[M['$typeName']]
  : Record<never, never>;

type Value<Field, Mode extends 'request' | 'answer'> = Field extends bigint
  ? number
  : Field extends Message
    ? Mode extends 'request'
      ? RequestShape<Field>
      : AnswerShape<Field>
    : Field extends readonly (infer Item)[]
      ? readonly Value<Item, Mode>[]
      : Field extends { readonly case: infer Case extends string; readonly value: infer Inner }
        ? { readonly [Key in Case]: Value<Inner, Mode> }
        : Field extends { readonly case: undefined }
          ? never
          : Field;

/** State that a Tenant resource demands of the workload. */
export type DeclaredTenantState = Exclude<TenantState, 'Erasing'>;

/** Why a tenant does not answer. */
export type Closure = Exclude<TenantState, 'Active'>;

/** Options of a cognify run. Null or absent means the default. */
export type CognifyOptions = {
  readonly [Key in Exclude<keyof RequestFields<cognify.CognifyOptions>, 'ontologyKeys'>]?:
    | RequestFields<cognify.CognifyOptions>[Key]
    | null;
};

export type AccessChange = Topics['access'];
export type Credential = RequestOf<'auth.Authenticate'>['credentials'][number];
export type DeclaredGrant = RequestOf<'auth.SyncGrants'>['grants'][number];
export type ErasedThing = RequestOf<'auth.BeginErasure'>;
/** The tenant or dataset that a resource manages. */
interface Managed {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId | null;
  readonly isErasing: boolean;
}
interface QuotaRequest {
  readonly tenant: TenantId;
  /** Kinds that are missing have the server's default. */
  readonly limits: BudgetLimits;
}
type UsageOfKind = Flat<Omit<AnswerFields<auth.UsageOfKind>, 'kind'> & { readonly kind: BudgetKind }>;

/** An edge as a text of its own. */
export interface PatchedTriplet {
  readonly ordinal: number;
  readonly payload: TripletPayload;
  readonly nodeSets: readonly string[];
}

/** Rows that are added to one generation of an item and are removed with it. */
export interface ItemPatch extends Provenance {
  readonly triplets: readonly PatchedTriplet[];
}

/** Limit of one patch: triplets of all of its items, and as many removed generations. */
export const MAX_PATCH_ROWS = 1000;

type RecordRunFields = RequestFields<cognify.RecordRunRequest>;
type RunRecord = Flat<
  Omit<RecordRunFields, 'items' | 'completedBefore'> & Partial<Pick<RecordRunFields, 'items' | 'completedBefore'>>
>;
export type CompletedRun = RecordRunFields['completedBefore'][number];

export type EmbeddingState = AnswerOf<'cognify.MigrateEmbedding'>;
export type DatasetEmbedding = NonNullable<EmbeddingState['embedding']>;

/** A part of a snapshot, with the space of the snapshot's vectors where it has any. */
interface RestoredPart {
  readonly part: SnapshotPart;
  readonly space: VectorSpace | null;
}
export type RestoreStep = RequestOf<'cognify.RestoreBuilt'>['step'];

/** Start of the keys of blobs that were downloaded for a dataset and wait to be taken. */
export const DOWNLOADS_PREFIX = 'downloads/';
export type ErasureProgress = AnswerOf<'ingest.EraseDataset'>['progress'];
export type CanaryLeak = AnswerOf<'ingest.CheckIsolation'>['leaks'][number];
export type KeptDocument = RequestOf<'ingest.KeepDocuments'>['documents'][number];
export type SessionNote = RequestOf<'ingest.NoteOnSession'>['notes'][number];
export type SnapshotInfo = AnswerOf<'ingest.ListSnapshots'>['snapshots'][number];
export type DeclaredSource = RequestOf<'integrations.SyncSources'>['sources'][number];
export type SourceState = AnswerOf<'integrations.SyncSources'>['sources'][number];
export type SnapshotRef = RequestOf<'ingest.RestoreDataset'>['snapshot'];
