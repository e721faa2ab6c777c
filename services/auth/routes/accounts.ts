import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isLimited } from '../../common/kernel/principal.ts';
import { nameConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { credentialsOf } from '../../common/platform/http/credentials.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';
import { createUser, isReservedAddress, passwordProblem } from '../accounts/account.ts';
import type { OidcDependencies } from '../oidc/oidc-client.ts';
import { presentUser } from '../presenters/account.ts';
import { authenticate } from '../sign-in/authenticate.ts';
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

interface NewAccount {
  /** Validated and normalised, as it is stored. */
  readonly email: string;
  readonly password: string;
}

/**
 * Creates an ordinary account. When sign-up is closed, the request needs the credentials of a superuser, except for the first
 * account, which becomes a superuser. Reserved addresses, those of the default account and of agents, cannot be registered.
 * Errors: 400 `REGISTER_USER_ALREADY_EXISTS` and `REGISTER_INVALID_PASSWORD`; `PermissionDeniedError` when sign-up is closed.
 */
async function registerUser(deps: OidcDependencies, { email, password }: NewAccount, presented: readonly Credential[]) {
  const isFirst = await mayRegisterFirst(deps);
  const isPublic = deps.settings.signUp === 'open' || isFirst;
  const by = isPublic ? null : await requireSuperuser(deps, presented);
  const isTaken = isReservedAddress(deps.settings, email) || (await deps.users.findByEmail(email)) !== null;
  if (isTaken) throw alreadyExists();
  const reason = passwordProblem(password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'REGISTER_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  const account = { email, passwordHash, isSuperuser: isFirst, isVerified: false };
  return nameConflict(createUser(deps, account, by), { duplicate: alreadyExists });
}

/** Whether the next account is the first one of a server that has no account to sign in with otherwise. */
async function mayRegisterFirst({ settings, users }: OidcDependencies): Promise<boolean> {
  return settings.registersFirstSuperuser && !(await users.exist());
}

async function requireSuperuser(deps: OidcDependencies, credentials: readonly Credential[]): Promise<UserId> {
  const principal = await authenticate(deps, { credentials, strict: true });
  if (principal?.isSuperuser && !isLimited(principal)) return principal.id;
  throw engramError('PermissionDeniedError', 'Sign-up is closed on this server: ask an administrator for an account.');
}

function alreadyExists(): HttpError {
  return new HttpError(400, { detail: 'REGISTER_USER_ALREADY_EXISTS' });
}
