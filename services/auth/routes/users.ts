import { z } from 'zod';
import type { UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { serverAddress } from '../../common/platform/http/host-name.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { IDENTITY, NO_PERMISSION, ofAccount, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import { currentUser } from '../accounts/account.ts';
import { changeUser, updateOwnAccount } from '../accounts/change-user.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import type { AuthDependencies } from '../model.ts';
import { presentUser } from '../presenters/account.ts';
import type { MailDependencies } from '../sign-in/account-mails.ts';
import { inviteUser } from '../sign-in/invitations.ts';
import {
  addressBody,
  changeUserBody,
  invitationAnswer,
  updateAccountBody,
  userIdAnswer,
  userPage,
  userParams,
  userRecord,
} from './account.schema.ts';

/** Accounts, for their owners and for superusers. */
export function userRoutes(deps: MailDependencies): readonly Route[] {
  return [
    readOwn(deps),
    updateOwn(deps),
    findId(deps),
    list(deps),
    invite(deps),
    read(deps),
    change(deps),
    remove(deps),
  ];
}

const path = '/api/v1/users/:userId';

function readOwn(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/users/me',
    tag: 'users',
    operationId: 'getOwnUser',
    summary: 'Own account',
    auth: 'user',
    permission: IDENTITY,
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
    operationId: 'updateOwnUser',
    summary: 'Change own address or password',
    auth: 'strict',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: updateAccountBody },
    responses: {
      200: { description: 'The account', schema: userRecord },
      400: { description: 'UPDATE_USER_EMAIL_ALREADY_EXISTS or UPDATE_USER_INVALID_PASSWORD' },
      403: { description: 'A change that the default account, agents and API keys with a budget cannot make' },
    },
    async handle({ principal, body }) {
      return json(presentUser(await updateOwnAccount(deps, principal, body)));
    },
  });
}

/** Returns the id of an address, for sharing. The part before the @ must have the stored spelling. */
function findId(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/users/get-user-id',
    tag: 'users',
    operationId: 'findUserId',
    idempotent: true,
    summary: 'Id of the account with an address',
    auth: 'user',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: addressBody },
    responses: {
      200: { description: 'The id', schema: userIdAnswer },
      404: { description: 'No account has exactly this address' },
    },
    async handle({ body }) {
      const user = await deps.users.findByEmail(body.email);
      if (user === null || user.email !== body.email) throw new HttpError(404, { detail: 'User not found' });
      return json({ user_id: user.id });
    },
  });
}

function list(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/users',
    tag: 'users',
    operationId: 'listUsers',
    summary: 'Accounts of people by page, without those of agents',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    query: z.object({ limit: lenientInteger({ min: 1, max: 500 }).default(50), after: z.string().optional() }),
    responses: { 200: { description: 'A page of them', schema: userPage }, 403: { description: 'Not a superuser' } },
    async handle({ query: { limit, after } }) {
      const { items, next } = await deps.users.people({ limit, after: after ?? null });
      return json({ users: items.map(presentUser), next });
    },
  });
}

function invite(deps: MailDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/users/invitations',
    tag: 'users',
    operationId: 'inviteUser',
    summary: 'Create an account whose owner chooses the password, by a mail or a link that is shown once',
    auth: 'superuser',
    permission: SUPERUSER,
    body: { kind: 'json', schema: addressBody },
    responses: {
      201: { description: 'The account; the link unless it was mailed', schema: invitationAnswer },
      400: { description: 'REGISTER_USER_ALREADY_EXISTS' },
      403: { description: 'Not a superuser' },
      429: { description: 'Too many mails to the account' },
    },
    async handle({ principal, body, headers }) {
      const server = serverAddress(deps.settings, headers['host']);
      const { user, link, expiresAt } = await inviteUser(deps, principal, { email: body.email, server });
      const answer = { user: presentUser(user), mailed: link === null, link, expires_at: expiresAt.toISOString() };
      return { status: 201, json: answer, headers: { 'cache-control': 'no-store' } };
    },
  });
}

function read(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag: 'users',
    operationId: 'getUser',
    summary: 'An account',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    params: userParams,
    responses: { 200: { description: 'The account', schema: userRecord }, ...REFUSALS },
    async handle({ params }) {
      return json(presentUser(await found((id) => currentUser(deps, id), params.userId)));
    },
  });
}

function change(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'PATCH',
    path,
    tag: 'users',
    operationId: 'updateUser',
    summary: 'Change an account',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    params: userParams,
    body: { kind: 'json', schema: changeUserBody },
    responses: {
      200: { description: 'The account', schema: userRecord },
      400: { description: 'UPDATE_USER_EMAIL_ALREADY_EXISTS or UPDATE_USER_INVALID_PASSWORD' },
      ...REFUSALS,
    },
    async handle({ params, body, principal }) {
      const { is_active: isActive, is_superuser: isSuperuser, is_verified: isVerified, email, password } = body;
      const wanted = { email, password, isActive, isSuperuser, isVerified };
      return json(presentUser(await found((id) => changeUser(deps, id, wanted, principal.id), params.userId)));
    },
  });
}

function remove(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path,
    tag: 'users',
    operationId: 'deleteUser',
    summary: 'Delete an account with its agents and keys; its datasets get another owner',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    params: userParams,
    responses: { 204: { description: 'Deleted' }, ...REFUSALS },
    async handle({ params, principal }) {
      await found((id) => deleteUser(deps, id, principal.id), params.userId);
      return { status: 204 };
    },
  });
}

const REFUSALS = {
  403: { description: 'Not a superuser, or it is the default account or the last superuser' },
  404: { description: 'No such account' },
};

/** An invalid id is answered like an unknown one, as the contract requires. */
async function found<Result>(act: (id: UserId) => Promise<Result>, text: string): Promise<Result> {
  if (!isUuid(text)) throw notFound();
  try {
    return await act(asId<UserId>(text));
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'UserNotFoundError') throw notFound();
    throw error;
  }
}

function notFound(): HttpError {
  return new HttpError(404, { detail: 'Not Found' });
}
