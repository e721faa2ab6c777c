import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { signUp } from '../support/accounts.ts';
import { startIssuer, type TestIssuer } from '../support/oidc-issuer.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import type { Wire } from '../support/wire.ts';

const FACTS =
  'Ada Lindqvist leads the Oslo laboratory of Fjordtech. She joined Fjordtech on 3 March 2024. The laboratory has nine employees.';

type Structured = Record<string, never> & Readonly<Record<string, unknown>>;

interface Person {
  readonly wire: Wire;
  readonly client: Client;
  readonly key: string;
}

describe('MCP over HTTP', () => {
  let app: StartedApp;
  let ada: Person;
  let grace: Person;
  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true', LOG_LEVEL: 'warn' });
    [ada, grace] = [await person('ada'), await person('grace')];
  });
  after(async () => {
    await Promise.all([ada.client.close(), grace.client.close()]);
    await app.stop();
  });

  async function person(name: string): Promise<Person> {
    const { wire } = await signUp(app.baseUrl, name);
    const { key } = (await wire.post('/auth/api-keys', { name: null })).json;
    return { wire, key, client: await connect({ 'x-api-key': key }) };
  }

  async function connect(headers: Record<string, string>, url = app.baseUrl): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }) as never,
    );
    return client;
  }

  async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
    const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
    const [content] = result.content;
    const text = content?.type === 'text' ? content.text : '';
    return { text, isError: result.isError === true, data: (result.structuredContent ?? {}) as Structured };
  }

  async function done(client: Client, name: string, input: Record<string, unknown> = {}) {
    const result = await call(client, name, input);
    expect(result.isError, result.text).to.equal(false);
    return result;
  }

  describe('protocol', () => {
    async function send(message: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${app.baseUrl}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': ada.key,
          ...headers,
        },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      });
      const text = await response.text();
      const event = /^data: (.*)$/mu.exec(text)?.[1];
      const body = event ?? (text === '' ? 'null' : text);
      return { status: response.status, headers: response.headers, body: JSON.parse(body) };
    }
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

    it('starts with version, capabilities and instructions, and answers a ping', async () => {
      expect(ada.client.getServerVersion()).to.include({ name: 'engram' });
      expect(ada.client.getServerCapabilities()).to.have.all.keys('tools', 'resources', 'prompts', 'completions');
      expect(ada.client.getInstructions()).to.contain('remember');
      expect(await ada.client.ping()).to.deep.equal({});
    });

    it('agrees on the version of the protocol that the client speaks, or offers the newest', async () => {
      const initialize = (protocolVersion: string) =>
        send({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } },
        });
      const old = await initialize('2025-03-26');
      expect(old.body.result.protocolVersion).to.equal('2025-03-26');
      expect(old.headers.get('mcp-session-id')).to.match(/^[\da-f-]{36}$/);
      expect((await initialize('1999-01-01')).body.result.protocolVersion).to.equal('2025-11-25');
    });

    it('takes a request whose session another replica or an earlier start began', async () => {
      const answer = await send(ping, { 'mcp-session-id': 'of-another-replica', 'mcp-protocol-version': '2025-06-18' });
      expect(answer).to.deep.include({ status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } });
    });

    it('refuses an unknown version in the header, what is not JSON, and what is not a message', async () => {
      expect((await send(ping, { 'mcp-protocol-version': '1999-01-01' })).status).to.equal(400);
      const broken = await send('{');
      expect([broken.status, broken.body.error.code]).to.deep.equal([400, -32_700]);
      const noMessage = await send({ hello: 'world' });
      expect(noMessage.status).to.equal(400);
      expect(noMessage.body).to.nested.include({ jsonrpc: '2.0', id: null });
      expect((await send(ping, { accept: 'text/html' })).status).to.equal(406);
    });

    it('answers unknown methods, tools and prompts with the codes of JSON-RPC', async () => {
      expect((await send({ ...ping, method: 'nonsense/do' })).body.error.code).to.equal(-32_601);
      const unknown = await send({ ...ping, method: 'tools/call', params: { name: 'nonsense' } });
      expect(unknown.body.error).to.include({ code: -32_602 }).and.property('message').contains('nonsense');
      expect((await send({ ...ping, method: 'prompts/get', params: { name: 'x' } })).body.error.code).to.equal(-32_602);
    });

    it('answers several messages at once, and takes notifications without an answer', async () => {
      const both = await send([ping, { jsonrpc: '2.0', method: 'notifications/initialized' }]);
      expect(both.status).to.equal(200);
      expect((await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).to.equal(202);
    });

    it('has no stream without a request, and ends a session that it does not keep', async () => {
      const headers = { 'x-api-key': ada.key, accept: 'text/event-stream' };
      const stream = await fetch(`${app.baseUrl}/mcp`, { headers });
      expect([stream.status, stream.headers.get('allow')]).to.deep.equal([405, 'POST, DELETE']);
      expect((await fetch(`${app.baseUrl}/mcp`, { method: 'DELETE', headers })).status).to.equal(204);
    });

    it('refuses strangers and wrong keys with a challenge, and pages of other sites', async () => {
      for (const key of ['', 'f'.repeat(64)]) {
        const refused = await send(ping, { 'x-api-key': key });
        expect(refused.status).to.equal(401);
        expect(refused.headers.get('www-authenticate')).to.equal(
          `Bearer realm="Engram", resource_metadata="${app.baseUrl}/.well-known/oauth-protected-resource/mcp"`,
        );
        expect(refused.body.error.message).to.contain('Authentication required');
      }
      expect((await send(ping, { origin: 'https://evil.example' })).status).to.equal(403);
      expect((await send(ping, { origin: app.baseUrl })).status).to.equal(200);
    });

    it('takes a key as bearer too', async () => {
      const client = await connect({ authorization: `Bearer ${ada.key}` });
      expect(await client.ping()).to.deep.equal({});
      await client.close();
    });

    it('refuses a message above the limit of JSON bodies', async () => {
      const small = await startApp({ ENGRAM_JSON_LIMIT_BYTES: '4KB' });
      const body = JSON.stringify({ ...ping, params: { filler: 'x'.repeat(10_000) } });
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const { status } = await fetch(`${small.baseUrl}/mcp`, { method: 'POST', headers, body });
      await small.stop();
      expect(status).to.equal(413);
    });
  });

  describe('tools', () => {
    it('are listed with schemas of both sides, and hints on what they do', async () => {
      const { tools } = await ada.client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).to.include.members(
        'remember recall forget improve cognify search list_data delete prune save_interaction cognify_status'.split(
          ' ',
        ),
      );
      expect(names).to.include.members(['ask', 'add', 'sessions', 'explain', 'get_document']);
      for (const tool of tools) {
        expect(tool.description, tool.name).to.have.length.above(60);
        expect(tool.inputSchema.type).to.equal('object');
        expect(tool.outputSchema?.type, tool.name).to.equal('object');
        expect(tool.annotations).to.include.keys('title', 'readOnlyHint', 'destructiveHint');
      }
      const hinted = (hint: 'readOnlyHint' | 'destructiveHint') =>
        tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name);
      expect(hinted('destructiveHint')).to.have.members(['forget', 'delete', 'prune']);
      expect(hinted('readOnlyHint')).to.include.members(['ask', 'recall', 'search']).and.not.include('remember');
    });

    it('remember, find and explain, with progress meanwhile', async () => {
      const reports: Progress[] = [];
      const stored = (await ada.client.callTool(
        { name: 'remember', arguments: { data: FACTS, dataset_name: 'team' } },
        undefined,
        { onprogress: (report) => void reports.push(report) },
      )) as CallToolResult;
      expect(stored.structuredContent).to.deep.include({ status: 'completed', refused: [], error: null });
      expect(reports.length).to.be.above(1);
      const done = reports.map(({ progress }) => progress);
      expect(done, 'rises').to.deep.equal([...new Set(done)].toSorted((one, other) => one - other));
      expect(reports.at(-1)?.message).to.contain('Building team');

      const answer = await call(ada.client, 'ask', { question: 'Who leads the Oslo laboratory?' });
      expect(answer.text).to.match(/^Ada Lindqvist/);
      expect(answer.data).to.nested.include({ answered: true, 'answers[0].dataset': 'team' });
      const [source] =
        (answer.data as never as { answers: { sources: Record<string, string>[] }[] }).answers[0]?.sources ?? [];
      expect(source?.['excerpt']).to.contain('Ada Lindqvist');

      const whole = await call(ada.client, 'get_document', { document_id: source?.['data_id'] });
      expect(whole.text).to.equal(FACTS);
      const part = await call(ada.client, 'get_document', { document_id: source?.['data_id'], limit: 10 });
      expect(part.data).to.deep.include({ text: 'Ada Lindqv', next_offset: 10, characters: FACTS.length });

      const found = await call(ada.client, 'recall', { query: 'Fjordtech', datasets: 'team', search_type: 'chunks' });
      expect(found.data).to.nested.include({ 'results[0].text': FACTS, 'results[0].dataset': 'team' });
      const searched = await call(ada.client, 'search', { search_query: 'Fjordtech', search_type: 'CHUNKS', top_k: 3 });
      expect(searched.data).to.nested.include({ 'results[0].text': FACTS });
      const why = await call(ada.client, 'explain', { question: 'Who leads the Oslo laboratory?' });
      expect(why.text).to.contain('lexical #1');
      expect(why.data).to.nested.include({ 'results[0].lanes.lexical.rank': 1 });
    });

    it('say that memory does not know', async () => {
      const { text, data } = await done(ada.client, 'ask', { question: 'Who is the mayor of Tokyo?' });
      expect([text, data['answered']]).to.deep.equal(['Nothing in memory answers this question.', false]);
    });

    it('add several texts and build them once, as cognee-mcp takes them', async () => {
      await done(ada.client, 'add', {
        data: 'Bergen has a harbour.',
        dataset_name: 'cities',
        node_set: 'norway,ports',
      });
      const list = JSON.stringify(['Lyon lies on the Rhone.', 'Turin lies on the Po.']);
      const built = await done(ada.client, 'cognify', { data: list, dataset_name: 'cities' });
      expect(built.data['items']).to.have.length(2);
      await done(ada.client, 'cognify', { dataset_name: 'cities' });
      const listed = await done(ada.client, 'list_data', { dataset_id: 'cities', limit: 2 });
      expect(listed.data).to.deep.include({ total: 3, next_offset: 2 });
      const rest = await done(ada.client, 'list_data', { dataset_id: 'cities', limit: 2, offset: 2 });
      expect(rest.data['items']).to.have.length(1);
      expect(rest.data['next_offset']).to.equal(null);
      const status = await done(ada.client, 'cognify_status', { dataset_name: 'cities' });
      expect(status.data).to.nested.include({ 'datasets[0].status': 'completed' });
      await done(ada.client, 'save_interaction', { data: 'User: where is Lyon? Agent: on the Rhone.' });
    });

    it('store a file, and refuse what is none', async () => {
      const content_base64 = Buffer.from('# Plan\n\nThe launch is on 4 May 2027.').toString('base64');
      const file = { filename: 'plan.md', content_base64, dataset_name: 'files' };
      await done(ada.client, 'remember', file);
      expect((await done(ada.client, 'list_data', { dataset_id: 'files' })).text).to.contain('plan.md');
      for (const wrong of [{}, { content_base64 }, { ...file, data: 'x' }, { ...file, content_base64: '§§' }]) {
        expect(await call(ada.client, 'remember', wrong)).to.include({ isError: true });
      }
    });

    it('keep notes of a session, read them back and learn from them', async () => {
      await done(ada.client, 'remember', { data: 'Prefers green tea.', session_id: 'chat-1', dataset_name: 'team' });
      const found = await done(ada.client, 'recall', { query: 'tea', session_id: 'chat-1' });
      expect(found.data).to.nested.include({ 'results[0].text': 'Prefers green tea.', 'results[0].source': 'session' });
      expect((await done(ada.client, 'sessions')).text).to.contain('chat-1');
      const session = await done(ada.client, 'sessions', { session_id: 'chat-1' });
      expect(session.data).to.nested.include({ 'session.entries[0].answer': 'Prefers green tea.' });
      const improved = await done(ada.client, 'improve', { dataset_name: 'team', session_ids: 'chat-1' });
      expect(improved.text).to.contain('persist_session_qa');
      expect(await call(ada.client, 'sessions', { session_id: 'nope' })).to.include({ isError: true });
    });

    it('answer wrong arguments with what to do instead', async () => {
      const missing = await call(ada.client, 'ask', {});
      expect(missing.isError).to.equal(true);
      expect(missing.text).to.contain('question');
      const typo = await call(ada.client, 'ask', { question: 'Who?', datasets: 'taem' });
      expect(typo.isError).to.equal(true);
      expect(typo.text).to.contain('no dataset "taem"').and.contain('"team"');
      const type = await call(ada.client, 'search', { search_query: 'x', search_type: 'NONSENSE' });
      expect(type.text).to.contain('GRAPH_COMPLETION');
      const code = { search_query: 'nowhere', search_type: 'code' };
      const unknown = await call(ada.client, 'search', code);
      expect(unknown).to.include({ isError: true });
      expect(unknown.text).to.contain("could not resolve explore seed name 'nowhere'");
      const operation = await call(ada.client, 'search', { ...code, code_query: { operation: 'nope' } });
      expect(operation.text).to.contain('Unsupported CODE operation').and.contain('impact_analysis');
      const model = await call(ada.client, 'cognify', { data: 'x', graph_model_file: '/models.py' });
      expect(model.text).to.contain('graph_model');
      expect(await call(ada.client, 'forget', {})).to.include({ isError: true });
      expect(await call(ada.client, 'delete', { data_id: 'x', dataset_id: 'y' })).to.include({ isError: true });
    });

    it('show and change nothing of another person, until that grants it', async () => {
      const { id } = (await ada.wire.get('/datasets')).json.find(({ name }: { name: string }) => name === 'team');
      for (const [name, input] of [
        ['ask', { question: 'Who leads the Oslo laboratory?', datasets: 'team' }],
        ['list_data', { dataset_id: id }],
        ['forget', { dataset: id }],
        ['cognify', { dataset_name: id }],
      ] as const) {
        expect(await call(grace.client, name, input), name).to.include({ isError: true });
      }
      expect((await done(grace.client, 'list_data')).data['total']).to.equal(0);
      const me = (await grace.wire.get('/users/me')).json.id;
      expect((await ada.wire.post(`/permissions/datasets/${me}?permission_name=read`, [id])).status).to.equal(200);
      const answer = await done(grace.client, 'ask', { question: 'Who leads the Oslo laboratory?', datasets: 'team' });
      expect(answer.text).to.match(/^Ada Lindqvist/);
      const refused = await call(grace.client, 'remember', { data: 'Mine.', dataset_name: id });
      expect(refused.isError, refused.text).to.equal(true);
      expect(await call(grace.client, 'forget', { dataset: 'team' })).to.include({ isError: true });
    });

    it('are cancelled by the client, whose other calls go on', async () => {
      const abort = new AbortController();
      const reason = await new Promise<unknown>((resolve) => {
        void ada.client
          .callTool({ name: 'remember', arguments: { data: LONG, dataset_name: 'long' } }, undefined, {
            signal: abort.signal,
            onprogress: ({ message }) => {
              if (message?.startsWith('Building')) abort.abort('enough');
            },
          })
          .then(resolve, resolve);
      });
      expect(String(reason)).to.contain('enough');
      expect(await ada.client.ping()).to.deep.equal({});
      await until('the build goes on to its end', async () => {
        const { text } = await call(ada.client, 'cognify_status', { dataset_name: 'long' });
        return text.includes('completed');
      });
    });

    it('end their stream when they are cancelled, which no other account can do by naming the session', async () => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'mine',
        'x-api-key': ada.key,
      };
      const send = (message: object, own: Record<string, string> = {}) =>
        fetch(`${app.baseUrl}/mcp`, {
          method: 'POST',
          headers: { ...headers, ...own },
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        });
      const params = { name: 'remember', arguments: { data: `${LONG} More.`, dataset_name: 'long' } };
      const response = await send({ id: 7, method: 'tools/call', params });
      const cancellation = { method: 'notifications/cancelled', params: { requestId: 7, reason: 'enough' } };
      const ended = response.text();
      expect((await send(cancellation, { 'x-api-key': grace.key })).status).to.equal(202);
      expect(await Promise.race([ended, sleep(300, 'open')])).to.equal('open');
      expect((await send(cancellation)).status).to.equal(202);
      expect(await ended).to.not.contain('"result"');
    });

    it('forget an item, a dataset and everything', async () => {
      const listed = await done(ada.client, 'list_data', { dataset_id: 'cities' });
      const [item, other] = (listed.data as never as { items: { id: string }[] }).items;
      const { id } = (listed.data as never as { dataset: { id: string } }).dataset;
      await done(ada.client, 'delete', { data_id: item?.id, dataset_id: id });
      await done(ada.client, 'forget', { data_id: other?.id, dataset: 'cities' });
      expect((await done(ada.client, 'list_data', { dataset_id: 'cities' })).data['total']).to.equal(1);
      await done(ada.client, 'forget', { dataset: 'cities' });
      expect(await call(ada.client, 'list_data', { dataset_id: 'cities' })).to.include({ isError: true });
    });
  });

  describe('resources and prompts', () => {
    it('list datasets and items by page, and read their text', async () => {
      const form = new FormData();
      form.append('datasetName', 'many');
      for (let at = 0; at < 130; at += 1) form.append('data', new Blob([`Note number ${at}.`]), `note-${at}.txt`);
      expect((await grace.wire.form('/add', form)).status).to.equal(200);
      const uris: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await grace.client.listResources(cursor === undefined ? {} : { cursor });
        expect(page.resources.length).to.be.within(1, 100);
        uris.push(...page.resources.map(({ uri }) => uri));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(new Set(uris).size).to.equal(uris.length);
      const datasets = (await grace.wire.get('/datasets')).json as { id: string }[];
      const counts = await Promise.all(
        datasets.map(async ({ id }) => (await grace.wire.get(`/datasets/${id}/data/count`)).json.count as number),
      );
      expect(datasets, 'the own one, and the one that ada shares').to.have.length(2);
      expect(uris.length).to.equal(datasets.length + counts.reduce((sum, count) => sum + count));
      const item = uris.findLast((uri) => uri.includes('/items/')) ?? '';
      const { contents } = await grace.client.readResource({ uri: item });
      expect(contents[0]).to.include({ uri: item, mimeType: 'text/plain' }).and.property('text').match(/\.$/);
      const dataset = item.replace(/\/items\/.*/u, '');
      const list = await grace.client.readResource({ uri: dataset });
      expect(list.contents[0]).to.include({ mimeType: 'application/json' });
    });

    it('refuse what is not there, and cursors that are none', async () => {
      const codeOf = (work: Promise<unknown>) =>
        work.then(
          () => null,
          (error: { code?: number }) => error.code,
        );
      const [shared] = (await ada.client.listResources()).resources;
      expect(shared).to.not.equal(undefined);
      for (const uri of ['engram://datasets/x', 'file:///etc/passwd', `engram://datasets/${crypto.randomUUID()}`]) {
        expect(await codeOf(ada.client.readResource({ uri })), uri).to.equal(-32_002);
      }
      expect(await codeOf(ada.client.listResources({ cursor: 'nonsense' }))).to.equal(-32_602);
    });

    it('name templates, and complete their variables', async () => {
      const { resourceTemplates } = await ada.client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.include('engram://datasets/{dataset_id}');
      const ref = { type: 'ref/resource', uri: 'engram://datasets/{dataset_id}' } as const;
      const { completion } = await ada.client.complete({ ref, argument: { name: 'dataset_id', value: 'tea' } });
      expect(completion.values).to.have.length(1);
      const memory = await ada.client.readResource({ uri: `engram://datasets/${completion.values[0]}/memory` });
      expect(memory.contents[0]).to.property('text').contain('# Dataset: team');
    });

    it('give prompts that name the tools to use', async () => {
      const { prompts } = await ada.client.listPrompts();
      expect(prompts.map(({ name }) => name)).to.include('answer_from_memory');
      const input = { name: 'answer_from_memory', arguments: { question: 'Who?', dataset: 'team' } };
      const [message] = (await ada.client.getPrompt(input)).messages;
      expect(JSON.stringify(message)).to.contain('ask with datasets').and.contain('Who?');
      const ref = { type: 'ref/prompt', name: 'explore_dataset' } as const;
      const { completion } = await ada.client.complete({ ref, argument: { name: 'dataset', value: 'te' } });
      expect(completion.values).to.deep.equal(['team']);
    });
  });

  describe('with sign-in by OpenID Connect', () => {
    let issuer: TestIssuer;
    let signedIn: StartedApp;
    before(async () => {
      issuer = await startIssuer({ callbacks: ['https://memory.example.com/api/v1/auth/oidc/corp/callback'] });
      signedIn = await startApp({
        REQUIRE_AUTHENTICATION: 'true',
        ENGRAM_PUBLIC_URL: 'https://memory.example.com',
        ENGRAM_OIDC_PROVIDERS: JSON.stringify([
          {
            name: 'corp',
            issuer: issuer.url,
            clientId: 'engram',
            allowPrivateNetwork: true,
            provision: true,
            audiences: ['https://memory.example.com/mcp'],
          },
        ]),
      });
    });
    after(async () => {
      await signedIn.stop();
      await issuer[Symbol.asyncDispose]();
    });

    it('tells clients where to sign in, and takes the token that they get there', async () => {
      const refused = await fetch(`${signedIn.baseUrl}/mcp`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      const metadata = 'https://memory.example.com/.well-known/oauth-protected-resource/mcp';
      expect(refused.headers.get('www-authenticate')).to.equal(
        `Bearer realm="Engram", resource_metadata="${metadata}"`,
      );
      const told = await (await fetch(`${signedIn.baseUrl}/.well-known/oauth-protected-resource/mcp`)).json();
      expect(told).to.deep.include({
        resource: 'https://memory.example.com/mcp',
        authorization_servers: ['https://memory.example.com', issuer.url],
        bearer_methods_supported: ['header'],
      });
      const now = Math.floor(Date.now() / 1000);
      const token = await issuer.sign({
        iss: issuer.url,
        sub: 'lin',
        aud: 'https://memory.example.com/mcp',
        iat: now,
        exp: now + 600,
        email: 'lin@example.com',
        email_verified: true,
      });
      const client = await connect({ authorization: `Bearer ${token}` }, signedIn.baseUrl);
      expect((await done(client, 'list_data')).text).to.equal('There is no dataset yet.');
      await client.close();
    });
  });
});

const LONG = Array.from(
  { length: 400 },
  (_, at) =>
    `Person ${at} of Example Works met Mary Smith in Paris on ${(at % 27) + 1} May 2021 and spoke about plan ${at}.`,
).join('\n\n');
