import { z } from 'zod';
import { billOf, payerOf } from '../../common/domain/budget.ts';
import { RUN_STATUS_NAMES, type RunItem, type RunState, warningsOfRun } from '../../common/domain/run.ts';
import { unusedModelOptions } from '../../common/domain/unused-options.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { runInfo } from '../../common/platform/http/answer-schemas.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Reply, type Route, type RouteRequest } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, optional, stringList, uuidList } from '../../common/platform/http/schema.ts';
import { warningHeader } from '../../common/platform/http/warning-header.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { runError } from '../../common/platform/jobs/run-error.ts';
import { isPermitted } from '../../common/platform/messaging/is-permitted.ts';
import type { CognifyOptions } from '../../common/platform/messaging/messages.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Budgets } from '../../common/ports/budgets.ts';
import { findOntologies, keepOntologies, type Ontologies } from '../../common/records/ingest/ontologies.ts';
import { createSyncOrigins } from '../../common/records/integrations/sync-origins.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { startCognify } from '../runs/start-cognify.ts';

const cognifyBody = z
  .object({
    datasets: optional(stringList()),
    dataset_ids: optional(uuidList()),
    run_in_background: optional(lenientBoolean()).describe('Answer at once; the run goes on'),
    graph_model: optional(z.record(z.string(), z.unknown())).describe('JSON schema of the entities to look for'),
    custom_prompt: optional(z.string()).describe('Instructions to the model that reads the texts'),
    chunk_size: optional(lenientInteger()).describe('Tokens of a passage at most'),
    ontology_key: optional(stringList()).describe('Keys of ontologies of the caller'),
    chunks_per_batch: optional(lenientInteger({ min: 1 })),
    data_per_batch: optional(lenientInteger({ min: 1 })),
  })
  .meta({ id: 'CognifyPayloadDTO', examples: [{ datasets: ['notes'], run_in_background: false }] });

type CognifyBody = z.output<typeof cognifyBody>;

const cognifyAnswer = z.record(z.string(), runInfo).describe('By dataset id');

/** POST /cognify (cognify-improve.md §1.1), and the same for another memory that pushes datasets here (auth-integrations.md §5.3). */
export function cognifyRoutes(dependencies: CognifyRouteDependencies): readonly Route[] {
  const { store } = dependencies;
  const origins = createSyncOrigins(store);
  const common = {
    method: 'POST',
    idempotent: true,
    auth: 'user',
    permission: onDatasets('write', 'on every dataset; a new name is created'),
    body: { kind: 'json', schema: cognifyBody },
    responses: {
      200: { description: 'The run of each dataset', schema: cognifyAnswer },
      402: { description: 'Token budget exhausted' },
      403: { description: 'A dataset is unknown or not writable' },
      409: { description: 'Unknown ontology key' },
      429: { description: 'The budget allows no further concurrent run' },
      500: { description: 'The run ended with an error' },
    },
  } as const;
  return [
    defineRoute({
      ...common,
      path: '/api/v1/cognify',
      tag: 'cognify',
      operationId: 'cognify',
      summary: 'Build the knowledge graph of datasets from the data added to them',
      handle: (request) => cognifyDatasets(dependencies, request),
    }),
    defineRoute({
      ...common,
      path: '/api/cognify',
      tag: 'sync',
      operationId: 'cognifySynced',
      summary: 'The same for datasets that another memory pushed here, by the ids that they have there',
      async handle({ body, ...request }) {
        const { dataset_ids: ids = [] } = body;
        const ours = await Promise.all(ids.map(async (id) => (await origins.find(request.principal, id)) ?? id));
        return cognifyDatasets(dependencies, { ...request, body: { ...body, dataset_ids: ours } });
      },
    }),
  ];
}

type CognifyRouteDependencies = CognifyDependencies & {
  readonly budgets: Budgets;
  readonly blobs: BlobStore;
  readonly ontologies: Ontologies;
};

