import { z } from 'zod';
import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, type Reply, type RouteRequest, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { warningHeader } from '../../common/platform/http/warning-header.ts';
import { answerSchema } from '../answers/response-schema.ts';
import type { SearchParts } from '../dependencies.ts';
import type { ResponseSchema } from '../model.ts';
import { presentFindings } from '../presenters/recall-item.ts';
import { presentExplanation, presentPassage } from '../presenters/rows.ts';
import { type AnswerSources, answerSources } from '../recall/answer-sources.ts';
import { RECALL_SCOPES, RecallScopeError } from '../recall/lane-plan.ts';
import { type RecallFinding, type RecallListener, type RecallRequest, recall } from '../recall/recall.ts';
import { isCompletion } from '../search-types.ts';
import { eventStream } from './event-stream.ts';
import { requestOf } from './request.ts';
import { answerSourcesAnswer, type RecallBody, recallBody, recallItems } from './search.schema.ts';

const { routes, get, post } = routesOf<SearchParts>({ tag: 'recall' });

export const recallRoutes = routes(
  post('/api/v1/recall', 'recall', {
    idempotent: true,
    summary: 'Recall from memory: graph and sessions',
    permission: onDatasets('read', 'on every searched dataset'),
    body: { kind: 'json', schema: recallBody },
    responses: {
      200: {
        description: 'Items in lane order; with `stream` events, the last of which is `final` or `error`',
        schema: recallItems,
        events:
          '`stage`: {stage}. `delta`: {text}, a part of the answer. `answer_done`. `reset`: the parts so far do not count. `final`: {results}, the items. `error`: {message, status}',
      },
      402: { description: 'LLMPaymentRequiredError' },
      403: { description: 'PermissionDeniedError' },
      404: { description: 'NoDataError, DatasetNotFoundError' },
      409: { description: 'Anything else' },
      422: { description: 'Unknown scope and other values' },
    },
    handle: (request, deps) => answer(deps, request),
  }),
  get('/api/v1/recall/sources', 'getAnswerSources', {
    summary: 'The passages that the answers of a session were made from',
    permission: onDatasets('read', 'on the dataset of the session'),
    query: z.object({ session_id: z.string() }),
    responses: {
      200: { description: 'By answer, oldest first; without what was forgotten since', schema: answerSourcesAnswer },
      404: { description: 'No such session in sight' },
    },
    async handle({ principal, query, context }, deps) {
      const answers = await answerSources(deps, { principal, context, sessionId: query.session_id });
      if (answers === null) throw new HttpError(404, { detail: 'session not found' });
      return json(answers.map(presentAnswerSources));
    },
  }),
);

function presentAnswerSources({ qaId, dataset, sources }: AnswerSources) {
  return {
    qa_id: qaId,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    sources: sources.map(({ why, ...passage }) =>
      why === null ? presentPassage(passage) : presentExplanation({ ...passage, ...why }),
    ),
  };
}

type Request = RouteRequest<Record<string, never>, Record<string, never>, RecallBody>;

async function answer(deps: SearchParts, request: Request): Promise<Reply> {
  const asked = recallRequestOf(request);
  const run = async (listener?: RecallListener) => {
    try {
      return await recall(deps, asked, listener);
    } catch (error) {
      throw wireError(deps, error);
    }
  };
  if (!wantsStream(request)) {
    const findings = await run();
    return { ...json(presentFindings(findings, asked)), ...warningHeader(unusedSchema(findings, asked)) };
  }
  return eventStream(async (listener) => presentFindings(await run(listener), asked), request.signal);
}

/** Says that the schema had no effect: only an answer is an object of it. */
function unusedSchema(
  findings: readonly RecallFinding[],
  { responseSchema, onlyContext }: RecallRequest,
): string | null {
  const searched = findings.find((finding) => finding.lane === 'graph');
  if (responseSchema === null || onlyContext || searched === undefined || isCompletion(searched.type)) return null;
  return `responseSchema has no effect with ${searched.type}, which returns no answer`;
}

function recallRequestOf(request: Request): RecallRequest {
  const { body } = request;
  return {
    ...requestOf(request),
    responseSchema: responseSchemaOf(body.responseSchema),
    type: body.searchType ?? null,
    scope: body.scope === null || body.scope === undefined ? null : [body.scope].flat(),
    toolsTrigger: body.toolsTrigger ?? 'always',
    contextProfile: body.contextProfile ?? 'qa',
  };
}

function responseSchemaOf(given: Readonly<Record<string, unknown>> | null | undefined): ResponseSchema | null {
  if (given === null || given === undefined) return null;
  const title = typeof given['title'] === 'string' ? given['title'].slice(0, 60) : '';
  return { name: title.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'Answer', schema: answerSchema(given) };
}

/** Returns the error for the wire: service errors keep their status, an unknown scope has a fixed text, others are 409 (search-recall.md §6.8). */
function wireError(deps: SearchParts, error: unknown): unknown {
  if (isEngramError(error) || error instanceof HttpError) return error;
  if (error instanceof RecallScopeError) {
    const names = RECALL_SCOPES.map((name) => `'${name}'`).join(', ');
    const text = `Invalid recall request. If a scope was given, valid values are: [${names}].`;
    return new HttpError(422, { error: text }, { cause: error });
  }
  deps.logger.error('recall.failed', { error });
  return new HttpError(409, { error: 'An error occurred during recall.' }, { cause: error });
}

/** Whether the body requests a stream, or the Accept header ranks it above JSON. */
function wantsStream({ body, headers }: Request): boolean {
  if (body.stream !== undefined) return body.stream;
  const accept = headers['accept'] ?? '';
  const rank = (type: string) => {
    const part = accept.split(',').find((entry) => entry.trim().toLowerCase().startsWith(type));
    if (part === undefined) return 0;
    return Number(/;\s*q=([\d.]+)/u.exec(part)?.[1] ?? 1);
  };
  return rank('text/event-stream') > Math.max(rank('application/json'), 0);
}
