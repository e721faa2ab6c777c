import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Reply, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { resolveDatasets } from '../../common/platform/messaging/methods/auth.ts';
import type { ImproveParts } from '../engine/improve-passes.ts';
import type { ImproveResult } from '../engine/improve-result.ts';
import { presentImproveResult } from '../presenters/improve-result.ts';
import type { CustomEnrichment, ImproveOptions } from '../stage.ts';
import { requireKnownTasks } from '../structure/memify-tasks.ts';
import { type ImproveBody, improveAnswer, improveBody } from './improve.schema.ts';

const improveDataset = onDemand(async () => (await import('../usecases/improve-dataset.ts')).improveDataset);
const startImprove = onDemand(async () => (await import('../usecases/start-improve.ts')).startImprove);

/** POST /improve (cognify-improve.md §3). */
export function improveRoutes(parts: ImproveParts): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/improve',
      tag: 'improve',
      summary: 'Bridge what sessions hold into the graph of a dataset, learn from it, and enrich the graph',
      auth: 'user',
      permission: onDatasets('write', 'on the dataset; a new name is created'),
      body: { kind: 'json', schema: improveBody, carriesDocument: true },
      responses: {
        200: { description: 'What each stage came to, or that it goes on in the background', schema: improveAnswer },
        402: { description: 'Persisting the sessions stopped on an exhausted budget' },
        403: { description: 'The dataset is unknown or not writable' },
        409: { description: 'Persisting the sessions failed' },
        422: { description: 'An unknown task name' },
      },
      async handle({ principal, body, context }) {
        if (!body.datasetId && !body.datasetName) {
          throw new HttpError(400, { detail: 'Either datasetId or datasetName must be provided.' });
        }
        const options = optionsOf(body, parts.settings.feedbackAlpha);
        const sessionIds = (body.sessionIds ?? []).filter((id) => id !== '');
        requireFew(sessionIds);
        return guarded(parts, async () => {
          const dataset = await datasetOf(parts, body, { ...context, principal });
          // Whoever asked may go away: what was begun is ended.
          const { signal: _, ...lasting } = context;
          const request = { dataset, principal, context: lasting, sessionIds, options };
          if (body.runInBackground) return json(presentImproveResult(await startImprove(parts, request)));
          return replyOf(await improveDataset(parts, request));
        });
      },
    }),
  ];
}

/** All of them are claimed in one commit. */
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

/** Empty lists and an empty text are not given. */
function customOf({ extractionTasks = [], enrichmentTasks = [], data = '' }: ImproveBody): CustomEnrichment | null {
  requireKnownTasks([...extractionTasks, ...enrichmentTasks]);
  if (extractionTasks.length + enrichmentTasks.length === 0 && data === '') return null;
  return { extractionTasks, enrichmentTasks, data: data === '' ? null : data };
}

export async function datasetOf(
  { messenger }: Pick<ImproveParts, 'messenger'>,
  { datasetId, datasetName = '' }: Pick<ImproveBody, 'datasetId' | 'datasetName'>,
  context: CallContext,
): Promise<DatasetRef> {
  const selection = datasetId ? { ids: [datasetId] } : { names: [datasetName], createMissing: true };
  const { datasets } = await messenger.call(resolveDatasets, { permission: 'write', ...selection }, context);
  const [dataset] = datasets;
  if (dataset === undefined) throw engramError('DatasetNotFoundError', 'There are no datasets to work with.');
  return dataset;
}

/** A failure of the one stage without which improve cannot go on is the caller's business (decisions.md, Improve). */
function replyOf(result: ImproveResult): Reply {
  const { failure } = result;
  if (failure === null) return json(presentImproveResult(result));
  if (!isEngramError(failure)) throw failure;
  const status = failure.wireName === 'LLMPaymentRequiredError' ? 402 : 409;
  const { detail, message: error } = failure;
  return json({ error, detail, improve_result: presentImproveResult(result) }, status);
}

async function guarded(parts: Pick<ImproveParts, 'logger'>, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (isEngramError(error) || error instanceof HttpError) throw error;
    parts.logger.error('improve.failed', { error });
    throw new HttpError(409, { error: 'An error occurred during graph improvement.' });
  }
}
