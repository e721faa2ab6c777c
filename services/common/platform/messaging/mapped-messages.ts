import type { Quota } from '../../../../proto/gen/engram/auth/v1/auth_pb.ts';
import { BUDGET_KINDS, type BudgetKind, type BudgetLimit } from '../../domain/budget.ts';
import { SNAPSHOT_PART_KINDS, type SnapshotPart } from '../../domain/snapshot.ts';
import { engramError } from '../../kernel/errors.ts';
import type { AnswerFields, CallPath, MappedMessages, RequestOf } from './messages.ts';

/** Between the plain form of a message, in which absent fields are null, and the value that it stands for. */
interface Mapping<Plain, Value> {
  readonly toPlain?: (value: Value) => { readonly [Key in keyof Plain]?: unknown };
  readonly fromPlain?: (plain: Plain) => Unbranded<Value>;
  /** A field of the type is null where it is absent, in requests too. */
  readonly isNullable?: true;
}

/** Ids were checked where they came in; between services they are taken as they are. */
type Unbranded<Value> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Unbranded<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Unbranded<Value[Key]> }
      : Value;

type Mappings = {
  readonly [Name in keyof MappedMessages]: Mapping<
    AnswerFields<MappedMessages[Name]['message']>,
    MappedMessages[Name]['value']
  >;
};

const MAPPINGS: Mappings = {
  'engram.auth.v1.FindManagedResponse': {
    toPlain: ({ managed }) => managed ?? {},
    fromPlain: ({ tenantId, ...rest }) => ({ managed: tenantId === null ? null : { tenantId, ...rest } }),
  },
  'engram.auth.v1.SetQuotaRequest': {
    toPlain: ({ tenant, limits }) => ({
      tenant,
      quotas: Object.entries(limits).map(([kind, { limit, action }]) => ({
        kind,
        limit,
        warnsOnly: action === 'Warn',
      })),
    }),
    fromPlain: ({ tenant, quotas }) => ({ tenant, limits: Object.fromEntries(quotas.map(limitOf)) }),
  },
  'engram.auth.v1.TenantHibernation': {},
  'engram.auth.v1.UsageOfKind': { fromPlain: ({ kind, ...usage }) => ({ ...usage, kind: budgetKind(kind) }) },
  'engram.cognify.v1.CognifyOptions': {
    toPlain: ({ ontologies, ...options }) => ({ ...options, ontologies: ontologies ?? [], ontologyKeys: [] }),
    fromPlain: ({ ontologies, ontologyKeys: _, ...options }) =>
      withoutNulls({ ...options, ontologies: ontologies.length === 0 ? null : ontologies }),
  },
  'engram.cognify.v1.ItemPatch': {
    toPlain: ({ item, generation, triplets }) => ({ origin: { item, generation }, triplets }),
    fromPlain: ({ origin, triplets }) => ({ ...origin, triplets }),
  },
  'engram.cognify.v1.RecordRunRequest': {
    toPlain: ({ items = [], completedBefore = [], ...record }) => ({ ...record, items, completedBefore }),
    fromPlain: ({ dataset, pipeline, runId, status, items, completedBefore, ...rest }) => ({
      dataset,
      pipeline,
      runId,
      status,
      items,
      ...(completedBefore.length === 0 ? {} : { completedBefore }),
      ...withoutNulls(rest),
    }),
  },
  'engram.cognify.v1.RestoredPart': {
    toPlain: ({ part, space }) => ({ ...part, spaceModel: space?.model, spaceDimensions: space?.dimensions }),
    fromPlain: ({ kind, spaceModel, spaceDimensions, ...part }) => ({
      part: { ...part, kind: partKind(kind) },
      space: spaceModel === null ? null : { model: spaceModel, dimensions: spaceDimensions },
    }),
  },
  'engram.cognify.v1.Triplet': {
    toPlain: ({ ordinal, payload, nodeSets }) => ({ ...payload, ordinal, nodeSets }),
    fromPlain: ({ ordinal, nodeSets, ...payload }) => ({ ordinal, payload, nodeSets }),
  },
  'engram.common.v1.Dataset': {
    toPlain: ({ withheld: _, ...dataset }) => dataset,
    fromPlain: ({ reader, ...dataset }) => ({ ...dataset, ...withoutNulls({ reader }) }),
  },
  'engram.common.v1.IdList': { toPlain: (values) => ({ values }), fromPlain: ({ values }) => values },
  'engram.common.v1.PresentedKey': {
    fromPlain: ({ tenant, ...key }) => ({ ...key, ...withoutNulls({ tenant }) }),
  },
  'engram.common.v1.Principal': {
    fromPlain: ({ key, ...principal }) => ({ ...principal, ...withoutNulls({ key }) }),
  },
  'engram.common.v1.RunItem': {
    toPlain: ({ item, ...rest }) => ({ ...rest, itemId: item }),
    fromPlain: ({ itemId, status, failure }) => ({ item: itemId, status, ...withoutNulls({ failure }) }),
  },
  'engram.common.v1.RunState': {
    toPlain: ({ dataset, ...rest }) => ({ ...rest, datasetId: dataset }),
    fromPlain: ({ datasetId, ...rest }) => ({ ...rest, dataset: datasetId }),
  },
  'engram.common.v1.SnapshotBucket': { isNullable: true },
  'engram.events.v1.RunEvent': {
    toPlain: ({ run, ...event }) => ({ ...event, run: { ...run, items: [] } }),
    fromPlain: ({ kind, run, stage, stageIndex, stageTotal, reason }) => {
      if (kind === 'interrupted') return { kind, run, reason: reason ?? '' };
      return kind === 'progress' ? { kind, run, stage: stage ?? '', stageIndex, stageTotal } : { kind, run };
    },
  },
  'engram.events.v1.Span': {
    toPlain: ({ id, parentId, rootId, status, owner, ...span }) => ({
      ...span,
      spanId: id,
      parentSpanId: parentId,
      rootSpanId: rootId,
      failed: status === 'ERROR',
      userId: owner?.user,
      tenantId: owner?.tenant,
    }),
    fromPlain: ({ spanId, parentSpanId, rootSpanId, failed, userId, tenantId, attributes, ...span }) => ({
      ...span,
      id: spanId,
      parentId: parentSpanId,
      rootId: rootSpanId,
      status: failed ? 'ERROR' : 'OK',
      attributes: Object.fromEntries(Object.entries(attributes ?? {}).filter(isSpanAttribute)),
      owner: userId === null || tenantId === null ? null : { user: userId, tenant: tenantId },
    }),
  },
  'engram.ingest.v1.AppendSessionRequest': {},
  'engram.ingest.v1.DataItem': {
    fromPlain: ({ revision, ...item }) => ({ ...item, ...withoutNulls({ revision }) }),
  },
  'engram.ingest.v1.QaNote': {},
  'engram.ingest.v1.SessionSpending': { isNullable: true },
  'engram.ingest.v1.TakeDownloadRequest': {},
};

