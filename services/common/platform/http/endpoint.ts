import type { IncomingMessage } from 'node:http';
import type { RunOrigin } from '../../domain/run.ts';
import { isUnattended } from '../../domain/unattended-requests.ts';
import { type EngramError, engramError } from '../../kernel/errors.ts';
import { isLimited, isTenantKey, limitedKeyError, type Principal } from '../../kernel/principal.ts';
import type { IdempotencyKeys } from '../leases/idempotency-keys.ts';
import type { Identity } from '../messaging/identify.ts';
import type { Closure } from '../messaging/messages.ts';
import type { CallContext } from '../messaging/messenger.ts';
import { type BodySettings, formatOf, type ReceivedBody, receiveBody } from './body.ts';
import { createBodySource } from './body-source.ts';
import type { BudgetGuard } from './budget-guard.ts';
import type { ClientAddress } from './client-address.ts';
import { type Authenticate, credentialsOf } from './credentials.ts';
import { unauthorized } from './error-reply.ts';
import { hostName } from './host-name.ts';
import { HttpError } from './http-error.ts';
import { type Entry, isSame, type LastingAccess } from './lasting-access.ts';
import { answerOnce, takesIdempotencyKey } from './repeated-requests.ts';
import { type CheckedInput, createInputCheck } from './request-input.ts';
import type { RequestContext } from './request-state.ts';
import type { Reply, Route, RouteRequest } from './route.ts';
import type { RoutePermission } from './route-permission.ts';
import { RequestValidationError } from './validation-error.ts';

export interface EndpointOptions {
  readonly authenticate: Authenticate;
  readonly cookieName: string;
  readonly body: BodySettings;
  readonly clientAddress: ClientAddress;
  /** The request comes from this machine, and not through a proxy that is unknown. */
  readonly isLocal: (request: Pick<IncomingMessage, 'socket' | 'headers'>) => boolean;
  /** Hosted mode: the host name of a tenant is a way into it. */
  readonly selectsTenantByHost: boolean;
  /** Absent: nothing is limited. */
  readonly budgets?: BudgetGuard;
  readonly lastingAccess: LastingAccess;
  /** Absent: `Idempotency-Key` is not looked at. */
  readonly idempotencyKeys?: IdempotencyKeys;
}

/** Answers one matched request. */
export type Endpoint = (context: RequestContext, params: Readonly<Record<string, string>>) => Promise<Reply>;

/** Limit of JSON bodies that carry no document. */
const SMALL_BODY_BYTES = 4 * 1024 * 1024;

/** Larger bodies are read only from callers who have proved who they are: strangers must not fill memory or disk. */
const EARLY_BODY_BYTES = 64 * 1024;

/**
 * The life of a request after routing, in the order of the contract (auth-integrations.md §1.4): malformed JSON → 400 even
 * without credentials, then authentication → 401, then all other checks → 400, then the handler.
 */
