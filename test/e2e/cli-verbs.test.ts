import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { runCommand } from '../support/run-command.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

describe('verbs of the command line', () => {
  let server: StartedApp;
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'engram-cli-home-'));
    server = await startApp({ REQUIRE_AUTHENTICATION: 'true', DEFAULT_USER_PASSWORD: 'correct horse' });
  });
  after(async () => {
    await server?.stop();
    await rm(home, { recursive: true, force: true });
  });

  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    runCommand(args, { environment: { HOME: home, ENGRAM_URL: server.baseUrl, ...environment } });

  /** Standard output of a command that must succeed. */
  async function done(line: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, out, err } = await run(line.split(' '), environment);
    expect(code, `${line}: ${err}`).to.equal(0);
    return out;
  }

  const signIn = '--email default_user@example.com --profile work';

  it('tells a missing key from a wrong one, and what to do', async () => {
    const [missing, wrong] = [await run(['datasets']), await run(['datasets', '--api-key', 'abcdef123456'])];
    expect([missing.code, wrong.code]).to.deep.equal([1, 1]);
    expect(missing.err).to.match(/Send an API key.*engram login/);
    expect(wrong.err)
      .to.match(/abcd…, is not one of/)
      .and.not.include('abcdef');
  });

  it('signs in, keeps a key that only its owner can read, and revokes it', async () => {
    const refused = await run(`login ${signIn}`.split(' '), { ENGRAM_PASSWORD: 'wrong' });
    expect(refused).to.include({ code: 1 });
    expect(refused.err).to.include('email or password is wrong');
    expect(await done(`login ${signIn}`, { ENGRAM_PASSWORD: 'correct horse' })).to.include(
      'as default_user@example.com',
    );
    const { mode } = await stat(join(home, '.config/engram/profiles.json'));
    expect(mode & 0o777).to.equal(0o600);
    expect(await done('users me')).to.match(/email +default_user@example.com/);
    expect(await done('logout')).to.include('signed out');
    expect((await run(['users', 'me'])).code).to.equal(1);
    await done(`login ${signIn}`, { ENGRAM_PASSWORD: 'correct horse' });
    expect(await done('profiles list')).to.match(/work +http\S+ +\*/);
    expect((await run(['datasets', '--profile', 'wrok'])).err).to.include("no profile 'wrok'. There are: work.");
  });

  it('invites people, and lists what is connected', async () => {
    expect(await done('users invite ivy@example.com')).to.match(/^http\S+\/#reset=ey\S+\n$/);
    const { user, link } = JSON.parse(await done('users invite ivy@example.com --json'));
    expect([user.email, link]).to.satisfy(
      ([email, url]: string[]) => email === 'ivy@example.com' && url?.includes('#'),
    );
    expect(await done('config')).to.contain('none: rules extract');
    const listed = await done('integrations overview');
    expect(listed)
      .to.match(/^mcp +ready +claude mcp add .*\/mcp/m)
      .and.match(/^remote memory +not configured +set COGNEE/m);
    expect(listed).to.match(/^agents +0 connected/m);
  });

  it('makes people, tenants, roles, permissions, keys and budgets by name', async () => {
    await done('users create bob@example.com', { ENGRAM_PASSWORD: 'another horse 9' });
    await done('tenants create acme');
    await done('tenants select acme');
    await done('tenants add-user bob@example.com');
    expect(await done('users list')).to.include('bob@example.com');
    await done('roles create reader');
    await done('roles assign reader bob@example.com');
    expect(await done('roles list')).to.match(/^reader /m);
    await done('datasets create plans');
    await done('permissions grant bob@example.com read -d plans');
    expect(await done('permissions list bob@example.com')).to.match(/^plans /m);
    expect(await done('permissions list --dataset plans')).to.match(/^bob@example.com +user +read$/m);
    expect(await done('audit --tenant acme')).to.contain('grant.given');
    await done('permissions revoke bob@example.com read -d plans');
    expect(await done('permissions list bob@example.com')).to.equal('none\n');
    const key = (await done('keys create ci --permission read -d plans')).trim();
    expect(await done(`datasets --api-key ${key}`)).to.match(/^plans /m);
    await done('budgets set tenant:acme --items 100');
    expect(await done('budgets show tenant:acme')).to.match(/^items +\d+ +100$/m);
    expect(await run('users delete bob@example.com'.split(' '))).to.include({ code: 2, out: '' });
    await done('users delete bob@example.com --yes');
    expect(await done('users list')).to.not.include('bob@');
  });

  it('remembers, answers, updates and rates by one style of options, JSON alone on standard output', async () => {
    const file = join(home, 'ada.txt');
    await writeFile(file, 'Ada Lovelace wrote the first program in 1843.');
    expect((await run(['remember', file, '-d', 'notes'])).out).to.equal('1 item remembered in notes\n');
    const [item] = JSON.parse(await done('items list -d notes --json'));
    const asked = await run(['ask', 'Who wrote the first program?', '-d', 'notes', '--session', 's1']);
    expect(asked.out).to.match(/^.*Ada Lovelace wrote the first program/);
    expect(await done('sessions show s1')).to.include('> Who wrote the first program?');
    const { qas } = JSON.parse(await done('sessions show s1 --json'));
    await done(`feedback give s1 ${qas[0].qa_id} 5 right`);
    expect(await done('sessions show s1 --json')).to.include('"feedback_score": 5');
    expect(await done('improve -d notes --session s1 --quiet')).to.match(/^notes: completed/);
    expect(await done(`items download ${item.id} -d notes`)).to.equal(
      'Ada Lovelace wrote the first program in 1843.\n',
    );
    const updated = await run(['update', item.id, 'Grace Hopper wrote the first compiler.', '-d', 'notes']);
    expect(updated.code, updated.err).to.equal(0);
    expect((await run(['ask', 'Who wrote the first compiler?', '-d', 'notes'])).out).to.include('Grace Hopper');
    expect(await done('api GET /api/v1/datasets')).to.include('"name": "notes"');
  });

  it('creates nothing by a typo, and says what may be meant', async () => {
    for (const line of [
      'cognify -d nots',
      'ask who -d nots',
      'search who -d nots',
      'improve -d nots',
      'items -d nots',
    ]) {
      const { code, err } = await run(line.split(' '));
      expect(code, line).to.equal(1);
      expect(err, line).to.include("There is no dataset 'nots'. Did you mean notes?");
    }
    expect(JSON.parse(await done('datasets --json')).map(({ name }: { name: string }) => name)).to.not.include('nots');
    expect((await run(['cognfy'])).err).to.include('Did you mean: engram cognify?');
    expect((await run(['users', 'crate', 'x@example.com'])).err).to.include('Did you mean: engram users create?');
    expect((await run(['ask', 'x', '--sesion', 's'])).err).to.include('Did you mean --session?');
    expect((await run(['users', 'create'])).err).to.include('Give <email>: engram users create <email>');
  });

  it('lets agents find and store over MCP, started by its command line', async () => {
    const key = (await done('keys create agent')).trim();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL('../../services/cli/engram.mjs', import.meta.url)), 'mcp'],
      env: { HOME: home, ENGRAM_URL: server.baseUrl, ENGRAM_API_KEY: key },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const asked = await client.callTool({ name: 'ask', arguments: { question: 'Who wrote the first compiler?' } });
    await client.close();
    expect(tools.map(({ name }) => name)).to.include.members(['remember', 'recall', 'ask', 'forget']);
    expect(JSON.stringify(asked)).to.include('Grace Hopper');
  });

  it('completes commands, verbs and datasets in each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect(await done(`completion ${shell}`)).to.include('engram');
    expect(await done('completion datasets')).to.include('notes');
  });
});
