import { auditRecordsCollection } from '../../services/auth/repositories/audit-log.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { OidcProvider } from '../../services/common/platform/config/oidc-providers.ts';
import { createProviderFetch } from '../../services/common/platform/fetch/target-guard.ts';
import { createMemoryRateLimiter } from '../../services/common/platform/system/memory-rate-limiter.ts';
import { startAuth, type TestAuth, type TestAuthOptions, type TestClock } from './auth-service.ts';
import { freePort } from './engram-process.ts';
import { type RunningApp, runApp } from './http-app.ts';
import { startIssuer, type TestIssuer, type TestIssuerOptions } from './oidc-issuer.ts';
import { createBrowser, type TestBrowser, type Visit } from './test-browser.ts';

/** The auth service behind an HTTP server, with one provider `corp` at a real issuer. */
export interface OidcWorld extends AsyncDisposable {
  readonly auth: TestAuth;
  readonly app: RunningApp;
  readonly issuer: TestIssuer;
  readonly url: string;
  /** Signs in up to the answer of the callback, or to `returnTo`, which is not requested. */
  signIn(options?: SignInOptions): Promise<Visit>;
  /** Signs in up to the callback, which is not requested. */
  reachCallback(options?: SignInOptions): Promise<URL>;
  /** Audit records in their order. */
  audit(): Promise<readonly { readonly action: string; readonly subject: string; readonly details: string }[]>;
  /** `/users/me` with a bearer token. */
  me(token: string): Promise<Response>;
}

interface SignInOptions {
  readonly browser?: TestBrowser;
  readonly provider?: string;
  readonly returnTo?: string;
}

export interface OidcWorldOptions extends TestAuthOptions, Pick<TestIssuerOptions, 'claimsInIdToken'> {
  readonly provider?: Partial<OidcProvider>;
  /** Further providers at the same issuer. */
  readonly others?: readonly (Partial<OidcProvider> & { readonly name: string })[];
}

export const UI = 'https://ui.example.com';

export async function startOidcWorld(options: OidcWorldOptions = {}): Promise<OidcWorld> {
  const { provider, others = [], claimsInIdToken = false, ...rest } = options;
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const names = ['corp', ...others.map(({ name }) => name)];
  const callbacks = names.map((name) => `${publicUrl}/api/v1/auth/oidc/${name}/callback`);
  const issuer = await startIssuer({ callbacks, returns: [`${UI}/bye`], claimsInIdToken });
  const configured = [{ name: 'corp', ...provider }, ...others].map((each) => providerOf(issuer, each));
  const clock = options.clock ?? movableClock();
  const auth = await startAuth({
    ...rest,
    clock,
    oidc: {
      providers: configured,
      publicUrl,
      returnOrigins: [UI],
      send: createProviderFetch(),
      limiter: createMemoryRateLimiter({ clock }),
    },
  });
  const app = await runApp({
    port,
    routes: auth.routes,
    authenticate: (credentials, strict, context) =>
      auth.messenger.call('auth.Authenticate', { credentials, strict }, context),
  });
  const startUrl = ({ provider: name = 'corp', returnTo }: SignInOptions) =>
    `${app.url}/api/v1/auth/oidc/${name}/login${returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
  return {
    auth,
    app,
    issuer,
    url: app.url,
    signIn: ({ browser = createBrowser(), ...where } = {}) =>
      browser.visit(startUrl(where), (url) => url.origin !== issuer.url && !url.pathname.endsWith('/callback')),
    async reachCallback({ browser = createBrowser(), ...where } = {}) {
      const { url } = await browser.visit(startUrl(where), ({ pathname }) => pathname.endsWith('/callback'));
      return url;
    },
    async audit() {
      const { items } = await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 1000 });
      return items
        .map(({ value }) => value)
        .sort((one, other) => one.at.localeCompare(other.at) || one.number - other.number)
        .map(({ action, subject, details }) => ({ action, subject, details }));
    },
    me: (token) => fetch(`${app.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } }),
    async [Symbol.asyncDispose]() {
      await app.stop();
      await auth[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

export function providerOf(
  issuer: Pick<TestIssuer, 'url' | 'clientSecret'>,
  changes: Partial<OidcProvider> & { readonly name: string },
): OidcProvider {
  return {
    title: 'Corp',
    issuer: issuer.url,
    clientId: 'engram',
    clientSecret: issuer.clientSecret,
    clientAuthentication: 'basic',
    scopes: ['openid', 'profile', 'email'],
    audiences: ['engram-api'],
    provision: true,
    emailDomains: [],
    tenant: null,
    roles: null,
    allowPrivateNetwork: true,
    ...changes,
  };
}

/** The system time, which can be advanced. */
function movableClock(): TestClock {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    monotonicMs: () => performance.now() + ahead,
    advance(milliseconds) {
      ahead += milliseconds;
    },
  };
}
