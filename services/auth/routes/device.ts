import { z } from 'zod';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { serverAddress } from '../../common/platform/http/host-name.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import type { AuthDependencies } from '../model.ts';
import { decideDeviceSignIn, pendingDeviceSignIn, startDeviceSignIn } from '../sign-in/device-sign-in.ts';
import { DEVICE_PATH, NO_STORE, ofProgram, shownText } from './oauth.schema.ts';

const userCode = z
  .string()
  .max(40)
  .meta({ examples: ['BCDF-GHJK'] });

const startBody = z.object({
  client_id: shownText.meta({ examples: ['engram-cli'] }),
  device_name: shownText.meta({ examples: ['laptop'] }).optional(),
});

const started = z.object({
  device_code: z.string(),
  user_code: userCode,
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.int().describe('Seconds'),
  interval: z.int().describe('Seconds between two polls'),
});

const codeQuery = z.object({ user_code: userCode });

const pending = z.object({
  client_id: z.string(),
  device_name: z.string().nullable(),
  address: z.string().describe('Address that the program asked from'),
  created_at: z.string(),
  expires_at: z.string(),
});

const decisionBody = z.object({ user_code: userCode, approve: z.boolean() });

const path = DEVICE_PATH;

const UNKNOWN = {
  404: { description: 'No sign-in waits with this code' },
  429: { description: 'Too many codes at the moment' },
};

const { routes, get, post } = routesOf<AuthDependencies>({ tag: 'auth' });

/** Sign-in of programs that have no browser: OAuth 2.0 device authorization (RFC 8628). */
export const deviceRoutes = routes(
  post(`${path}/code`, 'startDeviceSignIn', {
    ...ofProgram,
    summary: 'Start a sign-in of a program without a browser (RFC 8628)',
    body: { kind: 'form', schema: startBody },
    responses: {
      200: { description: 'The codes, and the page where a person approves', schema: started },
      429: { description: 'Too many were started from the address' },
    },
    async handle({ body, headers, remoteAddress }, deps) {
      const request = { clientId: body.client_id, deviceName: body.device_name ?? null, remoteAddress };
      const { deviceCode, userCode, expiresInSeconds, intervalSeconds } = await startDeviceSignIn(deps, request);
      const page = `${serverAddress(deps.settings, headers['host'])}/device`;
      const answer = {
        device_code: deviceCode,
        user_code: userCode,
        expires_in: expiresInSeconds,
        interval: intervalSeconds,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
      };
      return { json: answer, headers: NO_STORE };
    },
  }),
  get(path, 'getDeviceSignIn', {
    summary: 'The program that waits with a code',
    permission: ofAccount('account'),
    query: codeQuery,
    responses: { 200: { description: 'What the program says of itself', schema: pending }, ...UNKNOWN },
    async handle({ principal, query }, deps) {
      const { value } = await pendingDeviceSignIn(deps, principal, query.user_code);
      return json({
        client_id: value.clientId,
        device_name: value.deviceName,
        address: value.address,
        created_at: new Date(value.createdAtMs).toISOString(),
        expires_at: new Date(value.expiresAtMs).toISOString(),
      });
    },
  }),
  post(path, 'decideDeviceSignIn', {
    summary: 'Let a program sign in as the caller, or refuse it',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: decisionBody },
    responses: {
      200: { description: 'Decided', schema: nothing },
      403: { description: 'An API key with a budget' },
      ...UNKNOWN,
    },
    async handle({ principal, body }, deps) {
      await decideDeviceSignIn(deps, principal, { userCode: body.user_code, approve: body.approve });
      return json(null);
    },
  }),
);
