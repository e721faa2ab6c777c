import { engramError } from '../../common/kernel/errors.ts';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { apiKeyHash } from '../credentials/api-key-text.ts';
import type { AuthDependencies } from '../model.ts';

const { routes, post } = routesOf<AuthDependencies>({ tag: 'checks' });

export const checkRoutes = routes(
  post('/api/v1/checks/connection', 'checkConnection', {
    idempotent: true,
    summary: 'Whether the hosted service (COGNEE_CLOUD_API_URL) accepts the key in X-Api-Key',
    permission: NO_PERMISSION,
    responses: {
      200: { description: 'It does', schema: nothing },
      400: { description: 'CloudApiKeyMissingError' },
      503: { description: 'CloudConnnectionError' },
    },
    async handle({ headers, signal }, deps) {
      await checkConnection(deps, headers['x-api-key'], signal);
      return json(null);
    },
  }),
);

/**
 * Checks that the hosted service accepts the key. A key of this server is not sent there and counts as none.
 * `CloudApiKeyMissingError` (400) without a key, `CloudConnnectionError` (503) otherwise.
 */
async function checkConnection({ apiKeys, cloudApi }: AuthDependencies, sent: string | undefined, signal: AbortSignal) {
  const key = sent?.trim() ?? '';
  if (key === '' || (await apiKeys.findByHash(apiKeyHash(key))) !== null) {
    const text = 'Failed to connect to the cloud service. Please add your API key to the local instance.';
    throw engramError('CloudApiKeyMissingError', text);
  }
  await cloudApi.checkKey(key, signal);
}