export function createEndpoint(route: Route, options: EndpointOptions): Endpoint {
  const check = createInputCheck(route);
  const receive = createReceiver(route, options.body);
  const takesKey = takesIdempotencyKey(route);

  return async (context, params) => {
    const { req, res, state } = context;
    state.presentError = route.presentError;
    const abort = new AbortController();
    res.once('close', () => {
      if (!res.writableFinished) abort.abort();
    });
    const origin = requestOrigin(context.headers['user-agent']);
    const call: CallContext = { requestId: state.requestId, signal: abort.signal, origin };
    const shut = new AbortController();
    const source = createBodySource(req, res, options.body, shut.signal);
    const { declaredBytes } = source;
    const isEarly =
      route.body?.kind !== 'bytes' &&
      formatOf(source) === 'json' &&
      declaredBytes !== null &&
      declaredBytes <= EARLY_BODY_BYTES;
    let body: ReceivedBody | null = null;
    try {
      if (isEarly) body = await receive(source);
      const { entry, ...identity } = await identify(route, context, { options, call });
      body ??= await whileAdmitted(
        options,
        entry,
        () => receive(source),
        (reason) => shut.abort(reason),
      );
      const input = check({ params, search: context.querystring, body });
      const remoteAddress = options.clientAddress(req);
      const work = (operationId?: string) => {
        const own = operationId === undefined ? identity : { ...identity, call: { ...identity.call, operationId } };
        return route.handle(requestOf(context, { input, ...own, signal: abort.signal, remoteAddress }));
      };
      const key = takesKey ? req.headers['idempotency-key'] : undefined;
      const { principal } = identity;
      const address = [route.method, context.path, context.querystring];
      const reply =
        typeof key === 'string' && principal !== null && options.idempotencyKeys !== undefined
          ? await answerOnce(options.idempotencyKeys, { principal, key, address, body }, work)
          : await work();
      if (reply.stream !== undefined && entry !== undefined) {
        const watch = options.lastingAccess.watch(entry, () => res.destroy());
        res.once('close', watch.stop);
      }
      return (await options.budgets?.marked(reply, identity.principal)) ?? reply;
    } catch (error) {
      if (error instanceof RequestValidationError && route.whenInvalid !== undefined)
        return route.whenInvalid(req.headers['content-type'] ?? '');
      throw error;
    } finally {
      if (body?.kind === 'form') await body.form.dispose();
    }
  };
}

/** An upload ends with what it was let in with. */
async function whileAdmitted<T>(
  { lastingAccess }: EndpointOptions,
  entry: Entry | undefined,
  work: () => Promise<T>,
  onEnd: (reason: Error) => void,
): Promise<T> {
  const watch = entry === undefined ? undefined : lastingAccess.watch(entry, onEnd);
  try {
    return await work();
  } finally {
    watch?.stop();
  }
}

type Receive = (source: ReturnType<typeof createBodySource>) => Promise<ReceivedBody>;

function createReceiver({ body, auth }: Route, settings: BodySettings): Receive {
  if (body === undefined) return async () => ({ kind: 'none' });
  const isSmall = body.kind === 'bytes' || (body.kind === 'json' && body.carriesDocument !== true);
  const most = auth === 'none' && body.kind !== 'bytes' ? EARLY_BODY_BYTES : isSmall ? SMALL_BODY_BYTES : undefined;
  const limits = {
    ...settings,
    ...(most === undefined ? {} : { anyLimitBytes: most }),
    ...(body.maxValues === undefined ? {} : { maxJsonValues: body.maxValues }),
  };
  return (source) => receiveBody(source, body.kind, limits);
}

interface Caller {
  readonly options: EndpointOptions;
  readonly call: CallContext;
}

/** The call that goes on for the principal; null for routes that look at no credential. */
async function identify(route: Route, context: RequestContext, { options, call }: Caller): Promise<IdentifiedCall> {
  if (route.auth === 'none') return { principal: null, call };
  const credentials = credentialsOf(context.headers, options.cookieName);
  const host = options.selectsTenantByHost ? hostName(context.headers.host ?? '') : undefined;
  const strict = STRICT.has(route.auth);
  const circumstances = { unattended: isUnattended(route.method, route.path), ...(host === undefined ? {} : { host }) };
  const identity = await options.authenticate(credentials, strict, call, circumstances);
  const isLocal = options.isLocal(context.req);
  const presented = credentials[0]?.kind ?? null;
  const stranger = ({ posture, required }: Identity) => unauthorized({ posture, required, presented, isLocal });
  const refused = refusal(route, identity, stranger);
  if (refused !== null) throw refused;
  const { principal, proof } = identity;
  if (principal === null) throw stranger(identity);
  if (SUPERUSERS_ONLY.has(route.auth) && !principal.isSuperuser) throw new HttpError(403, { detail: 'Forbidden' });
  if (isTenantKey(principal) && BEYOND_TENANT_KEYS.has(route.permission.over)) throw tenantKey();
  if (isLimited(principal) && BEYOND_LIMITED_KEYS.has(route.permission.over)) throw limitedKeyError();
  context.state.principal = principal;
  await options.budgets?.admit(principal);
  const entry: Entry = {
    principal,
    credentials,
    strict,
    host,
    refusal: (now) => refusal(route, now, stranger) ?? (isSame(now, principal) ? null : stranger(now)),
  };
  return { principal, call: { ...call, principal, ...(proof === undefined ? {} : { proof }) }, entry };
}

