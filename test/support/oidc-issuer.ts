import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { decodeJwt, exportJWK, type JWTPayload, SignJWT } from 'jose';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { closed, listening } from './listening.ts';
import { createIssuerRecords } from './oidc-records.ts';

type Claims = Readonly<Record<string, unknown>>;
type MutableClaims = Record<string, unknown>;

/** A real OpenID Connect provider on a local port, which signs in the person that the test sets. */
export interface TestIssuer extends AsyncDisposable {
  readonly url: string;
  /** Requests that it got, as `GET /jwks`. */
  readonly requests: string[];
  /** The person at the browser. */
  person: Person;
  /** Changes or replaces the next ID tokens. */
  tamper: ((claims: MutableClaims) => MutableClaims | Promise<string>) | null;
  /** While true all requests are answered with 503. */
  isDown: boolean;
  /** Signs a JWT of the issuer with its newest key. */
  sign(claims: Claims, header?: Readonly<Record<string, string>>): Promise<string>;
  /** Adds a new key that signs from now on. */
  rotate(): Promise<void>;
  readonly clientSecret: string;
}

interface Person {
  readonly subject: string;
  readonly claims: Claims;
}

export interface TestIssuerOptions {
  readonly callbacks: readonly string[];
  readonly returns?: readonly string[];
  /** Default false: claims of the scopes are in the user info only, as the standard has it for this flow. */
  readonly claimsInIdToken?: boolean;
}

/** Another client of the issuer, which gets access tokens for this service without a sign-in here. */
export const CLI = {
  clientId: 'cli',
  redirectUri: 'http://127.0.0.1/cli',
  resource: 'https://engram.example.com/api',
  audience: 'engram-api',
  scope: 'memory',
};

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid: randomUUID(), privateKey };
}

export async function startIssuer(options: TestIssuerOptions): Promise<TestIssuer> {
  const server = createServer();
  const url = await listening(server);
  const keys = [newKey()];
  const newest = (): SigningKey => keys.at(-1) as SigningKey;
  const published = async (key: SigningKey) => {
    const { d: _, ...jwk } = await exportJWK(key.privateKey);
    return { ...jwk, kid: key.kid, alg: 'ES256', use: 'sig' };
  };
  const sign: TestIssuer['sign'] = (claims, header = {}) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: newest().kid, ...header })
      .sign(newest().privateKey);
  const clientSecret = randomUUID();
  const issuer: TestIssuer = {
    url,
    requests: [],
    tamper: null,
    isDown: false,
    clientSecret,
    sign,
    person: { subject: 'nobody', claims: {} },
    async rotate() {
      keys.push(newKey());
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
  const people = new Map<string, Claims>();
  const provider = new Provider(url, {
    adapter: createIssuerRecords(),
    jwks: { keys: [{ ...(await exportJWK(newest().privateKey)), kid: newest().kid, alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: 'engram',
        client_secret: clientSecret,
        id_token_signed_response_alg: 'ES256',
        redirect_uris: [...options.callbacks],
        post_logout_redirect_uris: [...(options.returns ?? [])],
      },
      {
        client_id: CLI.clientId,
        redirect_uris: [CLI.redirectUri],
        id_token_signed_response_alg: 'ES256',
        token_endpoint_auth_method: 'none',
      },
    ],
    cookies: { keys: [randomUUID()] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: options.claimsInIdToken !== true,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context) => {
          context.body = 'Do you want to sign out?';
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: () => ({
          scope: CLI.scope,
          audience: CLI.audience,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    pkce: { required: () => true },
    findAccount: async (_context, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...people.get(subject) }),
    }),
    loadExistingGrant: (context) => grantAll(context),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  provider.use(async (context, next) => {
    issuer.requests.push(`${context.method} ${context.path}`);
    if (issuer.isDown) {
      context.status = 503;
      context.body = 'down';
      return;
    }
    if (context.path.startsWith('/interaction/')) {
      people.set(issuer.person.subject, issuer.person.claims);
      const login = { accountId: issuer.person.subject };
      context.redirect(await provider.interactionResult(context.req, context.res, { login }));
      return;
    }
    await next();
    if (context.path === '/jwks') context.body = { keys: await Promise.all(keys.map(published)) };
    const body = context.body as { id_token?: string } | undefined;
    if (context.path === '/token' && body?.id_token !== undefined && issuer.tamper !== null) {
      const changed = issuer.tamper(decodeJwt(body.id_token) as MutableClaims);
      context.body = { ...body, id_token: await (changed instanceof Promise ? changed : sign(changed as JWTPayload)) };
    }
  });
  server.on('request', provider.callback());
  return issuer;
}

async function grantAll({ oidc }: KoaContextWithOIDC) {
  const { Grant } = oidc.provider;
  const grant = new Grant({
    clientId: oidc.client?.clientId ?? '',
    accountId: oidc.session?.accountId ?? '',
  });
  grant.addOIDCScope('openid email profile');
  grant.addResourceScope(CLI.resource, CLI.scope);
  await grant.save();
  return grant;
}
