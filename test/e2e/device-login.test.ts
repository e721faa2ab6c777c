import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { runCli } from '../../services/cli/cli.ts';
import { createConsoleWorld } from '../support/console-world.ts';
import { until } from '../support/until.ts';

const ADMIN = 'admin@example.com';
const PASSWORD = 'correct horse battery';

describe('engram login in a browser', () => {
  const world = createConsoleWorld({
    ...{ REQUIRE_AUTHENTICATION: 'true', DEFAULT_USER_EMAIL: ADMIN, DEFAULT_USER_PASSWORD: PASSWORD },
  });
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'engram-cli-home-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  function logIn(...more: readonly string[]) {
    let told = '';
    const writable = new Writable({
      write(chunk, _encoding, done) {
        told += chunk;
        done();
      },
    });
    const environment = { HOME: home, ENGRAM_URL: world.app.baseUrl };
    const code = runCli(['login', '--device', ...more], {
      ...{ out: writable, err: writable, input: Readable.from([]), isInteractive: false, environment },
    });
    const page = until('the address', () => /http\S+user_code=\S+/.exec(told)?.[0] ?? null);
    return { code, page, told: () => told };
  }

  it('saves a key after the approval of a person who signs in on the page', async () => {
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

  it('saves nothing when the person types the code and denies', async () => {
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
});
