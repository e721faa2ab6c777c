import { z } from 'zod';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { serverAddress } from '../../common/platform/http/host-name.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { IDENTITY, NO_PERMISSION, ofAccount, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { createUser, currentUser, isReservedAddress } from '../accounts/account.ts';
import { changeUser, updateOwnAccount } from '../accounts/change-user.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import { presentAccountMail } from '../mail/account-mail.ts';
import { presentUser } from '../presenters/account.ts';
import type { MailDependencies } from '../sign-in/account-mails.ts';
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

const path = '/api/v1/users/:userId';

const REFUSALS = {
  403: { description: 'Not a superuser, or it is the default account or the last superuser' },
  404: { description: 'No such account' },
};

const { routes, get, post, patch, remove } = routesOf<MailDependencies>({ tag: 'users' });

/** Accounts, for their owners and for superusers. */
export const userRoutes = routes(
  get('/api/v1/users/me', 'getOwnUser', {
    summary: 'Own account',
    permission: IDENTITY,
    responses: { 200: { description: 'The account', schema: userRecord } },
    handle: async ({ principal }, deps) => json(presentUser(await currentUser(deps, principal.id))),
  }),
  patch('/api/v1/users/me', 'updateOwnUser', {
    summary: 'Change own address or password',
    auth: 'strict',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: updateAccountBody },
    responses: {
      200: { description: 'The account', schema: userRecord },
      400: { description: 'UPDATE_USER_EMAIL_ALREADY_EXISTS or UPDATE_USER_INVALID_PASSWORD' },
      403: { description: 'A change that the default account, agents and API keys with a budget cannot make' },
    },
    handle: async ({ principal, body }, deps) => json(presentUser(await updateOwnAccount(deps, principal, body))),
  }),
  /** Returns the id of an address, for sharing. The part before the @ must have the stored spelling. */
  post('/api/v1/users/get-user-id', 'findUserId', {
    idempotent: true,
    summary: 'Id of the account with an address',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: addressBody },
    responses: {
      200: { description: 'The id', schema: userIdAnswer },
      404: { description: 'No account has exactly this address' },
    },
    async handle({ body }, deps) {
      const user = await deps.users.findByEmail(body.email);
      if (user === null || user.email !== body.email) throw new HttpError(404, { detail: 'User not found' });
      return json({ user_id: user.id });
    },
  }),
  get('/api/v1/users', 'listUsers', {
    summary: 'Accounts of people by page, without those of agents',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    query: z.object({ limit: lenientInteger({ min: 1, max: 500 }).default(50), after: z.string().optional() }),
    responses: { 200: { description: 'A page of them', schema: userPage }, 403: { description: 'Not a superuser' } },
    async handle({ query: { limit, after } }, deps) {
      const { items, next } = await deps.users.people({ limit, after: after ?? null });
      return json({ users: items.map(presentUser), next });
    },
  }),
  post('/api/v1/users/invitations', 'inviteUser', {
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
    async handle({ principal, body, headers }, deps) {
      const server = serverAddress(deps.settings, headers['host']);
      const { user, link, expiresAt } = await inviteUser(deps, principal, { email: body.email, server });
      const answer = { user: presentUser(user), mailed: link === null, link, expires_at: expiresAt.toISOString() };
      return { status: 201, json: answer, headers: { 'cache-control': 'no-store' } };
    },
  }),
  get(path, 'getUser', {
    summary: 'An account',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    params: userParams,
    responses: { 200: { description: 'The account', schema: userRecord }, ...REFUSALS },
    handle: async ({ params }, deps) => json(presentUser(await found((id) => currentUser(deps, id), params.userId))),
  }),
  patch(path, 'updateUser', {
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
    async handle({ params, body, principal }, deps) {
      const { is_active: isActive, is_superuser: isSuperuser, is_verified: isVerified, email, password } = body;
      const wanted = { email, password, isActive, isSuperuser, isVerified };
      return json(presentUser(await found((id) => changeUser(deps, id, wanted, principal.id), params.userId)));
    },
  }),
  remove(path, 'deleteUser', {
    summary: 'Delete an account with its agents and keys; its datasets get another owner',
    auth: 'strict-superuser',
    permission: SUPERUSER,
    params: userParams,
    responses: { 204: { description: 'Deleted' }, ...REFUSALS },
    async handle({ params, principal }, deps) {
      await found((id) => deleteUser(deps, id, principal.id), params.userId);
      return { status: 204 };
    },
  }),
);

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

interface InvitationRequest {
  readonly email: string;
  /** Address of the server, for a link to its own page. */
  readonly server: string;
}

/**
 * Creates an account without a password and a link that sets one, once, within seven days; also for an account that has
 * none yet. The link is null when it was mailed. Errors: 400 `REGISTER_USER_ALREADY_EXISTS` for any other account,
 * `TooManyRequestsError` for too many mails.
 */
async function inviteUser(deps: MailDependencies, principal: Principal, { email, server }: InvitationRequest) {
  const { mailer: configured, links, tokens, sent, perAccountAndHour, outbox } = deps.mail;
  const mailer = configured?.reachesPeople ? configured : null;
  const user = await invitee(deps, principal, email);
  if (mailer !== null && !(await sent.take(user.id, deps.clock.now(), perAccountAndHour)))
    throw engramError('TooManyRequestsError', 'This account got too many mails within the hour.', { retryable: true });
  const { token, expiresAt } = await tokens.issueInvitation(user);
  // The page of a reset takes the token of an invitation, too.
  const link = links.reset ?? `${server}/#reset={token}`;
  await deps.audit.record({
    tenant: PERSONAL_TENANT,
    action: 'user.invited',
    actor: principal.id,
    subject: user.id,
    details: { email: user.email, mailed: mailer !== null },
  });
  if (mailer === null) return { user, link: link.replaceAll('{token}', token), expiresAt };
  const mail = presentAccountMail({ purpose: 'invitation', to: user.email, token, link });
  outbox.add((signal) => mailer.send(mail, signal));
  return { user, link: null, expiresAt };
}

async function invitee(deps: MailDependencies, { id: by }: Principal, email: string): Promise<User> {
  const known = await deps.users.findByEmail(email);
  if (known === null && !isReservedAddress(deps.settings, email)) {
    try {
      return await createUser(deps, { email, passwordHash: NO_PASSWORD, isSuperuser: false, isVerified: false }, by);
    } catch (error) {
      if (!(error instanceof DuplicateKeyError)) throw error;
    }
  }
  const canBeInvited = known?.isActive && known.parentId === null && known.passwordHash === NO_PASSWORD;
  if (canBeInvited && !isReservedAddress(deps.settings, email)) return known;
  throw new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
