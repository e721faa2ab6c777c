import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets, own } from '../../common/platform/http/route-permission.ts';
import type { SearchParts } from '../dependencies.ts';
import { presentByDataset, presentHistory, presentMerged } from '../presenters/search-result.ts';
import { search } from '../search.ts';
import { requestOf } from './request.ts';
import { historyItems, searchBody, searchResults } from './search.schema.ts';

export function searchRoutes(deps: SearchParts): readonly Route[] {
  return [askSearch(deps), readHistory(deps, '/api/v1/search'), readHistory(deps, '/api/v1/recall')];
}

function askSearch(deps: SearchParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/search',
    tag: 'search',
    operationId: 'search',
    idempotent: true,
    summary: 'Search datasets',
    auth: 'user',
    permission: onDatasets('read', 'on every searched dataset'),
    body: { kind: 'json', schema: searchBody },
    responses: {
      200: {
        description: 'One entry per dataset, or the results themselves without access control',
        schema: searchResults,
      },
      400: { description: 'CypherSearchError, values of the wrong shape' },
      402: { description: 'LLMPaymentRequiredError' },
      403: { description: 'PermissionDeniedError, SearchTypeDisabledError' },
      404: { description: 'NoDataError, DatasetNotFoundError' },
      422: { description: 'QueryValidationError and other values that the type does not take' },
    },
    async handle(request) {
      const { body } = request;
      const agent = { skills: body.skills ?? null, tools: body.tools ?? null, maxIter: body.maxIter ?? null };
      const asked = { ...requestOf(request), type: body.searchType, agent };
      const outcomes = await search(deps, asked);
      return json(deps.settings.accessControl ? presentByDataset(outcomes, asked) : presentMerged(outcomes, asked));
    },
  });
}

function readHistory(deps: SearchParts, path: string): Route {
  const tag = path.endsWith('recall') ? 'recall' : 'search';
  return defineRoute({
    method: 'GET',
    path,
    tag,
    operationId: tag === 'recall' ? 'listRecalls' : 'listSearches',
    summary: 'Own questions and answers, oldest first',
    auth: 'user',
    permission: own('history'),
    responses: { 200: { description: 'Rows', schema: historyItems[tag] } },
    async handle({ principal }) {
      try {
        return json(presentHistory(await deps.history.ofUser({ tenant: principal.tenant }, principal.id)));
      } catch (error) {
        if (isEngramError(error)) throw error;
        throw new HttpError(500, { error: 'Internal server error', detail: null }, { cause: error });
      }
    },
  });
}
