import type { BudgetAccount } from '../../domain/budget.ts';
import type {
  ChunkProgress,
  ItemFailure,
  RunItem,
  RunOrigin,
  RunOutcome,
  RunState,
  RunStatus,
} from '../../domain/run.ts';
import type { DatasetId, RunId, UserId } from '../../kernel/brand.ts';
import type { DatasetRef } from '../../kernel/dataset.ts';
import { asId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { withoutUndefined } from '../../kernel/objects.ts';
import type { AnyScope, DatasetScope } from '../../kernel/scope.ts';
import { slices } from '../../kernel/slices.ts';
import {
  type DocumentStore,
  insert,
  removeWhere,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';
import type { OntologyFile } from '../ingest/ontologies.ts';

/** The newest state of a run; its history is in `runRecordsCollection`. */
export type RunDocument = {
  readonly pipeline: string;
  readonly datasetName: string;
  readonly userId: string;
  readonly status: RunStatus;
  readonly outcome: RunOutcome | null;
  readonly totalItems: number;
  /** 0 until the first item ended: the wire then shows no progress. */
  readonly completedItems: number;
  readonly stage: string | null;
  /** Chunks of the items that are being built; null or absent: none of them has many. */
  readonly chunks?: ChunkProgress | null;
  readonly counts: JsonObject | null;
  readonly errorClass: string | null;
  readonly errorMessage: string | null;
  readonly errorStatus: number | null;
  readonly background: boolean;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** The job that drives the run; null for runs that another service records. */
  readonly jobId: string | null;
  /** Claims of the job since an item was committed last: many of them mean that the work kills its worker. */
  readonly stalledClaims: number;
  /** Accounts that pay: the space, then the API key that started it. Absent in runs that were not charged. */
  readonly paidBy?: readonly BudgetAccount[];
  readonly sessionId?: string;
  /** Graph model, prompt and ontologies of the request; absent: none of its own. */
  readonly extraction?: RunExtraction;
  /** Absent: the service started it, or an earlier release recorded it. */
  readonly origin?: RunOrigin;
};

export type RunExtraction = {
  readonly graphModel: JsonObject | null;
  readonly customPrompt: string | null;
  readonly ontologies?: readonly OntologyFile[];
};

export const runsCollection: OwnedCollection<RunDocument> = {
  name: 'runs',
  level: 'dataset',
  owner: 'cognify',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['status', 'startedAt'] }, { fields: ['status', 'jobId', 'startedAt'], wide: true }],
};

/** The run with the newest record of a (dataset, pipeline). */
type RunHead = { readonly runId: string };

export const runHeadsCollection: OwnedCollection<RunHead> = {
  name: 'run_heads',
  level: 'dataset',
  owner: 'cognify',
  belongsTo: { dataset: 'scope' },
  indexes: [],
};

/** Outcomes of the items of a finished run, by run id. Lists can be long: those of earlier runs are not kept. */
type RunResult = {
  readonly pipeline: string;
  readonly endedAt: string;
  /** Id, outcome, and how it failed. */
  readonly items: readonly (readonly [string, RunItem['status']] | readonly [string, RunItem['status'], ItemFailure])[];
};

export const runResultsCollection: OwnedCollection<RunResult> = {
  name: 'run_results',
  level: 'dataset',
  owner: 'cognify',
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['pipeline', 'endedAt'] }],
};

/** Callers that wait for a run read its items; the next run may well have ended by then. */
const RESULTS_KEPT_MS = 3_600_000;

export interface StoredRun {
  readonly scope: DatasetScope;
  readonly version: number;
  readonly userId: UserId;
  readonly jobId: string | null;
  readonly stalledClaims: number;
  readonly background: boolean;
  readonly paidBy: readonly BudgetAccount[];
  readonly sessionId?: string;
  readonly extraction?: RunExtraction;
  readonly origin?: RunOrigin;
  /** While it goes on. */
  readonly chunks: ChunkProgress | null;
  /** State without items, which `items` reads. */
  readonly state: RunState;
  readonly document: RunDocument;
}

/** Enough of the dataset to record the end of a run whose dataset may be gone. */
export function datasetOf({ scope, state, userId }: StoredRun): DatasetRef {
  return {
    id: scope.dataset,
    tenant: scope.tenant,
    name: state.datasetName,
    ownerId: userId,
    createdAt: state.startedAt,
    updatedAt: null,
  };
}

interface NewResult {
  readonly run: RunId;
  readonly pipeline: string;
  readonly items: readonly RunItem[];
}

interface UnfinishedQuery {
  readonly startedBefore?: string;
  /** Only runs that no job of ours drives. */
  readonly withoutJob?: boolean;
  readonly limit: number;
}

export type Runs = ReturnType<typeof createRuns>;

