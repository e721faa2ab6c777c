import { z } from 'zod';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { presentApiKey } from '../presenters/api-key.ts';
import { apiKeyParams, apiKeyRecord, createApiKeyBody } from './api-key.schema.ts';

const createApiKey = onDemand(async () => (await import('../keys/api-keys.ts')).createApiKey);
const deleteApiKey = onDemand(async () => (await import('../keys/api-keys.ts')).deleteApiKey);

/** Own API keys. */
export function apiKeyRoutes(deps: AuthDependencies): readonly Route[] {
  return [list(deps), create(deps), remove(deps)];
}

const path = '/api/v1/auth/api-keys';

function list(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'auth',
    summary: 'List own API keys, without the keys',
    auth: 'user',
    permission: ofAccount('account'),
    responses: { 200: { description: 'The keys, oldest first', schema: z.array(apiKeyRecord) } },
    async handle({ principal }) {
      const keys = await deps.apiKeys.ofUser(principal.id);
      return json(keys.map((key) => presentApiKey(key)));
    },
  });
}

function create(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path,
    tag: 'auth',
    summary: 'Create an API key; it is shown this once',
    auth: 'user',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: createApiKeyBody },
    responses: {
      200: { description: 'The key', schema: apiKeyRecord },
      400: { description: 'The maximum number of keys is reached, or `expires_at` has passed' },
      403: { description: 'A dataset is not readable by the caller' },
    },
    async handle({ principal, body }) {
      const { key, text } = await createApiKey(deps, principal, {
        name: body.name ?? null,
        label: body.label ?? null,
        expires: body.expires_at ?? null,
        permissions: body.permissions ?? null,
        datasets: body.datasets ?? null,
      });
      return { json: presentApiKey(key, text), headers: { 'cache-control': 'no-store' } };
    },
  });
}

function remove(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path: `${path}/:apiKeyId`,
    tag: 'auth',
    summary: 'Delete an API key',
    auth: 'user',
    permission: ofAccount('account'),
    params: apiKeyParams,
    responses: { 200: { description: 'Deleted', schema: nothing }, 404: { description: 'No such key of the caller' } },
    async handle({ principal, params }) {
      await deleteApiKey(deps, principal.id, params.apiKeyId);
      return json(null);
    },
  });
}
