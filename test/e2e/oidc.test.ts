import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { missingBrowser, openBrowser } from '../support/chromium.ts';
import { freePort } from '../support/engram-process.ts';
import { startIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

const ADA = { subject: 'ada', claims: { email: 'ada@example.com', email_verified: true } };

/** The whole service as an operator configures it: variables and a data directory of its own. */
describe('the whole service with an identity provider', () => {
  let app: StartedApp;
  let issuer: TestIssuer;

  before(async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    issuer = await startIssuer({ callbacks: [`${publicUrl}/api/v1/auth/oidc/corp/callback`] });
    issuer.person = ADA;
    issuer.isDown = true;
    const provider = { name: 'corp', title: 'Corp', issuer: issuer.url, clientId: 'engram', audiences: ['engram-api'] };
    app = await startApp({
      HTTP_API_PORT: String(port),
      REQUIRE_AUTHENTICATION: 'true',
      ENGRAM_PUBLIC_URL: publicUrl,
      ENGRAM_OIDC_PROVIDERS: JSON.stringify([{ ...provider, provision: true, allowPrivateNetwork: true }]),
      ENGRAM_OIDC_CLIENT_SECRETS: JSON.stringify({ corp: issuer.clientSecret }),
    });
  });
  after(async () => {
    await app.stop();
    await issuer[Symbol.asyncDispose]();
  });

  const datasetsWith = (token: string) =>
    fetch(`${app.baseUrl}/api/v1/datasets`, { headers: { authorization: `Bearer ${token}` } });

  it('starts without a request to the provider', async () => {
    expect((await fetch(`${app.baseUrl}/health`)).status).to.equal(200);
    expect(issuer.requests).to.deep.equal([]);
    issuer.isDown = false;
  });

  it('accepts an access token of the issuer to add and read data', async () => {
    const now = Math.floor(Date.now() / 1000);
    const token = await issuer.sign({
      iss: issuer.url,
      aud: 'engram-api',
      sub: 'bob',
      iat: now,
      exp: now + 300,
      jti: randomUUID(),
      email: 'bob@example.com',
      email_verified: true,
    });
    const form = new FormData();
    form.append('datasetName', 'notes');
    form.append('data', new Blob(['Bob keeps bees.']), 'bees.txt');
    const headers = { authorization: `Bearer ${token}` };
    const added = await fetch(`${app.baseUrl}/api/v1/add`, { method: 'POST', body: form, headers });
    expect(added.status).to.equal(200);
    const datasets = (await (await datasetsWith(token)).json()) as { name: string }[];
    expect(datasets.map(({ name }) => name)).to.deep.equal(['notes']);
  });

  it('signs a user in and out by the buttons of the console in a browser', async function () {
    this.timeout(120_000);
    if (missingBrowser() !== null) this.skip();
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${app.baseUrl}/datasets`);
      await page.click('text=Sign in with Corp');
      await page.click('[aria-label="Account of ada@example.com"]');
      expect(new URL(page.url()).pathname).to.equal('/datasets');
      await page.click('text=Sign out');
      await page.waitForSelector('h1:has-text("Sign in")');
    } finally {
      await browser.close();
    }
  });

  it('signs a user in and out in a browser', async function () {
    const missing = missingBrowser();
    if (missing !== null) {
      process.stderr.write(`    skipped: ${missing}\n`);
      this.skip();
    }
    let browser: Browser | undefined;
    try {
      browser = await openBrowser();
      const page = await browser.newPage();
      await page.goto(`${app.baseUrl}/api/v1/auth/oidc/corp/login?return_to=/docs`);
      expect(new URL(page.url()).pathname).to.equal('/docs');
      const me = await page.evaluate(() => fetch('/api/v1/users/me').then((answer) => answer.json()));
      expect(me).to.include({ email: 'ada@example.com', is_verified: true });
      const cookies = await page.context().cookies();
      expect(cookies.filter(({ name }) => name.startsWith('engram_sign_in_'))).to.deep.equal([]);
      expect(await page.evaluate('document.cookie')).to.equal('');
      const out = await page.evaluate(() =>
        fetch('/api/v1/auth/oidc/corp/logout', { method: 'POST' }).then((answer) => answer.json()),
      );
      expect((out as { logout_url: string }).logout_url).to.include(`${issuer.url}/session/end?`);
      const status = await page.evaluate(() => fetch('/api/v1/users/me').then((answer) => answer.status));
      expect(status).to.equal(401);
    } finally {
      await browser?.close();
    }
  });
});
