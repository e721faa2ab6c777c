import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { freePorts } from '../../support/free-ports.ts';
import { startIssuer, type TestIssuer } from '../../support/oidc-issuer.ts';
import { createBrowser, type TestBrowser } from '../../support/test-browser.ts';
import { until } from '../../support/until.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

const REPLICAS = 2;
const LOGIN = '/api/v1/auth/oidc/corp/login?return_to=/docs';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('signing in by a provider at a cluster with two replicas', function () {
    this.timeout(240_000);
    let issuer: TestIssuer;
    let cluster: ClusterProcess;
    /** Of the router, which asks one replica of a service after the other. */
    let port: number;

    before(async () => {
      port = await freePorts(1);
      const publicUrl = `http://127.0.0.1:${port}`;
      issuer = await startIssuer({ callbacks: [`${publicUrl}/api/v1/auth/oidc/corp/callback`] });
      const provider = {
        name: 'corp',
        title: 'Corp',
        issuer: issuer.url,
        clientId: 'engram',
        audiences: ['engram-api'],
      };
      cluster = await startCluster(
        {
          HTTP_API_PORT: String(port),
          REQUIRE_AUTHENTICATION: 'true',
          ENGRAM_PUBLIC_URL: publicUrl,
          ENGRAM_OIDC_PROVIDERS: JSON.stringify([{ ...provider, provision: true, allowPrivateNetwork: true }]),
          ENGRAM_OIDC_CLIENT_SECRETS: JSON.stringify({ corp: issuer.clientSecret }),
        },
        { replicas: REPLICAS },
      );
    });
    after(async () => {
      await cluster?.stop();
      await issuer?.[Symbol.asyncDispose]();
    });

    function person(name: string): void {
      issuer.person = { subject: name, claims: { email: `${name}@example.com`, email_verified: true } };
    }

    /** Begun at one replica of auth and ended at the other, unless somebody else asks auth in between. */
    async function signIn(name: string): Promise<TestBrowser> {
      person(name);
      const browser = createBrowser();
      const { url } = await browser.visit(`${cluster.baseUrl}${LOGIN}`, ({ pathname }) => pathname === '/docs');
      expect(url.pathname).to.equal('/docs');
      return browser;
    }

    const get = (browser: TestBrowser, path: string) => browser.get(`${cluster.baseUrl}/api/v1${path}`);
    const statusOf = async (browser: TestBrowser, path: string) => {
      const response = await get(browser, path);
      await response.body?.cancel();
      return response.status;
    };

    it('ends at the other replica than it began, and opens every service', async () => {
      const ada = await signIn('ada');
      for (let count = 0; count < 2 * REPLICAS; count += 1) {
        expect(await (await get(ada, '/users/me')).json()).to.include({ email: 'ada@example.com', is_verified: true });
      }
      const pages = ['/datasets', '/activity/pipeline-runs', '/search', '/sync/status', '/settings'];
      for (const page of pages)
        for (let count = 0; count < REPLICAS; count += 1) expect(await statusOf(ada, page)).to.equal(200);
    });

    it('is one account, however often and wherever the person comes in at the same time', async () => {
      const browsers = await Promise.all(Array.from({ length: 4 }, () => signIn('bob')));
      const ids = await Promise.all(
        browsers.map(async (browser) => ((await (await get(browser, '/users/me')).json()) as { id: string }).id),
      );
      expect(new Set(ids).size).to.equal(1);
    });

    it('works once: a callback that is repeated at the other replica opens nothing', async () => {
      person('carol');
      const browser = createBrowser();
      const isCallback = ({ pathname }: URL) => pathname.endsWith('/callback');
      const { url } = await browser.visit(`${cluster.baseUrl}${LOGIN}`, isCallback);
      const answers = await Promise.all([browser.get(url.href), browser.get(url.href), browser.get(url.href)]);
      const cookies = answers.flatMap(({ headers }) =>
        headers.getSetCookie().filter((set) => set.startsWith('auth_token=')),
      );
      expect(cookies).to.have.length(1);
      expect(await statusOf(browser, '/users/me')).to.equal(200);
    });

    it('ends at both replicas, and in all services, with the sign-out at one', async () => {
      const dave = await signIn('dave');
      const token = dave.cookie('auth_token') ?? '';
      expect((await dave.post(`${cluster.baseUrl}/api/v1/auth/oidc/corp/logout`)).status).to.equal(200);
      for (const path of ['/users/me', '/datasets', '/sync/status']) {
        const ask = () => fetch(`${cluster.baseUrl}/api/v1${path}`, { headers: { cookie: `auth_token=${token}` } });
        // What a replica remembers ends by itself within a second; news only shorten that.
        await until(`${path} refuses the token at every replica`, async () => {
          const answers = await Promise.all(Array.from({ length: REPLICAS }, ask));
          return answers.every(({ status }) => status === 401);
        });
      }
    });

    it('is not needed with an access token of the issuer, which every service takes', async () => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer.url, aud: 'engram-api', sub: 'erin', iat: now, exp: now + 3600, jti: randomUUID() };
      const token = await issuer.sign({ ...claims, email: 'erin@example.com', email_verified: true });
      const strange = await issuer.sign({ ...claims, aud: 'another-api' });
      const ask = async (path: string, bearer: string) =>
        (await fetch(`${cluster.baseUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${bearer}` } })).status;
      for (const path of ['/users/me', '/datasets', '/activity/pipeline-runs', '/search', '/sync/status']) {
        for (let count = 0; count < REPLICAS; count += 1) {
          expect(await ask(path, token), path).to.equal(200);
          expect(await ask(path, strange), path).to.equal(401);
        }
      }
    });
  });
});
