import { defineRoute, json, type Route } from '../../common/http/route.ts';
import { NO_PERMISSION, own } from '../../common/http/route-permission.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { presentUser } from '../presenters/account.ts';
import { registerUser } from '../usecases/register-user.ts';
import { currentUser, updateOwnAccount } from '../usecases/update-own-account.ts';
import { registerBody, updateAccountBody, userRecord } from './account.schema.ts';

/** Accounts as their owners see them. */
export function accountRoutes(deps: AuthDependencies): readonly Route[] {
  return [register(deps), readOwn(deps), updateOwn(deps)];
}

function register(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/auth/register',
    tag: 'auth',
    summary: 'Create an account',
    auth: 'none',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: registerBody },
    responses: {
      201: { description: 'The account', schema: userRecord },
      400: { description: 'REGISTER_USER_ALREADY_EXISTS or REGISTER_INVALID_PASSWORD' },
      429: { description: 'Too many at the moment' },
    },
    async handle({ body }) {
      return json(presentUser(await registerUser(deps, body)), 201);
    },
  });
}

function readOwn(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/users/me',
    tag: 'users',
    summary: 'Own account',
    auth: 'user',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'The account', schema: userRecord } },
    async handle({ principal }) {
      return json(presentUser(await currentUser(deps, principal.id)));
    },
  });
}

function updateOwn(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/api/v1/users/me',
    tag: 'users',
    summary: 'Change own address or password',
    auth: 'strict',
    permission: own('account'),
    body: { kind: 'json', schema: updateAccountBody },
    responses: {
      200: { description: 'The account', schema: userRecord },
      400: { description: 'UPDATE_USER_EMAIL_ALREADY_EXISTS or UPDATE_USER_INVALID_PASSWORD' },
      403: { description: 'The address of the default account is set by configuration' },
    },
    async handle({ principal, body }) {
      const change = { email: body.email ?? undefined, password: body.password ?? undefined };
      return json(presentUser(await updateOwnAccount(deps, principal.id, change)));
    },
  });
}
