import { clientMessage, type EngramError, isEngramError } from '../../kernel/errors.ts';
import type { Credential } from '../messaging/messages.ts';
import { HttpError } from './http-error.ts';
import type { Reply } from './route.ts';
import { RequestValidationError, validationBody } from './validation-error.ts';

interface ErrorReply {
  readonly reply: Reply;
  /** Whether the error was unexpected: then it is logged with its stack. */
  readonly isUnknown: boolean;
}

/** The one place that turns errors into wire JSON. The message of an unknown error never leaves the process. */
export function errorReply(error: unknown): ErrorReply {
  if (error instanceof RequestValidationError) return known({ status: 400, json: validationBody(error) });
  if (error instanceof HttpError) return known({ status: error.status, json: error.body, headers: error.headers });
  if (isEngramError(error)) return { reply: serviceErrorReply(error), isUnknown: error.status === 500 };
  return { reply: { status: 500, json: { error: 'Internal server error', detail: null } }, isUnknown: true };
}

function known(reply: Reply): ErrorReply {
  return { reply, isUnknown: false };
}

/** Retry time of transient errors that name none. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

function serviceErrorReply(error: EngramError): Reply {
  // Built from the fields, not `error.detail`: an error that crossed a worker boundary has lost its getter.
  const detail = `${clientMessage(error)} [${error.wireName}]`;
  const isTransient = error.status === 503 && error.retryable;
  const retryAfterSeconds = error.retryAfterSeconds ?? (isTransient ? DEFAULT_RETRY_AFTER_SECONDS : undefined);
  return {
    status: error.status,
    json: { detail, ...error.extra },
    ...(retryAfterSeconds === undefined
      ? {}
      : { headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) } }),
  };
}

/** Facts of a request that its 401 depends on. */
interface RefusedCaller {
  /** The kind of credential that was presented first; null: none was. */
  readonly presented: Credential['kind'] | null;
  /** Whether it comes from this machine: only then the answer names the switch of authentication. */
  readonly isLocal: boolean;
  readonly posture: string;
  /** False: only a wrong credential is refused. */
  readonly required: boolean;
}

const REFUSED: Readonly<Record<Credential['kind'], string>> = {
  'api-key': 'The API key of this request (X-Api-Key) is not valid: it is unknown, revoked or expired.',
  bearer: 'The bearer token of this request is not valid: it is unknown, revoked or expired.',
  cookie: 'The login cookie of this request is not valid any more: log in again.',
};

/** The generic 401 under `/api/v1` (auth-integrations.md §1.4): says why and what to do. */
export function unauthorized({ presented, isLocal, posture, required }: RefusedCaller): HttpError {
  return new HttpError(401, { detail: `Authentication required (auth posture: ${posture}). ${advice()}` });

  function advice(): string {
    if (presented !== null) return `${REFUSED[presented]}${required ? '' : ' This server needs none: leave it out.'}`;
    const send = 'Send an API key as X-Api-Key, or log in at /api/v1/auth/login and send the token as Bearer.';
    if (!isLocal) return send;
    return `${send} To serve a single user without it, set ENABLE_BACKEND_ACCESS_CONTROL=false and restart. To log in with the default account instead, set DEFAULT_USER_PASSWORD and restart.`;
  }
}

export const NOT_FOUND: Reply = { status: 404, json: { detail: 'Not Found' } };

export function wrongMethod(allow: readonly string[]): Reply {
  return { status: 405, json: { detail: 'Method Not Allowed' }, headers: { allow: allow.join(', ') } };
}
