import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { signUp } from '../support/accounts.ts';
import { freePort } from '../support/engram-process.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

const ENGRAM = fileURLToPath(new URL('../../services/cli/engram.mjs', import.meta.url));

async function textOf(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { content } = (await client.callTool({ name, arguments: input })) as CallToolResult;
  return content[0]?.type === 'text' ? content[0].text : '';
}

describe('engram mcp', function () {
  this.timeout(120_000);
  let home: string;
  before(() => {
    home = mkdtempSync(join(tmpdir(), 'engram-mcp-'));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  async function connect(env: Record<string, string>, ...args: readonly string[]): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const started = { command: process.execPath, args: [ENGRAM, 'mcp', ...args], stderr: 'ignore' as const };
    await client.connect(
      new StdioClientTransport({ ...started, env: { HOME: home, PATH: process.env['PATH'] ?? '', ...env } }),
    );
    return client;
  }

  describe('with the address of a server', () => {
    let app: StartedApp;
    let key: string;
    before(async () => {
      app = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
      const { wire } = await signUp(app.baseUrl, 'ada');
      key = (await wire.post('/auth/api-keys', { name: null })).json.key;
    });
    after(() => app.stop());

    it('speaks for it with the key of the environment', async () => {
      const client = await connect({ ENGRAM_URL: app.baseUrl, ENGRAM_API_KEY: key });
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include.members(['ask', 'remember']);
      await textOf(client, 'remember', { data: 'Nils Berg repairs clocks in Tromso.' });
      expect(await textOf(client, 'ask', { question: 'Who repairs clocks in Tromso?' })).to.match(/^Nils Berg/);
      await client.close();
    });

    it('says what to do when the key is missing, or nobody answers', async () => {
      const stranger = await connect({}, '--url', app.baseUrl);
      const refused = await stranger.callTool({ name: 'list_data', arguments: {} });
      expect(refused.isError).to.equal(true);
      expect(JSON.stringify(refused.content)).to.contain('Set a valid API key');
      await stranger.close();
      const lost = await connect({}, '--url', `http://127.0.0.1:${await freePort()}`);
      const unanswered = await lost.callTool({ name: 'list_data', arguments: {} });
      expect(unanswered.isError).to.equal(true);
      expect(JSON.stringify(unanswered.content)).to.contain('ECONNREFUSED');
      await lost.close();
    });

    it('ends with its input, and answers what is no message with an error', async () => {
      const env = { HOME: home, PATH: process.env['PATH'] ?? '', ENGRAM_URL: app.baseUrl, ENGRAM_API_KEY: key };
      const child = spawn(process.execPath, [ENGRAM, 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
      let out = '';
      child.stdout.on('data', (piece: Buffer) => {
        out += piece;
      });
      child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect(code).to.equal(0);
      expect(JSON.parse(out)).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
    });
  });

  it('starts a server where none answers, which other agents share and take over', async () => {
    const env = { HTTP_API_PORT: String(await freePort()) };
    const first = await connect(env);
    await textOf(first, 'remember', { data: 'Solveig Dahl paints boats in Hardanger.' });
    const second = await connect(env);
    expect(await textOf(second, 'ask', { question: 'Who paints boats?' })).to.match(/^Solveig Dahl/);
    await first.close();
    expect(await textOf(second, 'ask', { question: 'Who paints boats?' })).to.match(/^Solveig Dahl/);
    await second.close();
  });
});