async function cognifyDatasets(
  dependencies: CognifyRouteDependencies,
  {
    principal,
    body,
    context,
    signal,
  }: Pick<RouteRequest<unknown, unknown, CognifyBody>, 'principal' | 'body' | 'context' | 'signal'>,
): Promise<Reply> {
  const { messenger, budgets, models } = dependencies;
  const options = optionsOf(body);
  const named = await findOntologies(dependencies.ontologies, principal.id, body.ontology_key ?? []);
  if ('problem' in named) throw new HttpError(409, { error: named.problem, detail: null });
  // Checked for all runs together, before a dataset is created; each run is then charged by itself.
  await budgets.check(billOf(payerOf(principal), { concurrentRuns: selected(body) }));
  const datasets = await datasetsOf(messenger, principal, body, context);
  const background = body.run_in_background ?? false;
  const origin = context.origin === undefined ? {} : { origin: context.origin };
  const started = await Promise.all(
    datasets.map(async (dataset) => {
      const kept = await keepOntologies(dependencies, scopeOf(dataset), named.named);
      if ('problem' in kept) throw new HttpError(409, { error: kept.problem, detail: null });
      const ontologies = kept.files.length === 0 ? {} : { ontologies: kept.files };
      const own = { ...options, ...ontologies };
      return startCognify(dependencies, { principal, dataset, options: own, background, ...origin });
    }),
  );
  if (background) {
    const { keepExtractions } = await models.current(principal.tenant);
    const unused = unusedModelOptions(options, keepExtractions);
    return { ...json(byDataset(started, presentStartedRun)), ...warningHeader(unused) };
  }
  const waiting = { ...context, principal, signal };
  const ended = await Promise.all(started.map(({ id }) => awaitRun(messenger, id, waiting)));
  const errored = ended.find(({ status }) => status === 'DATASET_PROCESSING_ERRORED');
  if (errored !== undefined) throw runFailure(errored);
  const readable = new Map<string, boolean>();
  for (const { dataset } of ended) {
    readable.set(dataset, await isPermitted(messenger, 'read', dataset, waiting));
  }
  const answer = byDataset(ended, (run) => presentEndedRun(run, readable.get(run.dataset) ?? false));
  return { ...json(answer), ...warningHeader(warningOf(ended)) };
}

/** Returns the warnings about options without effect, most of which are the same for all runs of a request. */
function warningOf(runs: readonly RunState[]): string | null {
  const warnings = new Set(runs.flatMap(warningsOfRun));
  return warnings.size === 0 ? null : [...warnings].join(' ');
}

function byDataset(runs: readonly RunState[], present: (run: RunState) => unknown): Record<string, unknown> {
  return Object.fromEntries(runs.map((run) => [run.dataset, present(run)]));
}

/** Counts the datasets that the request names. */
function selected({ dataset_ids: ids = [], datasets: names = [] }: CognifyBody): number {
  return new Set(ids.length > 0 ? ids : names).size;
}

async function datasetsOf(
  messenger: Messenger,
  principal: Principal,
  body: CognifyBody,
  context: CallContext,
): Promise<readonly DatasetRef[]> {
  const { dataset_ids: ids = [], datasets: names = [] } = body;
  const selection = ids.length > 0 ? { ids } : { names, createMissing: true };
  const request = { permission: 'write', ...selection } as const;
  const { datasets } = await messenger.call('auth.ResolveDatasets', request, { ...context, principal });
  return [...new Map(datasets.map((dataset) => [dataset.id, dataset])).values()];
}

