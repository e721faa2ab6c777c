import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import type { OidcDependencies } from '../oidc/oidc-client.ts';
import { presentUser } from '../presenters/account.ts';
import { registerUser } from '../sign-in/register-user.ts';
import { registerBody, userRecord } from './account.schema.ts';

const { routes, post } = routesOf<OidcDependencies>({ tag: 'auth' });

/** Sign-up. */
export const accountRoutes = routes(
  post('/api/v1/auth/register', 'registerUser', {
    summary: 'Create an account',
    auth: 'none',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: registerBody },
    responses: {
      201: { description: 'The account', schema: userRecord },
      400: { description: 'REGISTER_USER_ALREADY_EXISTS or REGISTER_INVALID_PASSWORD' },
      403: { description: 'Sign-up is closed, and the caller is not a superuser' },
      429: { description: 'Too many at the moment' },
    },
    async handle({ body, headers }, deps) {
      const presented = credentialsOf(headers, deps.settings.cookieName);
      return json(presentUser(await registerUser(deps, body, presented)), 201);
    },
  }),
);
