import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { expect } from 'chai';
import { runCli } from '../../services/cli/cli.ts';
import { createConsoleWorld } from '../support/console-world.ts';
import { createTerminal } from '../support/run-command.ts';
import { until } from '../support/until.ts';

const ADMIN = 'admin@example.com';
const PASSWORD = 'correct horse battery';

describe('sign-in of programs in a browser', () => {
  const world = createConsoleWorld({
    REQUIRE_AUTHENTICATION: 'true',
    DEFAULT_USER_EMAIL: ADMIN,
    DEFAULT_USER_PASSWORD: PASSWORD,
  });
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'engram-cli-home-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  function logIn(...more: readonly string[]) {
    const environment = { HOME: home, ENGRAM_URL: world.app.baseUrl };
    const { texts, terminal } = createTerminal({ environment });
    const told = () => texts.out + texts.err;
    const code = runCli(['login', '--device', ...more], terminal);
    const page = until('the address', () => /http\S+user_code=\S+/.exec(told())?.[0] ?? null);
    return { code, page, told };
  }

  it('engram login saves a key after the approval of a person who signs in on the page', async () => {
    const login = logIn('--profile', 'browser');
    const path = (await login.page).slice(world.app.baseUrl.length);
    const watched = await world.open(path);
    const { page } = watched;
    await page.fill('input[type=email]', ADMIN);
    await page.fill('input[type=password]', PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`text=asks to act as ${ADMIN}`);
    watched.errors.length = 0;
    await world.expectSound(watched);
    await world.keep(page, 'device');
    await page.focus('role=button[name="Approve"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=The program is signed in');
    await world.expectSound(watched);
    await world.keep(page, 'device-approved');
    await page.close();
    expect(await login.code, login.told()).to.equal(0);
    expect(login.told()).to.include(`as ${ADMIN}, profile browser`);
    const file = join(home, '.config/engram/profiles.json');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const { apiKey } = JSON.parse(await readFile(file, 'utf8')).profiles.browser;
    const me = await fetch(`${world.app.baseUrl}/api/v1/users/me`, { headers: { 'x-api-key': apiKey } });
    expect(await me.json()).to.include({ email: ADMIN });
    const audit = await fetch(`${world.app.baseUrl}/api/v1/audit?limit=10`, { headers: { 'x-api-key': apiKey } });
    expect(await audit.text())
      .to.match(/session.opened[^}]*device/)
      .and.include('session.closed');
    // A code serves once.
    const again = await world.open(path);
    await again.page.waitForSelector('text=it is misspelt, used or expired');
    await again.page.close();
  });

  it('engram login saves nothing when the person types the code and denies', async () => {
    const login = logIn('--profile', 'denied');
    const code = (await login.page).split('=')[1] ?? '';
    const { page } = await world.open('/device');
    await page.fill('role=textbox[name="Code that the program shows"]', code.toLowerCase());
    await page.keyboard.press('Enter');
    await page.click('role=button[name="Deny"]');
    await page.waitForSelector('text=The program was refused');
    await page.close();
    expect(await login.code).to.equal(1);
    expect(login.told()).to.include('The sign-in was denied.');
    expect(await readFile(join(home, '.config/engram/profiles.json'), 'utf8')).to.not.include('denied');
  });

  it('lets an agent in over MCP, within the limits that the person chooses, until its key is deleted', async () => {
    const { agent, connect, answered, close } = await newAgent();
    const client = connect();
    expect(await client.connect(agent.transport()).catch((error) => error.constructor.name)).to.equal(
      'UnauthorizedError',
    );
    const watched = await world.open(agent.page());
    const { page } = watched;
    await page.waitForSelector(`text=asks to act as ${ADMIN}`);
    expect(await page.textContent('main'))
      .to.include('Test agent')
      .and.include('a program on this machine');
    await world.expectSound(watched);
    await page.getByLabel('May').first().click();
    await page.click('role=option[name="read"]');
    await page.keyboard.press('Escape');
    await world.keep(page, 'authorize');
    await page.click('role=button[name="Approve"]');
    const answer = await answered;
    // A tab that is closed while it still loads may never close.
    await page.waitForURL(/\/callback/);
    close();
    await page.close();
    expect(answer.get('state')).to.equal('1e5');
    expect(answer.get('iss')).to.equal(world.app.baseUrl);
    const transport = agent.transport();
    await transport.finishAuth(answer.get('code') ?? '');
    const signedIn = connect();
    await signedIn.connect(agent.transport());
    const datasets = await signedIn.callTool({ name: 'list_data', arguments: {} });
    expect(JSON.stringify(datasets)).to.include('There is no dataset yet');
    const added = await signedIn.callTool({ name: 'remember', arguments: { data: 'Ada lives in Bergen.' } });
    expect(JSON.stringify(added)).to.match(/"isError":true.*permission|permission.*"isError":true/i);
    await signedIn.close();
    const again = await agent
      .transport()
      .finishAuth(answer.get('code') ?? '')
      .catch((error) => error.message);
    expect(again, 'a code serves once').to.include('The code is used');

    // Its key is one of the person's, who ends it.
    const keys = await world.open('/people?tab=keys');
    await keys.page.click('role=tab[name="API keys"]').catch(() => undefined);
    await keys.page.click('role=button[name="Delete the key Test agent"]');
    await keys.page.click('role=button[name="Delete the key"]');
    await keys.page.waitForSelector('text=The key was deleted');
    await keys.page.close();
    expect(
      await connect()
        .connect(agent.transport())
        .catch((error) => error.constructor.name),
    ).to.equal('UnauthorizedError');
  });

  /** The official client of MCP as a program of this machine, which is answered on a port of its own. */
  async function newAgent() {
    const saved: { client?: OAuthClientInformationFull; tokens?: OAuthTokens; verifier?: string; url?: URL } = {};
    const answers = Promise.withResolvers<URLSearchParams>();
    const server = createServer((request, response) => {
      answers.resolve(new URL(request.url ?? '', 'http://127.0.0.1').searchParams);
      response.end('<title>Back in the agent</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const provider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: { client_name: 'Test agent', redirect_uris: [redirectUrl] },
      state: () => '1e5',
      clientInformation: () => saved.client,
      saveClientInformation: (client) => void Object.assign(saved, { client }),
      tokens: () => saved.tokens,
      saveTokens: (tokens) => void Object.assign(saved, { tokens }),
      redirectToAuthorization: (url) => void Object.assign(saved, { url }),
      saveCodeVerifier: (verifier) => void Object.assign(saved, { verifier }),
      codeVerifier: () => saved.verifier ?? '',
      invalidateCredentials: (what) => {
        if (what === 'all' || what === 'tokens') delete saved.tokens;
      },
    };
    return {
      close: () => server.close(),
      agent: {
        transport: () =>
          new StreamableHTTPClientTransport(new URL(`${world.app.baseUrl}/mcp`), { authProvider: provider }),
        page: () => `${saved.url?.pathname}${saved.url?.search}`,
      },
      connect: () => new Client({ name: 'agent', version: '1' }),
      answered: answers.promise,
    };
  }
});
