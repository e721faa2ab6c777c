import { z } from 'zod';
import { PERMISSIONS } from '../../common/kernel/principal.ts';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, optional, uuid, uuidList } from '../../common/platform/http/schema.ts';
import { createApiKey, deleteApiKey, MAX_KEY_LIFE_SECONDS } from '../keys/api-keys.ts';
import type { AuthDependencies } from '../model.ts';
import { presentApiKey } from '../presenters/api-key.ts';

/** Limits of texts that are stored with the key and in the audit log. */
const MAX_TEXT_LENGTH = 200;
/** More datasets than most accounts have; each is looked up. */
const MAX_KEY_DATASETS = 1000;

/** ISO-8601; without an offset UTC, like all naive times of the API. */
const instant = z.iso
  .datetime({ offset: true, local: true })
  .transform((text) => new Date(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`));

const createApiKeyBody = z
  .object({
    name: z.string().max(MAX_TEXT_LENGTH).nullish(),
    /** Free text of the owner; returned as `user_label`, because `label` is the masked key. */
    label: z.string().max(MAX_TEXT_LENGTH).nullish(),
    expires_at: optional(z.union([lenientInteger({ min: 1, max: MAX_KEY_LIFE_SECONDS }), instant])),
    /** Null or absent: no limit. An empty list is ambiguous and refused. */
    permissions: optional(z.array(z.enum(PERMISSIONS)).min(1)),
    datasets: optional(uuidList({ min: 1, max: MAX_KEY_DATASETS })),
  })
  .meta({ id: 'ApiKeyCreationPayload' });

const apiKeyParams = z.object({ apiKeyId: uuid() });

const apiKeyRecord = z
  .object({
    key: z.string(),
    label: z.string(),
    name: z.string().nullable(),
    id: z.string(),
    user_label: z.string().nullable(),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
    expires_at: z.string().nullable(),
    permissions: z.array(z.enum(PERMISSIONS)).nullable(),
    datasets: z.array(z.string()).nullable(),
  })
  .meta({ id: 'ApiKey' });

const path = '/api/v1/auth/api-keys';

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'auth', permission: ofAccount('account') });

export const apiKeyRoutes = routes(
  get(path, 'listApiKeys', {
    summary: 'List own API keys, without the keys',
    responses: { 200: { description: 'The keys, oldest first', schema: z.array(apiKeyRecord) } },
    async handle({ principal }, deps) {
      const keys = await deps.apiKeys.ofUser(principal.id);
      return json(keys.map((key) => presentApiKey(key)));
    },
  }),
  post(path, 'createApiKey', {
    summary: 'Create an API key; it is shown only once',
    body: { kind: 'json', schema: createApiKeyBody },
    responses: {
      200: { description: 'The key', schema: apiKeyRecord },
      400: { description: 'The maximum number of keys is reached, or `expires_at` has passed' },
      403: { description: 'A dataset is not readable by the caller' },
    },
    async handle({ principal, body }, deps) {
      const { key, text } = await createApiKey(deps, principal, {
        name: body.name ?? null,
        label: body.label ?? null,
        expires: body.expires_at ?? null,
        permissions: body.permissions ?? null,
        datasets: body.datasets ?? null,
      });
      return { json: presentApiKey(key, text), headers: { 'cache-control': 'no-store' } };
    },
  }),
  remove(`${path}/:apiKeyId`, 'deleteApiKey', {
    summary: 'Delete an API key',
    params: apiKeyParams,
    responses: { 200: { description: 'Deleted', schema: nothing }, 404: { description: 'No such key of the caller' } },
    async handle({ principal, params }, deps) {
      await deleteApiKey(deps, principal.id, params.apiKeyId);
      return json(null);
    },
  }),
);
