import { z } from 'zod';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { serverAddress } from '../../common/platform/http/host-name.ts';
import { defineRoute, json, type Reply, type Route } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import {
  DEVICE_GRANT,
  type DeviceSignInDependencies,
  decideDeviceSignIn,
  pendingDeviceSignIn,
  redeemDeviceCode,
  startDeviceSignIn,
} from '../sign-in/device-sign-in.ts';

/** Description that a program gives of itself, for the person who approves. */
const shownText = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !/\p{C}/u.test(text), 'String should be printable');

const clientId = shownText.meta({ examples: ['engram-cli'] });
const userCode = z
  .string()
  .max(40)
  .meta({ examples: ['BCDF-GHJK'] });

const startBody = z.object({ client_id: clientId, device_name: shownText.meta({ examples: ['laptop'] }).optional() });

const started = z.object({
  device_code: z.string(),
  user_code: userCode,
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.int().describe('Seconds'),
  interval: z.int().describe('Seconds between two polls'),
});

const tokenBody = z.object({
  grant_type: z.string().meta({ examples: [DEVICE_GRANT] }),
  device_code: z.string().max(100),
  client_id: clientId,
});

const tokenAnswer = z.object({
  access_token: z.string(),
  token_type: z.literal('bearer'),
  expires_in: z.int().optional().describe('Seconds; absent: it does not expire'),
});

const oauthErrorAnswer = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' });

const codeQuery = z.object({ user_code: userCode });

const pending = z.object({
  client_id: z.string(),
  device_name: z.string().nullable(),
  address: z.string().describe('Address that the program asked from'),
  created_at: z.string(),
  expires_at: z.string(),
});

const decisionBody = z.object({ user_code: userCode, approve: z.boolean() });

const metadataAnswer = z.object({
  issuer: z.string(),
  device_authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  grant_types_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
});

/** Sign-in of programs that have no browser: OAuth 2.0 device authorization (RFC 8628), and its metadata (RFC 8414). */
export function deviceRoutes(deps: DeviceSignInDependencies): readonly Route[] {
  return [start(deps), token(deps), read(deps), decide(deps), metadata(deps)];
}

const path = '/api/v1/auth/device';
const tag = 'auth';
const ofProgram = { tag, auth: 'none', permission: NO_PERMISSION } as const;
const withOauthErrors = { ...ofProgram, presentError, errorSchema: oauthErrorAnswer } as const;
const NO_STORE = { 'cache-control': 'no-store' };

function start(deps: DeviceSignInDependencies): Route {
  return defineRoute({
    ...withOauthErrors,
    method: 'POST',
    path: `${path}/code`,
    operationId: 'startDeviceSignIn',
    summary: 'Start a sign-in of a program without a browser (RFC 8628)',
    body: { kind: 'form', schema: startBody },
    responses: {
      200: { description: 'The codes, and the page where a person approves', schema: started },
      429: { description: 'Too many were started from the address' },
    },
    async handle({ body, headers, remoteAddress }) {
      const request = { clientId: body.client_id, deviceName: body.device_name ?? null, remoteAddress };
      const { deviceCode, userCode, expiresInSeconds, intervalSeconds } = await startDeviceSignIn(deps, request);
      const page = `${serverAddress(deps.settings, headers['host'])}/device`;
      const answer = {
        ...{ device_code: deviceCode, user_code: userCode, expires_in: expiresInSeconds, interval: intervalSeconds },
        ...{ verification_uri: page, verification_uri_complete: `${page}?user_code=${userCode}` },
      };
      return { json: answer, headers: NO_STORE };
    },
  });
}

