import { z } from 'zod';
import { PERMISSIONS } from '../../common/kernel/principal.ts';
import { serverAddress } from '../../common/platform/http/host-name.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, optional, uuidList } from '../../common/platform/http/schema.ts';
import { MAX_KEY_LIFE_SECONDS } from '../keys/api-keys.ts';
import type { AuthDependencies } from '../model.ts';
import { DEVICE_GRANT, redeemDeviceCode } from '../sign-in/device-sign-in.ts';
import { oauthError } from '../sign-in/program-requests.ts';
import {
  decideProgramSignIn,
  redeemAuthorizationCode,
  registerProgram,
  requestingProgram,
} from '../sign-in/program-sign-in.ts';
import { DEVICE_PATH, NO_STORE, ofProgram, shownText } from './oauth.schema.ts';

const path = '/api/v1/auth/oauth';
/** Page of the console where people decide. */
const PAGE = '/authorize';
const CODE_GRANT = 'authorization_code';
/** Longer ids are none of this server. */
const clientId = z.string().min(1).max(4_000);
const uri = z.string().min(1).max(2_000);

const registration = z.object({
  client_name: shownText.optional().meta({ examples: ['Claude Code'] }),
  redirect_uris: z
    .array(uri)
    .min(1)
    .max(10)
    .meta({ examples: [['http://127.0.0.1/callback']] }),
});

const registered = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
});

const requestQuery = z.object({ client_id: clientId, redirect_uri: uri });
const requestAnswer = z.object({ client_name: z.string(), redirect_uri: z.string() });

const decisionBody = requestQuery.extend({
  response_type: z.string().meta({ examples: ['code'] }),
  code_challenge: z
    .string()
    .regex(/^[\w-]{43}$/, 'must be the base64url of a SHA-256')
    .meta({ examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'] }),
  code_challenge_method: z.literal('S256'),
  state: z.string().max(2_000).nullish(),
  resource: z.string().max(2_000).nullish().describe('Address of the server or its MCP endpoint (RFC 8707)'),
  approve: z.boolean(),
  permissions: optional(z.array(z.enum(PERMISSIONS)).min(1)).describe('Null: all'),
  datasets: optional(uuidList({ min: 1, max: 1000 })).describe('Null: all'),
  expires_in: optional(lenientInteger({ min: 1, max: MAX_KEY_LIFE_SECONDS })).describe('Seconds; null: no end'),
});
const decisionAnswer = z.object({ redirect_to: z.string() });

const tokenBody = z.object({
  grant_type: z.string().meta({ examples: [DEVICE_GRANT, CODE_GRANT] }),
  client_id: clientId,
  device_code: z.string().max(100).optional(),
  code: z.string().max(6_000).optional(),
  redirect_uri: uri.optional(),
  code_verifier: z.string().max(128).optional(),
});
const tokenAnswer = z.object({
  access_token: z.string(),
  token_type: z.literal('bearer'),
  expires_in: z.int().optional().describe('Seconds; absent: it does not expire'),
  scope: z.string().optional(),
});

const metadataAnswer = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string(),
  device_authorization_endpoint: z.string(),
  jwks_uri: z.string(),
  grant_types_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
});

const ofPerson = { tag: 'auth', auth: 'user', permission: ofAccount('account') } as const;
const UNKNOWN = { 400: { description: 'An unknown program, or an address that it has not registered' } };

const { routes, get, post } = routesOf<AuthDependencies>({ tag: 'auth' });

/**
 * Sign-in of programs as OAuth 2.1 has it: metadata (RFC 8414), registration (RFC 7591), authorization codes with PKCE, and
 * the tokens of these and of devices. A program that a person lets in gets an API key of theirs, which they can delete.
 */