/** Returns the refusal of the credentials alone; a missing permission is answered elsewhere. */
function refusal(route: Route, identity: Identity, stranger: (identity: Identity) => Error): Error | null {
  const { principal, tenantState } = identity;
  if (principal === null) return stranger(identity);
  if (tenantState == null) return null;
  const isClosed = isTenantKey(principal) || !ANSWERED_ALWAYS.has(route.permission.over);
  return isClosed ? tenantClosed(tenantState) : null;
}

const STRICT: ReadonlySet<Route['auth']> = new Set(['strict', 'strict-superuser']);
const SUPERUSERS_ONLY: ReadonlySet<Route['auth']> = new Set(['superuser', 'strict-superuser']);

/** Permissions that limited keys never have: one must not create a key without limits. */
const BEYOND_LIMITED_KEYS: ReadonlySet<RoutePermission['over']> = new Set(['account', 'own', 'tenant', 'server']);

/** It is the tenant's: its owner's account, and with it all other tenants, must be out of its reach. */
const BEYOND_TENANT_KEYS: ReadonlySet<RoutePermission['over']> = new Set(['account', 'server']);

/** Permissions that principals of a closed tenant keep: they must be able to leave it. */
const ANSWERED_ALWAYS: ReadonlySet<RoutePermission['over']> = new Set(['identity', 'account', 'server']);

function tenantKey(): Error {
  return engramError('PermissionDeniedError', 'This API key is of a tenant; the request needs the account of a user.');
}

interface IdentifiedCall {
  readonly principal: Principal | null;
  readonly call: CallContext;
  /** Absent: there is no principal. */
  readonly entry?: Entry;
}

interface RequestParts extends IdentifiedCall {
  readonly input: CheckedInput;
  readonly signal: AbortSignal;
  readonly remoteAddress: string;
}

function requestOf(context: RequestContext, parts: RequestParts): RouteRequest<unknown, unknown, unknown> {
  const { input, principal, call, signal, remoteAddress } = parts;
  return {
    get principal(): Principal {
      // A route without authentication has no principal; no stand-in may be mistaken for a user.
      if (principal === null) throw new Error('This route declares auth "none": it has no principal.');
      return principal;
    },
    ...input,
    headers: context.headers as Readonly<Record<string, string | undefined>>,
    context: call,
    signal,
    remoteAddress,
  };
}

const BY_USER_AGENT: readonly (readonly [RegExp, RunOrigin])[] = [
  [/\bmcp\b|fastmcp/iu, 'mcp'],
  [/\b(?:engram|cognee)-cli\b/iu, 'cli'],
  [/\b(?:cognee|engram)\b|\bsdk\b/iu, 'sdk'],
];

/** Returns the kind of client that sent a request, by its user agent; unknown ones count as the API. */
function requestOrigin(userAgent: string | undefined): RunOrigin {
  return BY_USER_AGENT.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1] ?? 'api';
}

/** Retry time of a closed tenant: it must be declared active first, and the answer cannot know when. */
const ASK_AGAIN_SECONDS = 30;

/** The error of a request in a tenant that is closed. A state of another release counts as disabled. */
function tenantClosed(state: Closure): EngramError {
  if (state === 'Hibernated') {
    return engramError('ServiceUnavailableError', 'This tenant is hibernated; its administrator can wake it.', {
      retryable: true,
      retryAfterSeconds: ASK_AGAIN_SECONDS,
    });
  }
  const what = state === 'Erasing' ? 'being erased' : 'disabled';
  return engramError('PermissionDeniedError', `This tenant is ${what}.`);
}
