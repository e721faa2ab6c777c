import type { RouteRequest } from '../../common/platform/http/route.ts';
import type { SearchRequest } from '../model.ts';
import type { RecallBody, SearchBody } from './search.schema.ts';

const DEFAULT_TOP_K = 15;

/** Converts the fields that the bodies of search and recall share. */
export function requestOf(
  request: Pick<RouteRequest<unknown, unknown, SearchBody | RecallBody>, 'principal' | 'context' | 'body' | 'signal'>,
): Omit<SearchRequest, 'type'> {
  const { principal, context, body, signal } = request;
  return {
    principal,
    context: { ...context, signal },
    query: body.query,
    datasets: {
      ...(body.datasetIds === undefined ? {} : { ids: body.datasetIds }),
      ...(body.datasets === undefined ? {} : { names: body.datasets }),
    },
    topK: body.topK === undefined ? DEFAULT_TOP_K : body.topK,
    sessionId: body.sessionId || null,
    systemPrompt: body.systemPrompt ?? null,
    nodeSets: body.nodeName === undefined || body.nodeName.length === 0 ? undefined : body.nodeName,
    onlyContext: body.onlyContext ?? false,
    includeReferences: body.includeReferences ?? false,
    explain: body.explain ?? false,
    structure: { truth: body.useTruthSubspace ?? false, globalContext: body.useGlobalContext ?? false },
    view: { currentOnly: body.currentOnly ?? true, asOf: body.asOf ?? null },
    codeQuery: body.codeQuery ?? null,
    responseSchema: null,
  };
}
