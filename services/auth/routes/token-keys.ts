import { z } from 'zod';
import { routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import type { LoginSessionDependencies } from '../credentials/login-sessions.ts';

const publicKey = z.object({
  kty: z.string(),
  kid: z.string(),
  alg: z.string(),
  use: z.literal('sig'),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
});

/** A JSON Web Key Set (RFC 7517). */
const keySet = z.object({ keys: z.array(publicKey) });

/** New signing keys are listed as accepted ones first, so a copy of this age is recent enough. */
const MAX_AGE_SECONDS = 300;

const { routes, get } = routesOf<LoginSessionDependencies>({ tag: 'auth' });

/** The public keys of login tokens, for programs that verify tokens themselves. */
export const tokenKeyRoutes = routes(
  get('/.well-known/jwks.json', 'getTokenKeys', {
    summary: 'Public keys of login tokens; none while a secret signs them',
    auth: 'none',
    permission: NO_PERMISSION,
    responses: { 200: { description: 'A JSON Web Key set', schema: keySet } },
    async handle(_, { tokens }) {
      return {
        json: { keys: tokens.publicKeys },
        headers: { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` },
      };
    },
  }),
);
