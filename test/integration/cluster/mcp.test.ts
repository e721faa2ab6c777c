import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { createWire, type Wire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

const PASSWORD = 'a password of tests';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('MCP with two replicas of each service', function () {
    this.timeout(240_000);
    let cluster: ClusterProcess;
    let wire: Wire;
    let client: Client;
    let key: string;
    before(async () => {
      cluster = await startCluster({ REQUIRE_AUTHENTICATION: 'true' }, { replicas: 2 });
      const nobody = createWire(cluster.baseUrl);
      await nobody.post('/auth/register', { email: 'ada@example.com', password: PASSWORD });
      const form = new URLSearchParams({ username: 'ada@example.com', password: PASSWORD }).toString();
      const login = await nobody.post('/auth/login', form, { 'content-type': 'application/x-www-form-urlencoded' });
      wire = createWire(cluster.baseUrl, { authorization: `Bearer ${login.json.access_token}` });
      key = (await wire.post('/auth/api-keys', { name: null })).json.key;
      client = new Client({ name: 'test', version: '1' });
      const transport = new StreamableHTTPClientTransport(new URL(`${cluster.baseUrl}/mcp`), {
        requestInit: { headers: { 'x-api-key': key } },
      });
      await client.connect(transport as never);
    });
    after(async () => {
      await client?.close();
      await cluster?.stop();
    });

    const call = async (name: string, input: Record<string, unknown>) => {
      const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
      return result.content[0]?.type === 'text' ? result.content[0].text : '';
    };

    it('answers each message of a session at whichever replica gets it', async () => {
      expect(await call('remember', { data: 'Nils Berg repairs clocks in Tromso.' })).to.contain('is built');
      for (let at = 0; at < 4; at += 1) {
        expect(await call('ask', { question: 'Who repairs clocks in Tromso?' })).to.match(/^Nils Berg/);
      }
      expect((await client.listResources()).resources).to.have.length(2);
    });

    it('ends a call whose cancellation comes to another replica', async () => {
      const [one = '', other = ''] = cluster.urlsOf('integrations');
      const send = (url: string, message: object, signal?: AbortSignal) =>
        fetch(`${url}/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'x-api-key': key,
            'mcp-session-id': 'mine',
          },
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
          ...(signal === undefined ? {} : { signal }),
        });
      const text = Array.from(
        { length: 3000 },
        (_, at) => `Person ${at} met Mary Smith in Paris about plan ${at}.`,
      ).join('\n\n');
      // The replica hears cancellations once it was asked anything.
      await (await send(one, { id: 1, method: 'ping' })).text();
      const params = { name: 'remember', arguments: { data: text, dataset_name: 'long' }, _meta: { progressToken: 1 } };
      const response = await send(one, { id: 7, method: 'tools/call', params });
      const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
      let seen = '';
      await until('the build has begun', async () => {
        seen += (await reader.read()).value ?? '';
        return seen.includes('Building long');
      });
      await send(other, { method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } });
      const begun = performance.now();
      for (let part = await reader.read(); !part.done; part = await reader.read()) seen += part.value;
      expect(seen).to.not.contain('"result"');
      expect(performance.now() - begun).to.be.below(15_000);
    });
  });
});
