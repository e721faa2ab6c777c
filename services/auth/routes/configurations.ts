import { z } from 'zod';
import type { JsonObject } from '../../common/kernel/json.ts';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { AuthDependencies } from '../model.ts';
import {
  type ListedConfiguration,
  listConfigurations,
  readConfiguration,
  storeConfiguration,
} from '../settings/stored-configurations.ts';

const MAX_NAME_LENGTH = 255;

/** Any object, unchanged: zod's record would drop names that it considers dangerous. */
const anyObject = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
    context.addIssue({ code: 'custom', message: 'Input should be a valid dictionary', params: { type: 'dict_type' } });
  })
  .meta({ type: 'object', additionalProperties: true })
  .transform((value) => value as JsonObject);

const storeConfigurationBody = z
  .object({ name: z.string().max(MAX_NAME_LENGTH), config: anyObject })
  .meta({ id: 'StorePrincipalConfigurationPayloadDTO' });

const configurationParams = z.object({ configId: uuid() });

const configurationRecord = z
  .object({
    id: z.string(),
    ownerId: z.string(),
    name: z.string(),
    configuration: z.record(z.string(), z.unknown()),
    createdAt: z.string(),
    updatedAt: z.string().nullable(),
  })
  .meta({ id: 'StoredConfiguration' });

const path = '/api/v1/configuration';

const { routes, get, post } = routesOf<AuthDependencies>({ tag: 'configuration' });

/** JSON objects that clients store under names of their choice. */
export const configurationRoutes = routes(
  post(`${path}/store_user_configuration`, 'storeConfiguration', {
    summary: 'Store an object under a name of the caller, replacing an earlier one',
    permission: ofAccount('configurations'),
    body: { kind: 'json', schema: storeConfigurationBody },
    responses: {
      200: { description: 'Stored', schema: nothing },
      413: { description: 'The object is too large, or there are too many names' },
    },
    async handle({ principal, body }, deps) {
      await storeConfiguration(deps, principal, { name: body.name, configuration: body.config });
      return json(null);
    },
  }),
  get(`${path}/get_user_configuration/:configId`, 'getConfiguration', {
    summary: 'An object of the caller or of one of their agents; {} for any other id',
    permission: ofAccount('configurations and those of own agents'),
    params: configurationParams,
    responses: { 200: { description: 'As it was stored', schema: z.record(z.string(), z.unknown()) } },
    async handle({ principal, params }, deps) {
      const stored = await readConfiguration(deps, principal, params.configId);
      return json(stored?.configuration ?? {});
    },
  }),
  get(`${path}/get_user_configuration`, 'listConfigurations', {
    summary: 'All objects of the caller and of their agents',
    permission: ofAccount('configurations and those of own agents'),
    responses: { 200: { description: 'By owner and name', schema: z.array(configurationRecord) } },
    async handle({ principal }, deps) {
      const stored = await listConfigurations(deps, principal);
      return json(stored.map(presentConfiguration));
    },
  }),
);

/** One entry of the list (proto/http/auth-integrations.md §5.1). */
function presentConfiguration(stored: ListedConfiguration) {
  const { id, ownerId, name, configuration, createdAt, updatedAt } = stored;
  return { id, ownerId, name, configuration, createdAt, updatedAt };
}
