import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { PERMISSIONS, type Permission, type Principal } from '../../common/kernel/principal.ts';
import type { HttpError } from '../../common/platform/http/http-error.ts';
import { isAdmitted } from '../access/admission.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import type { Program } from '../credentials/program-tokens.ts';
import { type ApiKeyRequest, insertApiKey, limitsOf } from '../keys/api-keys.ts';
import type { AuthDependencies } from '../model.ts';
import { limitRequests, oauthError } from './program-requests.ts';

/** The request of a program that a person decides on (RFC 6749 §4.1.1 with RFC 7636). */
interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string | null;
}

type Decision = { readonly approve: false } | ({ readonly approve: true } & Omit<ApiKeyRequest, 'name' | 'label'>);

/** Registrations per client address. */
const REGISTRATIONS = { capacity: 30, refillPerSecond: 0.5 };
/** The id contains them, and is sent in addresses. */
const MAX_URIS_LENGTH = 2_000;
/** The code contains their ids, and is sent in an address. */
const MAX_DATASETS = 40;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Schemes that a browser carries out or reads itself, instead of handing the address to a program. */
const BROWSER_SCHEMES = new Set([
  ...['javascript:', 'data:', 'file:', 'blob:', 'vbscript:', 'about:', 'filesystem:', 'view-source:', 'ftp:'],
  ...['ws:', 'wss:'],
]);

/**
 * Registers a program and returns its `client_id` (RFC 7591). Errors: 400 `invalid_redirect_uri`, `TooManyRequestsError`.
 */
export async function registerProgram(
  { programs, deviceLimiter }: AuthDependencies,
  program: Program,
  remoteAddress: string,
): Promise<string> {
  await limitRequests(deviceLimiter, `register ${remoteAddress}`, REGISTRATIONS, 'Too many registrations.');
  const { redirectUris } = program;
  const bad = redirectUris.find((uri) => !mayBeRedirectedTo(uri));
  if (bad !== undefined) {
    const rule = 'must be https, http on this machine (127.0.0.1, localhost), or of a scheme of the program';
    throw oauthError('invalid_redirect_uri', `${JSON.stringify(bad.slice(0, 200))} ${rule}, without a fragment.`);
  }
  if (redirectUris.join('').length > MAX_URIS_LENGTH)
    throw oauthError('invalid_redirect_uri', `redirect_uris have more than ${MAX_URIS_LENGTH} characters together.`);
  return programs.issueClientId(program);
}

function mayBeRedirectedTo(text: string): boolean {
  const uri = URL.canParse(text) ? new URL(text) : null;
  if (uri === null || uri.hash !== '' || uri.username !== '' || uri.password !== '') return false;
  if (uri.protocol === 'http:') return LOOPBACK.has(uri.hostname);
  return !BROWSER_SCHEMES.has(uri.protocol);
}

/**
 * Returns the program of a request. `InvalidRequestError`: unknown, or it never registered the address that the person would
 * be sent to; nobody is sent there then.
 */
export async function requestingProgram(
  { programs }: AuthDependencies,
  { clientId, redirectUri }: Pick<AuthorizationRequest, 'clientId' | 'redirectUri'>,
): Promise<Program> {
  const program = await programs.readClientId(clientId);
  if (program === null)
    throw engramError('InvalidRequestError', 'This server does not know the program: start the sign-in again in it.');
  if (program.redirectUris.some((registered) => isSameAddress(registered, redirectUri))) return program;
  throw engramError('InvalidRequestError', 'The program asks to be answered at an address that it has not registered.');
}

/** Exact, but for the port of an address on the person's own machine (RFC 8252 §7.3). */
function isSameAddress(registered: string, given: string): boolean {
  if (registered === given) return true;
  if (!URL.canParse(given) || !URL.canParse(registered)) return false;
  const [one, other] = [new URL(registered), new URL(given)];
  if (one.protocol !== 'http:' || !LOOPBACK.has(one.hostname)) return false;
  one.port = other.port;
  return one.href === other.href;
}

/**
 * Lets the program act as the principal within limits, or refuses it. Returns the address to send the browser to. Errors:
 * those of `requestingProgram` and of the limits of a key.
 */
export async function decideProgramSignIn(
  deps: AuthDependencies,
  principal: Principal,
  { request, decision, issuer }: { request: AuthorizationRequest; decision: Decision; issuer: string },
): Promise<string> {
  await requestingProgram(deps, request);
  const answer = new URL(request.redirectUri);
  if (decision.approve) {
    await requireNoKeyBudget(deps, principal);
    if ((decision.datasets?.length ?? 0) > MAX_DATASETS)
      throw engramError('InvalidRequestError', `Choose at most ${MAX_DATASETS} datasets, or all of them.`);
    const limits = await limitsOf(deps, principal, decision);
    const code = await deps.programs.issueCode({ ...request, userId: principal.id, limits });
    answer.searchParams.set('code', code);
  } else answer.searchParams.set('error', 'access_denied');
  if (request.state !== null) answer.searchParams.set('state', request.state);
  answer.searchParams.set('iss', issuer);
  return answer.href;
}

interface ProgramKey {
  readonly text: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: string | null;
}

interface CodeRequest {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/**
 * Exchanges an authorization code for an API key named after the program, once. Errors, as 400 with the codes of RFC 6749
 * §5.2: `invalid_client`, `invalid_grant`; and 400 when the person has the maximum number of keys.
 */
export async function redeemAuthorizationCode(
  deps: AuthDependencies,
  { code, clientId, redirectUri, verifier }: CodeRequest,
): Promise<ProgramKey> {
  const { programs, revokedTokens, users, clock } = deps;
  const program = await programs.readClientId(clientId);
  if (program === null) throw oauthError('invalid_client', 'The server does not know the program: register it again.');
  const found = await programs.readCode(code, clientId);
  const isProven = found?.challenge === sha256(verifier, 'base64url');
  if (found === null || !isProven || found.redirectUri !== redirectUri) throw invalidGrant();
  const { userId, codeId, expiresAt, limits } = found;
  const user = await users.get(userId);
  if (user === null || !(await isAdmitted(deps, user))) throw invalidGrant();
  const created = await insertApiKey(deps, userId, { ...limits, name: program.name, label: null }, async () => {
    if (await revokedTokens.has(codeId)) throw invalidGrant();
    return revokedTokens.addWrites(codeId, expiresAt, clock.now());
  });
  return { text: created.text, permissions: limits.permissions ?? PERMISSIONS, expiresAt: limits.expiresAt };
}

function invalidGrant(): HttpError {
  return oauthError('invalid_grant', 'The code is used, expired, or of another program: sign in again.');
}