/** Runs by id and by (dataset, pipeline). The writes are committed by the caller together with what they record. */
export function createRuns(store: DocumentStore) {
  const records = repository(store, runsCollection, storedRun);
  const STARTED = { status: 'DATASET_PROCESSING_STARTED' } as const;
  return {
    get: (scope: AnyScope, run: RunId) => records.get(scope, run),
    /** Unknown ids are left out. */
    getMany: async (scope: AnyScope, ids: readonly RunId[]) => await records.getMany(scope, ids),
    /** Newest run per dataset and pipeline; pairs that never ran are absent. */
    async newest(datasets: readonly DatasetRef[], pipelines: readonly string[]): Promise<readonly StoredRun[]> {
      const found: StoredRun[] = [];
      for (const [tenant, group] of Map.groupBy(datasets, (dataset) => dataset.tenant)) {
        const keys = group.flatMap(({ id }) => pipelines.map((pipeline) => pairId(id, pipeline)));
        for (const slice of slices(keys, 500)) {
          const heads = await store.getMany({ tenant }, runHeadsCollection, slice);
          const runs = await store.getMany(
            { tenant },
            runsCollection,
            heads.map((head) => head.value.runId),
          );
          found.push(...runs.map(storedRun));
        }
      }
      return found;
    },
    /** Outcomes per item; empty while the run goes on, and an hour after it when another run followed. */
    async items({ scope, state }: StoredRun): Promise<readonly RunItem[]> {
      const stored = await store.get(scope, runResultsCollection, state.id);
      if (stored === null) return [];
      return stored.value.items.map(([item, status, failure]) => ({
        item: asId(item),
        status,
        ...(failure === undefined ? {} : { failure }),
      }));
    },
    /** Runs in state STARTED, oldest first. `startedBefore`: ISO-8601. */
    async unfinished(scope: AnyScope, { startedBefore, withoutJob, limit }: UnfinishedQuery) {
      const page = await store.find(scope, runsCollection, {
        where: {
          ...STARTED,
          ...(startedBefore === undefined ? {} : { startedAt: { lessThan: startedBefore } }),
          ...(withoutJob === true ? { jobId: { exists: false } } : {}),
        },
        sort: [{ field: 'startedAt' }],
        limit,
      });
      return page.items.map(storedRun);
    },
    insertWrite: (run: RunId, document: RunDocument) => records.insertWrite(run, document),
    /** Fails the commit when the run has ended. */
    updateWrite: (run: RunId, change: Partial<RunDocument>) =>
      records.updateWrite(run, { where: STARTED, set: change, required: true }),
    /** Dropped silently when the run has ended. */
    tickWrite: (run: RunId, change: Partial<RunDocument>) => records.updateWrite(run, { where: STARTED, set: change }),
    /** `newest`: by pipeline. */
    async headWrites(scope: DatasetScope, newest: ReadonlyMap<string, RunId>): Promise<readonly Write[]> {
      const heads = new Map([...newest].map(([pipeline, runId]) => [pairId(scope.dataset, pipeline), { runId }]));
      const known = await store.getMany(scope, runHeadsCollection, [...heads.keys()]);
      const present = new Set(known.map(({ id }) => id));
      // Replaced when it exists, inserted when not. Of two inserts that race one commit fails.
      return [...heads].map(([id, head]) =>
        present.has(id) ? update(runHeadsCollection, id, { set: head }) : insert(runHeadsCollection, id, head),
      );
    },
    resultWrites(endedAt: string, results: readonly NewResult[]): readonly Write[] {
      const before = new Date(Date.parse(endedAt) - RESULTS_KEPT_MS).toISOString();
      const pipelines = [...new Set(results.map(({ pipeline }) => pipeline))];
      return [
        removeWhere(runResultsCollection, { pipeline: { in: pipelines }, endedAt: { lessThan: before } }),
        ...results.map(({ run, pipeline, items }) => {
          const list = items.map(({ item, status, failure }) =>
            failure === undefined ? ([item, status] as const) : ([item, status, failure] as const),
          );
          return insert(runResultsCollection, run, { pipeline, endedAt, items: list });
        }),
      ];
    },
  };
}

function pairId(dataset: DatasetId, pipeline: string): string {
  return `${dataset}/${pipeline}`;
}

function storedRun({ id, version, value, tenant, dataset }: Stored<RunDocument>): StoredRun {
  const { completedItems, totalItems, stage } = value;
  const isRunning = value.status === 'DATASET_PROCESSING_STARTED';
  const scope = { tenant: asId(tenant ?? ''), dataset: asId(dataset ?? '') } as DatasetScope;
  return {
    scope,
    version,
    userId: asId(value.userId),
    jobId: value.jobId,
    stalledClaims: value.stalledClaims,
    background: value.background,
    paidBy: value.paidBy ?? [],
    chunks: isRunning ? (value.chunks ?? null) : null,
    ...withoutUndefined({ sessionId: value.sessionId, extraction: value.extraction, origin: value.origin }),
    state: {
      id: asId(id),
      pipeline: value.pipeline,
      dataset: scope.dataset,
      datasetName: value.datasetName,
      status: value.status,
      progress: isRunning && completedItems > 0 ? { completedItems, totalItems, currentStage: stage } : null,
      items: [],
      counts: value.counts,
      errorClass: value.errorClass,
      errorMessage: value.errorMessage,
      errorStatus: value.errorStatus,
      startedAt: value.startedAt,
      endedAt: value.endedAt,
    },
    document: value,
  };
}