export const oauthRoutes = routes(
  get('/.well-known/oauth-authorization-server', 'getSignInMetadata', {
    auth: 'none',
    permission: NO_PERMISSION,
    summary: 'Where programs sign in (RFC 8414)',
    responses: { 200: { description: 'Metadata of the authorization server', schema: metadataAnswer } },
    async handle({ headers }, { settings }) {
      const issuer = serverAddress(settings, headers['host']);
      return json({
        issuer,
        authorization_endpoint: `${issuer}${PAGE}`,
        token_endpoint: `${issuer}${path}/token`,
        registration_endpoint: `${issuer}${path}/register`,
        device_authorization_endpoint: `${issuer}${DEVICE_PATH}/code`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        grant_types_supported: [CODE_GRANT, DEVICE_GRANT],
        response_types_supported: ['code'],
        scopes_supported: PERMISSIONS,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      });
    },
  }),
  post(`${path}/register`, 'registerProgram', {
    ...ofProgram,
    summary: 'Register a program that people may let in (RFC 7591)',
    body: { kind: 'json', schema: registration },
    responses: {
      201: { description: 'Its id', schema: registered },
      400: { description: 'invalid_redirect_uri, invalid_request' },
      429: { description: 'Too many from the address' },
    },
    async handle({ body, remoteAddress }, deps) {
      const { client_name: name = 'A program', redirect_uris: redirectUris } = body;
      const answer = {
        client_id: await registerProgram(deps, { name, redirectUris }, remoteAddress),
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: [CODE_GRANT],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      };
      return { status: 201, json: answer, headers: NO_STORE };
    },
  }),
  get(`${path}/authorization`, 'getAuthorizationRequest', {
    ...ofPerson,
    summary: 'The program that asks to be let in',
    query: requestQuery,
    responses: { 200: { description: 'What the program says of itself', schema: requestAnswer }, ...UNKNOWN },
    async handle({ query }, deps) {
      const { client_id: clientId, redirect_uri: redirectUri } = query;
      const { name } = await requestingProgram(deps, { clientId, redirectUri });
      return json({ client_name: name, redirect_uri: redirectUri });
    },
  }),
  post(`${path}/authorization`, 'decideAuthorizationRequest', {
    ...ofPerson,
    summary: 'Let a program act as the caller, within limits, or refuse it',
    body: { kind: 'json', schema: decisionBody },
    responses: {
      200: { description: 'Where the browser goes with the decision', schema: decisionAnswer },
      403: { description: 'An API key with a budget, or a dataset that the caller may not read' },
      ...UNKNOWN,
    },
    async handle({ principal, body, headers }, deps) {
      const issuer = serverAddress(deps.settings, headers['host']);
      if (body.response_type !== 'code') throw oauthError('unsupported_response_type');
      // RFC 8707: a token for this server is not for another one.
      const { resource = null } = body;
      if (resource !== null && ![issuer, `${issuer}/`, `${issuer}/mcp`].includes(resource))
        throw oauthError('invalid_target', `The program asks for a token of ${resource}, and this is ${issuer}.`);
      const { client_id: clientId, redirect_uri: redirectUri, code_challenge: challenge, state = null } = body;
      const permissions = body.permissions?.length === PERMISSIONS.length ? null : (body.permissions ?? null);
      const limits = { permissions, datasets: body.datasets ?? null, expires: body.expires_in ?? null };
      const decision = body.approve ? { approve: true as const, ...limits } : { approve: false as const };
      const request = { clientId, redirectUri, challenge, state };
      return json({ redirect_to: await decideProgramSignIn(deps, principal, { request, decision, issuer }) });
    },
  }),
  post(`${path}/token`, 'getToken', {
    ...ofProgram,
    summary: 'Exchange the code of a person who let the program in, or ask whether they have (RFC 6749, RFC 8628)',
    body: { kind: 'form', schema: tokenBody },
    responses: {
      200: { description: 'Signed in', schema: tokenAnswer },
      400: {
        description:
          'invalid_grant, invalid_client, authorization_pending, slow_down, access_denied, expired_token and others of OAuth',
      },
    },
    async handle({ body, remoteAddress }, deps): Promise<Reply> {
      const { grant_type: grant, client_id: clientId } = body;
      if (grant === DEVICE_GRANT) {
        const deviceCode = required(body, 'device_code');
        const accessToken = await redeemDeviceCode(deps, { deviceCode, clientId, remoteAddress });
        const { tokenLifetimeSeconds: lifetime } = deps.settings;
        return tokenReply(accessToken, lifetime > 0 ? { expires_in: lifetime } : {});
      }
      if (grant !== CODE_GRANT) throw oauthError('unsupported_grant_type');
      const [code, redirectUri] = [required(body, 'code'), required(body, 'redirect_uri')];
      const verifier = required(body, 'code_verifier');
      const key = await redeemAuthorizationCode(deps, { code, clientId, redirectUri, verifier });
      const left = key.expiresAt === null ? null : Date.parse(key.expiresAt) - deps.clock.now().getTime();
      const expiry = left === null ? {} : { expires_in: Math.floor(left / 1000) };
      return tokenReply(key.text, { ...expiry, scope: key.permissions.join(' ') });
    },
  }),
);

function tokenReply(text: string, more: { readonly expires_in?: number; readonly scope?: string }): Reply {
  return { json: { access_token: text, token_type: 'bearer', ...more }, headers: NO_STORE };
}

type Grant = z.infer<typeof tokenBody>;

function required(body: Grant, name: 'device_code' | 'code' | 'redirect_uri' | 'code_verifier'): string {
  const value = body[name];
  if (value === undefined) throw oauthError('invalid_request', `${name} is missing.`);
  return value;
}