/** Mappings by the full name of the message; the plain forms are those of its fields. */
export const MAPPED_MESSAGES = MAPPINGS as unknown as Readonly<Record<string, Mapping<object, unknown> | undefined>>;

/** Words for values of enums; otherwise they are the names of `proto/` in lower case. */
export const ENUM_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'engram.auth.v1.CredentialKind': { API_KEY: 'api-key' },
  'engram.auth.v1.TenantState': { ACTIVE: 'Active', HIBERNATED: 'Hibernated', DISABLED: 'Disabled' },
  'engram.common.v1.RunStatus': {
    STARTED: 'DATASET_PROCESSING_STARTED',
    COMPLETED: 'DATASET_PROCESSING_COMPLETED',
    ERRORED: 'DATASET_PROCESSING_ERRORED',
  },
};

type WithoutNulls<Shape> = { readonly [Key in keyof Shape]?: NonNullable<Shape[Key]> };

/** The members of an object that are not null. */
function withoutNulls<Shape extends object>(shape: Shape): WithoutNulls<Shape> {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== null)) as WithoutNulls<Shape>;
}

function isSpanAttribute(entry: [string, unknown]): entry is [string, string | number | boolean] {
  return ['string', 'number', 'boolean'].includes(typeof entry[1]);
}

function limitOf({ kind, limit, warnsOnly }: AnswerFields<Quota>): readonly [BudgetKind, BudgetLimit] {
  return [budgetKind(kind), { limit: limit ?? null, action: warnsOnly ? 'Warn' : 'Enforce' }];
}

/** A kind of another release must not be taken for no limit. */
function budgetKind(word: string): BudgetKind {
  const kind = BUDGET_KINDS.find((one) => one === word);
  if (kind === undefined) throw new Error(`there is no budget of ${word}`);
  return kind;
}

function partKind(word: string): SnapshotPart['kind'] {
  const kind = SNAPSHOT_PART_KINDS.find((one) => one === word);
  if (kind === undefined) throw new Error(`unknown kind of part ${word}`);
  return kind;
}

/** Checks of requests before they are sent. */
export const REQUEST_CHECKS: { readonly [Path in CallPath]?: (request: RequestOf<Path>) => void } = {
  'auth.CreateDataset': ({ name }) => requireWellFormed(name),
  'auth.ResolveDatasets': ({ createMissing, names = [] }) => {
    if (createMissing) for (const name of names) requireWellFormed(name);
  },
};

/** UTF-8 cannot carry half a surrogate pair: a dataset with another name would be created. */
function requireWellFormed(name: string): void {
  if (!name.isWellFormed())
    throw engramError('InvalidDatasetNameError', 'Dataset name cannot contain invalid Unicode.');
}