/** Reads the options of the run. Every invalid option is refused here, before a dataset is created. */
function optionsOf(body: CognifyBody): CognifyOptions {
  if ((body.dataset_ids ?? []).length + (body.datasets ?? []).length === 0) {
    throw new HttpError(400, { error: 'No datasets or dataset_ids provided', detail: null });
  }
  const { chunk_size: chunkSize = 0, graph_model: graphModel } = body;
  if (chunkSize < 0) {
    throw engramError('InvalidChunkSizeError', `chunk_size must be a positive number of tokens, got ${chunkSize}`);
  }
  return {
    graphModel: graphModelOf(graphModel),
    ...(body.custom_prompt ? { customPrompt: body.custom_prompt } : {}),
    chunkSize: chunkSize === 0 ? null : chunkSize,
    chunksPerBatch: body.chunks_per_batch ?? null,
    ...(body.data_per_batch === undefined ? {} : { dataPerBatch: body.data_per_batch }),
  };
}

function graphModelOf(model: Record<string, unknown> | undefined): JsonObject | null {
  if (model === undefined || Object.keys(model).length === 0) return null;
  if (typeof model['title'] !== 'string' || model['title'].trim() === '') {
    throw engramError('InvalidGraphModelError', "graph_model must be a JSON schema with a 'title'.");
  }
  return model as JsonObject;
}

/**
 * Makes the response to a blocking request whose run ended with an error (cognify-improve.md §1.1). The legacy bodies always
 * have both keys; any other known error keeps its status and the common form.
 */
function runFailure(run: RunState): Error {
  const error = runError(run);
  const { wireName: name, message, status } = error;
  if (name === 'LLMPaymentRequiredError') {
    return new HttpError(402, { error: 'Token budget exhausted', detail: `${name}: ${message} (Status code: 402)` });
  }
  if (name === 'LLMAPIKeyNotSetError') {
    return new HttpError(500, { error: 'Pipeline run errored', detail: `${message} [${name}]` });
  }
  if (status === 500) return new HttpError(500, { error: 'Internal server error', detail: message });
  return error;
}

/** `PipelineRunInfo` of the wire (ingest.md §0.6). */
interface RunInfo {
  readonly status: string;
  readonly pipeline_run_id: string;
  readonly dataset_id: string;
  readonly dataset_name: string;
  readonly payload: unknown;
  readonly data_ingestion_info: readonly { readonly run_info: RunInfo & ItemError; readonly data_id: string }[] | null;
}

interface ItemError {
  readonly error_class?: string | null;
  readonly error_message?: string | null;
  readonly data_name?: string | null;
  /** It is not tried again until a client requests it. */
  readonly is_set_aside?: boolean;
}

function presentStartedRun(run: RunState): RunInfo {
  return { status: 'PipelineRunStarted', ...common(run), payload: [], data_ingestion_info: null };
}

/** Presents a run with its items, when the caller may read them. A failed item has its error message as payload. */
function presentEndedRun(run: RunState, showsItems: boolean): RunInfo {
  return {
    status: RUN_STATUS_NAMES[run.status],
    ...common(run),
    payload: run.counts,
    data_ingestion_info: showsItems
      ? run.items.map((entry) => ({ run_info: itemInfo(run, entry), data_id: entry.item }))
      : null,
  };
}

const ITEM_STATUS = {
  completed: 'PipelineRunCompleted',
  already_completed: 'PipelineRunAlreadyCompleted',
  errored: 'PipelineRunErrored',
} as const;

function itemInfo(run: RunState, { status, failure }: RunItem): RunInfo & ItemError {
  const info = { status: ITEM_STATUS[status], ...common(run), payload: null, data_ingestion_info: null };
  if (status !== 'errored') return info;
  return {
    ...info,
    payload: failure?.message ?? null,
    error_class: failure?.errorClass ?? null,
    error_message: failure?.message ?? null,
    data_name: failure?.name ?? null,
    is_set_aside: failure?.isSetAside ?? false,
  };
}

function common(run: RunState): Pick<RunInfo, 'pipeline_run_id' | 'dataset_id' | 'dataset_name'> {
  return { pipeline_run_id: run.id, dataset_id: run.dataset, dataset_name: run.datasetName };
}
