import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { logIn as logInAt } from '../support/accounts.ts';
import { type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';

type Json = Record<string, unknown>;
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the contract says is there, and fail when it is not
  readonly body: any;
}

const PASSWORD = 'correct horse battery';
const ADMIN = 'default_user@example.com';

/** One client of the service: its credential goes with every request. */
class Client {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>>) {
    this.#baseUrl = baseUrl;
    this.#headers = headers;
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.#baseUrl}/api/v1${path}`, {
      method,
      headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }
  get = (path: string) => this.send('GET', path);
  put = (path: string, body: unknown) => this.send('PUT', path, body);
  post = (path: string, body: unknown) => this.send('POST', path, body);
  add = (data: string, datasetName = 'notes') => this.post('/add', { data, datasetName });
}

/** The whole service over HTTP, with accounts, keys and a scripted model. */
describe('budgets', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let admin: Client;
  let accounts = 0;

  before(async () => {
    provider = await startModelProvider();
    app = await startApp({
      REQUIRE_AUTHENTICATION: 'true',
      IMPROVE_AUTO_ENABLED: 'false',
      DEFAULT_USER_PASSWORD: PASSWORD,
      ...provider.variables,
    });
    admin = await logIn(ADMIN);
  });
  after(async () => {
    await app.stop();
    await provider.close();
  });

  async function logIn(email: string): Promise<Client> {
    const token = await logInAt(app.baseUrl, email, PASSWORD);
    return new Client(app.baseUrl, { authorization: `Bearer ${token}` });
  }
  /** A new account in its personal space. */
  async function newUser(): Promise<{ readonly id: string; readonly client: Client }> {
    accounts += 1;
    const email = `user${accounts}@example.com`;
    const nobody = new Client(app.baseUrl, {});
    const { body } = await nobody.post('/auth/register', { email, password: PASSWORD });
    return { id: body.id, client: await logIn(email) };
  }
  async function newKey(of: Client): Promise<{ readonly id: string; readonly client: Client }> {
    const { body } = await of.post('/auth/api-keys', { name: null });
    return { id: body.id, client: new Client(app.baseUrl, { 'x-api-key': body.key }) };
  }
  async function userWith(budget: Json) {
    const user = await newUser();
    expect((await admin.put(`/budgets/tenants/${user.id}`, budget)).status).to.equal(200);
    return user;
  }
  const used = async (of: Client, kind: string) => (await of.get('/activity/usage')).body.space.limits[kind].used;

  it('refuse an item above the limit with 413, without effect', async () => {
    const { client } = await userWith({ items: 2 });
    expect((await client.add('one')).status).to.equal(200);
    expect((await client.add('two')).status).to.equal(200);
    expect((await client.add('one')).status).to.equal(200); // known already: nothing is added
    const refused = await client.add('three');
    expect(refused.status).to.equal(413);
    expect(refused.body).to.deep.equal({
      detail:
        'Budget exceeded: items of the account: 2 used, limit 2, 1 more asked for (items). [PayloadTooLargeError]',
    });
    const [dataset] = (await client.get('/datasets')).body;
    expect((await client.get(`/datasets/${dataset.id}/data`)).body).to.have.length(2);
    expect(await used(client, 'items')).to.equal(2);
  });

  it('count an updated item once, for the key that wrote it last', async () => {
    const { client } = await userWith({ storage_bytes: 30 });
    const first = await newKey(client);
    const second = await newKey(client);
    const added = await first.client.add('12345678');
    const item = added.body.data_ingestion_info[0].data_id;
    const update = (by: Client, data: string) => by.send('PATCH', `/update?data_id=${item}`, { data });
    const ofKey = async ({ client: key }: { readonly client: Client }) => {
      const { limits } = (await key.get('/activity/usage')).body.key;
      return [limits.items.used, limits.storageBytes.used];
    };
    expect((await update(first.client, 'A text of twenty-six bytes')).status).to.equal(200);
    expect(await used(client, 'storageBytes')).to.equal(26);
    expect(await ofKey(first)).to.deep.equal([1, 26]);
    const refused = await update(second.client, 'This one is longer than what is left.');
    expect(refused.status).to.equal(413);
    expect(await used(client, 'storageBytes')).to.equal(26);
    expect((await update(second.client, 'short')).status).to.equal(200);
    expect(await used(client, 'storageBytes')).to.equal(5);
    expect(await used(client, 'items')).to.equal(1);
    expect([await ofKey(first), await ofKey(second)]).to.deep.equal([
      [0, 0],
      [1, 5],
    ]);
    expect((await client.post('/forget', { dataset: 'notes' })).status).to.equal(200);
    expect(await ofKey(second)).to.deep.equal([0, 0]);
  });

  it('refuse a dataset above the limit with 413, and count removed ones', async () => {
    const { client } = await userWith({ datasets: 1 });
    const made = await client.post('/datasets', { name: 'one' });
    expect(made.status).to.equal(200);
    expect((await client.post('/datasets', { name: 'one' })).status).to.equal(200);
    const refused = await client.post('/datasets', { name: 'two' });
    expect([refused.status, refused.body.detail]).to.deep.equal([
      413,
      'Budget exceeded: datasets of the account: 1 used, limit 1, 1 more asked for (datasets). [PayloadTooLargeError]',
    ]);
    expect((await client.add('text', 'three')).status).to.equal(413);
    expect((await client.send('DELETE', `/datasets/${made.body.id}`)).status).to.equal(200);
    expect((await client.post('/datasets', { name: 'two' })).status).to.equal(200);
  });

  it('count a WebSocket as a request, and refuse it before it opens', async () => {
    const { client } = await userWith({ requestsPerMinute: 3 });
    const { body } = await client.post('/auth/api-keys', { name: null });
    const url = `${app.baseUrl.replace('http', 'ws')}/api/v1/cognify/subscribe/${randomUUID()}`;
    const follow = () =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url, { headers: { 'x-api-key': body.key } });
        socket.once('close', (code) => resolve(`closed ${code}`));
        socket.once('error', ({ message }) => resolve(message));
      });
    const answers = await Promise.all(Array.from({ length: 8 }, follow));
    const refused = answers.filter((answer) => answer === 'Unexpected server response: 429');
    // One request was made before; a minute may end in between.
    expect(refused.length).to.be.within(2, 6);
    expect(answers.filter((answer) => answer === 'closed 1008')).to.have.length(8 - refused.length);
  });

  it('refuse a run above the limit with 429, and start the next one when one has ended', async () => {
    const { client } = await userWith({ concurrentRuns: 1 });
    await client.add('Alice met Bob.', 'one');
    await client.add('Carol met Dave.', 'two');
    provider.answer = () => ({ hangs: true });
    const running = await client.post('/cognify', { datasets: ['one'], run_in_background: true });
    expect(running.status).to.equal(200);
    const refused = await client.post('/cognify', { datasets: ['two'], run_in_background: true });
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.greaterThan(0);
    expect(refused.body.detail).to.contain('concurrent runs of the account: 1 used, limit 1');
    const both = await client.post('/cognify', { datasets: ['one', 'two'], run_in_background: true });
    expect(both.status).to.equal(429);
    const remembered = await client.post('/remember', { data: 'text', datasetName: 'two' });
    expect(remembered.status).to.equal(429);
    expect(await used(client, 'items')).to.equal(2);
    provider.answer = () => undefined;
    expect((await client.post('/forget', { dataset: 'one' })).status).to.equal(200); // ends its run
    expect(await used(client, 'concurrentRuns')).to.equal(0);
    expect((await client.post('/cognify', { datasets: ['two'] })).status).to.equal(200);
  });

  it('stop a background run whose tokens are used up, and answer 402', async () => {
    const { client } = await userWith({ llmTokensPerDay: 10 });
    await client.add('Alice met Bob.');
    expect((await client.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
    expect(await used(client, 'llmTokensPerDay')).to.equal(15);
    await client.add('Carol met Dave.');
    const asked = provider.requests.length;
    const refused = await client.post('/cognify', { datasets: ['notes'] });
    expect(refused.status).to.equal(402);
    expect(refused.body.error).to.equal('Token budget exhausted');
    expect(refused.body.detail).to.match(
      /^LLMPaymentRequiredError: LLM budget exhausted: language-model tokens per day of the account: 15 used, limit 10 \(llmTokensPerDay\); the window ends at \d{4}-\d\d-\d\dT00:00:00.000Z\. \(Status code: 402\)$/,
    );
    const background = await client.post('/cognify', { datasets: ['notes'], run_in_background: true });
    expect(background.status).to.equal(200);
    const newest = await until('the run ends with an error', async () => {
      const [run] = (await client.get('/activity/pipeline-runs?pipeline_name=cognify_pipeline&limit=1')).body as Json[];
      return run?.['status'] === 'DATASET_PROCESSING_ERRORED' ? run : null;
    });
    expect(newest).to.include({ error_class: 'LLMPaymentRequiredError', outcome: 'failed' });
    const search = await client.post('/search', {
      query: 'Who met Bob?',
      searchType: 'GRAPH_COMPLETION',
      datasets: ['notes'],
    });
    expect(search.status).to.equal(402);
    expect(search.body.detail).to.match(/^LLM budget exhausted: .* \[LLMPaymentRequiredError\]$/);
    expect(provider.requests.length).to.equal(asked);
    await admin.put(`/budgets/tenants/${(await client.get('/users/me')).body.id}`, { llmTokensPerDay: 1000 });
    expect((await client.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
  });

  it('count the tokens of a background run for the key that started it', async () => {
    const user = await newUser();
    const key = await newKey(user.client);
    expect((await user.client.put(`/budgets/keys/${key.id}`, { llm_tokens_per_month: 5 })).status).to.equal(200);
    await key.client.add('Alice met Bob.');
    expect((await key.client.post('/cognify', { datasets: ['notes'], run_in_background: true })).status).to.equal(200);
    const spent = async () => (await key.client.get('/activity/usage')).body.key.limits.llmTokensPerMonth.used || null;
    expect(await until('tokens are counted', spent)).to.equal(15);
    await key.client.add('Carol met Dave.');
    expect((await key.client.post('/cognify', { datasets: ['notes'] })).status).to.equal(402);
    expect((await user.client.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
    expect(await used(user.client, 'llmTokensPerMonth')).to.equal(30);
  });

  it('admit everything with the action Warn, and add a header', async () => {
    const { client, id } = await userWith({ items: { limit: 1, action: 'Warn' }, action: 'Enforce' });
    expect((await client.add('one')).headers.has('x-engram-budget-warning')).to.equal(false);
    const second = await client.add('two');
    expect(second.status).to.equal(200);
    expect(second.headers.get('x-engram-budget-warning')).to.equal('items of the account: 2 used, limit 1');
    await admin.put(`/budgets/tenants/${id}`, {});
    expect((await client.get('/datasets')).headers.has('x-engram-budget-warning')).to.equal(false);
  });

  it('count what a background improve stores for the key that started it', async () => {
    const user = await newUser();
    const key = await newKey(user.client);
    expect((await user.client.put(`/budgets/keys/${key.id}`, { items: 5 })).status).to.equal(200);
    expect((await key.client.post('/datasets', { name: 'notes' })).status).to.equal(200);
    const entry = { type: 'qa', question: 'Who met?', answer: 'Alice met Bob.' };
    await key.client.post('/remember/entry', { entry, session_id: 's', dataset_name: 'notes' });
    const begun = await key.client.post('/improve', {
      dataset_name: 'notes',
      session_ids: ['s'],
      run_in_background: true,
    });
    expect(begun.body.status).to.equal('running');
    const isCounted = async () => (await key.client.get('/activity/usage')).body.key.limits.items.used > 0;
    await until('items are counted', isCounted);
  });

  it('of a key stay below the ceiling of a superuser, and cannot be changed with the key', async () => {
    const user = await newUser();
    const key = await newKey(user.client);
    expect((await admin.put(`/budgets/keys/${key.id}`, { items: 2, datasets: 1 })).status).to.equal(200);
    expect((await user.client.put(`/budgets/keys/${key.id}`, { items: 3 })).status).to.equal(403);
    expect((await user.client.put(`/budgets/keys/${key.id}`, { items: null })).status).to.equal(403);
    const lowered = await user.client.put(`/budgets/keys/${key.id}`, { items: 1 });
    expect([lowered.body.limits.items.limit, lowered.body.limits.datasets.limit]).to.deep.equal([1, 1]);
    expect((await key.client.put(`/budgets/keys/${key.id}`, { items: 2 })).status).to.equal(403);
    expect((await key.client.post('/auth/api-keys', { name: null })).status).to.equal(403);
    expect((await key.client.send('PATCH', '/users/me', { password: 'a way round' })).status).to.equal(403);
    expect((await key.client.add('one')).status).to.equal(200);
    expect((await key.client.add('two')).status).to.equal(413);
    expect((await user.client.add('two')).status).to.equal(200);
    const { body } = await user.client.get(`/budgets/keys/${key.id}`);
    expect(body.limits.items).to.include({ limit: 1, used: 1, action: 'Enforce', source: 'stored' });
  });

  it('of a tenant are shared by its members, and visible to those who manage it', async () => {
    const [owner, member] = [await newUser(), await newUser()];
    const { body } = await owner.client.post(`/permissions/tenants?tenant_name=acme`, undefined);
    const tenant = body.tenant_id;
    await admin.put(`/budgets/tenants/${tenant}`, { items: 1 });
    expect(
      (await owner.client.post(`/permissions/users/${member.id}/tenants?tenant_id=${tenant}`, undefined)).status,
    ).to.equal(200);
    expect((await member.client.post('/permissions/tenants/select', { tenant_id: tenant })).status).to.equal(200);
    expect((await owner.client.add('one')).status).to.equal(200);
    const refused = await member.client.add('two');
    expect([refused.status, refused.body.detail]).to.deep.equal([
      413,
      'Budget exceeded: items of the tenant: 1 used, limit 1, 1 more asked for (items). [PayloadTooLargeError]',
    ]);
    expect((await owner.client.get(`/budgets/tenants/${tenant}`)).body.account).to.equal(`tenant/${tenant}`);
    expect((await member.client.get(`/budgets/tenants/${tenant}`)).status).to.equal(403);
    expect((await member.client.get('/activity/usage')).body.space).to.equal(null);
    expect((await owner.client.put(`/budgets/tenants/${tenant}`, { items: 9 })).status).to.equal(403);
  });

  it('of the settings apply where nothing else is stored, and may have the action Warn', async () => {
    for (const [action, status] of [
      ['enforce', 413],
      ['warn', 200],
    ] as const) {
      const other = await startApp({ ENGRAM_BUDGET_ITEMS: '1', ENGRAM_BUDGET_ACTION: action });
      try {
        const client = new Client(other.baseUrl, {});
        expect((await client.add('one')).status).to.equal(200);
        const second = await client.add('two');
        expect(second.status).to.equal(status);
        expect(second.headers.has('x-engram-budget-warning')).to.equal(status === 200);
        const { account, limits } = (await client.get('/activity/usage')).body.space;
        expect(limits.items).to.include({ limit: 1, source: 'default' });
        const id = String(account).split('/')[1];
        expect((await client.put(`/budgets/tenants/${id}`, { items: null })).status).to.equal(200);
        const third = await client.add('three');
        expect([third.status, third.headers.has('x-engram-budget-warning')]).to.deep.equal([200, false]);
      } finally {
        await other.stop();
      }
    }
  });

  it('are counted in /metrics by kind of limit', async () => {
    const text = await (await fetch(`${app.baseUrl}/metrics`)).text();
    expect(text).to.match(/engram_budget_passed_total\{limit="items",outcome="exceeded"\} [1-9]/);
    expect(text).to.match(/engram_budget_passed_total\{limit="items",outcome="warned"\} [1-9]/);
    expect(text).to.match(/engram_budget_charged_total\{limit="llmTokensPerDay"\} [1-9]/);
  });
});
