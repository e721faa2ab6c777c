import { z } from 'zod';
import { STAGE_NAMES } from '../../common/domain/improve-stages.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { runInfo } from '../../common/platform/http/answer-schemas.ts';
import { orFixedFailure } from '../../common/platform/http/fixed-failure.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import {
  lenientBoolean,
  lenientNumber,
  optional,
  optionalOrBlank,
  stringList,
  uuid,
} from '../../common/platform/http/schema.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ImproveParts } from '../engine/improve-passes.ts';
import type { ImproveResult } from '../engine/improve-result.ts';
import { improveDataset, startImprove } from '../engine/start-improve.ts';
import type { CustomEnrichment, ImproveOptions } from '../model.ts';
import { presentImproveResult } from '../presenters/improve-result.ts';
import { requireKnownTasks } from '../structure/memify-tasks.ts';

/** `ImprovePayloadDTO` (cognify-improve.md §3.1); `reviewConflicts` is accepted and has no effect. */
const improveBody = z
  .object({
    extractionTasks: optional(stringList()),
    enrichmentTasks: optional(stringList()),
    data: optional(z.string()),
    datasetName: optional(z.string()),
    datasetId: optionalOrBlank(uuid()),
    nodeName: optional(stringList()),
    runInBackground: optional(lenientBoolean()),
    buildGlobalContextIndex: optional(lenientBoolean()),
    buildTruthSubspace: optional(lenientBoolean()),
    reviewConflicts: lenientBoolean().optional(),
    feedbackAlpha: optional(lenientNumber({ above: 0, max: 1 })),
    sessionIds: optional(stringList()),
  })
  .meta({ id: 'ImprovePayloadDTO', examples: [{ datasetName: 'notes', sessionIds: ['chat-1'] }] });

type ImproveBody = z.output<typeof improveBody>;

const stageResult = z
  .object({
    stage: z.enum(STAGE_NAMES),
    status: z.enum(['completed', 'already_completed', 'skipped', 'errored']),
    reason: z.string().nullable().describe('Set when skipped'),
    error: z.string().nullable(),
    counts: z.record(z.string(), z.int()),
    duration_ms: z.int(),
    run: runInfo.nullable().describe('Of a stage that is a pipeline'),
  })
  .meta({ id: 'StageResult' });

const improveAnswer = z
  .object({
    dataset_id: z.uuid().nullable(),
    dataset_name: z.string().nullable(),
    session_ids: z.array(z.string()),
    stages: z.array(stageResult).describe('One per stage, in stage order'),
    background: z.boolean(),
    finished: z.boolean(),
    error: z.string().nullable(),
    rerun_requested: z.boolean(),
    rerun_passes: z.array(z.array(stageResult)),
    memify_run: z.record(z.string(), runInfo).describe('By dataset id; empty unless tasks were run'),
    status: z.enum(['completed', 'errored', 'skipped', 'running']),
  })
  .meta({ id: 'ImproveResult' });

/** `MemifyPayloadDTO` (cognify-improve.md §4). */
export const memifyBody = improveBody
  .pick({
    extractionTasks: true,
    enrichmentTasks: true,
    data: true,
    datasetName: true,
    datasetId: true,
    nodeName: true,
    runInBackground: true,
  })
  .meta({ id: 'MemifyPayloadDTO', examples: [{ datasetName: 'notes' }] });

export const memifyAnswer = z.record(z.string(), runInfo).describe('By dataset id');

const { routes, post } = routesOf<ImproveParts>({ tag: 'improve' });

/** POST /improve (cognify-improve.md §3). */
export const improveRoutes = routes(
  post('/api/v1/improve', 'improve', {
    summary: 'Persist sessions in the graph of a dataset, learn from them, and enrich the graph',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'json', schema: improveBody, carriesDocument: true },
    responses: {
      200: {
        description: 'The result of each stage, or that the improve runs in the background',
        schema: improveAnswer,
      },
      402: { description: 'Persisting the sessions stopped on an exhausted budget' },
      403: { description: 'The dataset is unknown or not writable' },
      409: { description: 'Persisting the sessions failed' },
      422: { description: 'An unknown task name' },
    },
    async handle({ principal, body, context }, parts) {
      if (!body.datasetId && !body.datasetName) {
        throw new HttpError(400, { detail: 'Either datasetId or datasetName must be provided.' });
      }
      const options = optionsOf(body, parts.settings.feedbackAlpha);
      const sessionIds = (body.sessionIds ?? []).filter((id) => id !== '');
      requireFew(sessionIds);
      return guarded(parts, async () => {
        const dataset = await datasetOf(parts, body, { ...context, principal });
        // Without the signal of the request: the improve goes on when the client disconnects.
        const { signal: _, ...lasting } = context;
        const request = { dataset, principal, context: lasting, sessionIds, options };
        if (body.runInBackground) return json(presentImproveResult(await startImprove(parts, request)));
        return replyOf(await improveDataset(parts, request));
      });
    },
  }),
);

/** Limit of sessions, which are claimed in one commit. */
const MAX_SESSIONS = 1000;

function requireFew(sessionIds: readonly string[]): void {
  if (sessionIds.length <= MAX_SESSIONS) return;
  throw engramError('InvalidRequestError', `sessionIds may name at most ${MAX_SESSIONS} sessions.`);
}

function optionsOf(body: ImproveBody, defaultAlpha: number): ImproveOptions {
  const { buildTruthSubspace = false, buildGlobalContextIndex = false, feedbackAlpha = defaultAlpha } = body;
  const custom = customOf(body);
  return { buildTruthSubspace, buildGlobalContextIndex, feedbackAlpha, nodeNames: body.nodeName ?? [], custom };
}

/** Reads the named tasks; null when there are no tasks and no text. */
function customOf({ extractionTasks = [], enrichmentTasks = [], data = '' }: ImproveBody): CustomEnrichment | null {
  requireKnownTasks([...extractionTasks, ...enrichmentTasks]);
  if (extractionTasks.length + enrichmentTasks.length === 0 && data === '') return null;
  return { extractionTasks, enrichmentTasks, data: data === '' ? null : data };
}

export async function datasetOf(
  { messenger }: ImproveParts,
  { datasetId, datasetName = '' }: Pick<ImproveBody, 'datasetId' | 'datasetName'>,
  context: CallContext,
): Promise<DatasetRef> {
  const selection = datasetId ? { ids: [datasetId] } : { names: [datasetName], createMissing: true };
  const { datasets } = await messenger.call('auth.ResolveDatasets', { permission: 'write', ...selection }, context);
  const [dataset] = datasets;
  if (dataset === undefined) throw engramError('DatasetNotFoundError', 'There are no datasets to work with.');
  return dataset;
}

/** Makes the reply; a failure of the fatal stage becomes an error status (decisions.md, Improve). */
function replyOf(result: ImproveResult): Reply {
  const { failure } = result;
  if (failure === null) return json(presentImproveResult(result));
  if (!isEngramError(failure)) throw failure;
  const status = failure.wireName === 'LLMPaymentRequiredError' ? 402 : 409;
  const { detail, message: error } = failure;
  return json({ error, detail, improve_result: presentImproveResult(result) }, status);
}

function guarded({ logger }: ImproveParts, work: () => Promise<Reply>): Promise<Reply> {
  const text = 'An error occurred during graph improvement.';
  return orFixedFailure(logger, { event: 'improve.failed', text }, work);
}