function token(deps: DeviceSignInDependencies): Route {
  return defineRoute({
    ...withOauthErrors,
    method: 'POST',
    path: `${path}/token`,
    operationId: 'pollDeviceSignIn',
    summary: 'Ask for the token of a sign-in that a person approves',
    body: { kind: 'form', schema: tokenBody },
    responses: {
      200: { description: 'Signed in', schema: tokenAnswer },
      400: {
        description:
          'authorization_pending, slow_down, access_denied, expired_token, invalid_grant and others of OAuth',
      },
    },
    async handle({ body, remoteAddress }) {
      if (body.grant_type !== DEVICE_GRANT)
        return { ...json({ error: 'unsupported_grant_type' }, 400), headers: NO_STORE };
      const request = { deviceCode: body.device_code, clientId: body.client_id, remoteAddress };
      const accessToken = await redeemDeviceCode(deps, request);
      const { tokenLifetimeSeconds: lifetime } = deps.settings;
      const expiry = lifetime > 0 ? { expires_in: lifetime } : {};
      return { json: { access_token: accessToken, token_type: 'bearer', ...expiry }, headers: NO_STORE };
    },
  });
}

const UNKNOWN = {
  404: { description: 'No sign-in waits with this code' },
  429: { description: 'Too many codes at the moment' },
};

function read(deps: DeviceSignInDependencies): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag,
    operationId: 'getDeviceSignIn',
    summary: 'The program that waits with a code',
    auth: 'user',
    permission: ofAccount('account'),
    query: codeQuery,
    responses: { 200: { description: 'What the program says of itself', schema: pending }, ...UNKNOWN },
    async handle({ principal, query }) {
      const { value } = await pendingDeviceSignIn(deps, principal, query.user_code);
      return json({
        client_id: value.clientId,
        device_name: value.deviceName,
        address: value.address,
        created_at: new Date(value.createdAtMs).toISOString(),
        expires_at: new Date(value.expiresAtMs).toISOString(),
      });
    },
  });
}

function decide(deps: DeviceSignInDependencies): Route {
  return defineRoute({
    method: 'POST',
    path,
    tag,
    operationId: 'decideDeviceSignIn',
    summary: 'Let a program sign in as the caller, or refuse it',
    auth: 'user',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: decisionBody },
    responses: {
      200: { description: 'Decided', schema: nothing },
      403: { description: 'An API key with a budget' },
      ...UNKNOWN,
    },
    async handle({ principal, body }) {
      await decideDeviceSignIn(deps, principal, { userCode: body.user_code, approve: body.approve });
      return json(null);
    },
  });
}

function metadata(deps: DeviceSignInDependencies): Route {
  return defineRoute({
    ...ofProgram,
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    operationId: 'getSignInMetadata',
    summary: 'Where programs sign in (RFC 8414)',
    responses: { 200: { description: 'Metadata of the authorization server', schema: metadataAnswer } },
    async handle({ headers }) {
      const issuer = serverAddress(deps.settings, headers['host']);
      return json({
        issuer,
        device_authorization_endpoint: `${issuer}${path}/code`,
        token_endpoint: `${issuer}${path}/token`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        grant_types_supported: [DEVICE_GRANT],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['none'],
      });
    },
  });
}

/** Errors as RFC 6749 §5.2 has them. */
function presentError({ status = 500, json: body, headers = {} }: Reply): Reply {
  const { error, detail } = (body ?? {}) as { readonly error?: unknown; readonly detail?: unknown };
  if (typeof error === 'string' && detail === undefined)
    return { status, json: body, headers: { ...headers, ...NO_STORE } };
  const code = status < 429 ? 'invalid_request' : status === 429 ? 'temporarily_unavailable' : 'server_error';
  const faults = Array.isArray(detail) ? (detail as readonly { loc?: unknown[]; msg?: string }[]) : [];
  const text = typeof detail === 'string' ? detail : faults.map(({ loc, msg }) => `${loc?.at(-1)}: ${msg}`).join('; ');
  return {
    status: status === 422 ? 400 : status,
    json: { error: code, ...(text === '' ? {} : { error_description: text }) },
    headers: { ...headers, ...NO_STORE },
  };
}
