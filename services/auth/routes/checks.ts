import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';

const checkConnection = onDemand(async () => (await import('../settings/check-connection.ts')).checkConnection);

export function checkRoutes(deps: AuthDependencies): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/checks/connection',
      tag: 'checks',
      summary: 'Whether the hosted service (COGNEE_CLOUD_API_URL) accepts the key in X-Api-Key',
      auth: 'user',
      permission: NO_PERMISSION,
      responses: {
        200: { description: 'It does', schema: nothing },
        400: { description: 'CloudApiKeyMissingError' },
        503: { description: 'CloudConnnectionError' },
      },
      async handle({ headers, signal }) {
        await checkConnection(deps, headers['x-api-key'], signal);
        return json(null);
      },
    }),
  ];
}
