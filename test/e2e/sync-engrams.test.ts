import { expect } from 'chai';
import { freePort, makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { md5 } from '../support/remote-memory-server.ts';
import { startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

/** A server, which may be the remote memory of the other one. */
interface Side {
  readonly wire: Wire;
  /** Its address and a key of its user, for the one that sends to it. */
  asRemote(): Promise<Remote>;
  restart(remote?: Remote): Promise<void>;
  stop(): Promise<void>;
  /** Starts a sync with the other side and waits for its end. */
  push(): Promise<SyncRunShown>;
  dataset(): Promise<string>;
  /** Names of the files, by their content. */
  files(): Promise<Readonly<Record<string, string>>>;
  item(name: string): Promise<string>;
}

type Remote = Readonly<Record<'COGNEE_SERVICE_URL' | 'COGNEE_API_KEY', string>>;

interface SyncRunShown {
  readonly run_id: string;
  readonly status: string;
  readonly uploaded: number;
  readonly downloaded: number;
  readonly passed_over: number;
  readonly error: string | null;
}

type Named = { readonly id: string; readonly name: string };

type Start = (
  dataDir: string,
  environment: Readonly<Record<string, string>>,
) => Promise<{ readonly baseUrl: string; stop(): Promise<void> }>;

const inThisProcess: Start = async (dataDir, environment) => {
  const { baseUrl, stop } = await startApp(environment, { dataDir });
  return { baseUrl, stop: () => stop({ keepData: true }) };
};

/** Each stop and restart kills it. */
const inItsOwnProcess: Start = async (dataDir, environment) => {
  const { baseUrl, kill } = await startProcess({ dataDir, environment });
  return { baseUrl, stop: kill };
};

async function startSide(startServer: Start, firstRemote?: Remote): Promise<Side> {
  const data = makeDataDir();
  const HTTP_API_PORT = String(await freePort());
  let remote = firstRemote;
  const start = () =>
    startServer(data.path, { HTTP_API_PORT, REQUIRE_AUTHENTICATION: 'true', ...ACCOUNT, ...(remote ?? {}) });
  let server = await start();
  const login = new URLSearchParams({ username: ACCOUNT.DEFAULT_USER_EMAIL, password: ACCOUNT.DEFAULT_USER_PASSWORD });
  const answer = await fetch(`${server.baseUrl}/api/v1/auth/login`, { method: 'POST', body: login });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  const wire = createWire(server.baseUrl, { authorization: `Bearer ${token}` });
  const side: Side = {
    wire,
    async asRemote() {
      const { key } = (await wire.post('/auth/api-keys', { name: 'of the other' })).json;
      return { COGNEE_SERVICE_URL: server.baseUrl, COGNEE_API_KEY: key };
    },
    async restart(otherRemote = remote) {
      await server.stop();
      remote = otherRemote;
      server = await start();
    },
    async stop() {
      await server.stop();
      data.remove();
    },
    async push() {
      const { status, json, text } = await wire.post('/sync', {});
      expect(status, text).to.equal(200);
      return ended(side, json.run_id);
    },
    async dataset() {
      const [dataset, ...more] = (await wire.get('/datasets')).json as readonly Named[];
      expect(more, 'one dataset').to.deep.equal([]);
      return dataset?.id ?? '';
    },
    async files() {
      const id = await side.dataset();
      const files: Record<string, string> = {};
      for (const item of (await wire.get(`/datasets/${id}/data`)).json as readonly Named[]) {
        files[(await wire.get(`/datasets/${id}/data/${item.id}/raw`)).text] = item.name;
      }
      return files;
    },
    async item(name) {
      const items = (await wire.get(`/datasets/${await side.dataset()}/data`)).json as readonly Named[];
      return items.find((one) => one.name === name)?.id ?? '';
    },
  };
  return side;
}

const ACCOUNT = { DEFAULT_USER_EMAIL: 'ada@example.com', DEFAULT_USER_PASSWORD: 'a long password of Ada' };

async function runs({ wire }: Side): Promise<readonly SyncRunShown[]> {
  return (await wire.get('/sync/runs')).json.runs;
}

async function ended(side: Side, id: string): Promise<SyncRunShown> {
  const isOver = async () =>
    (await runs(side)).find(({ run_id, status }) => run_id === id && !['started', 'in_progress'].includes(status));
  return until('the end of the sync', isOver, { everyMs: 50 });
}

/** `one` can send to `two`. */
async function startTwo(start: Start): Promise<{ readonly one: Side; readonly two: Side } & AsyncDisposable> {
  const two = await startSide(start);
  const one = await startSide(start, await two.asRemote());
  return {
    one,
    two,
    async [Symbol.asyncDispose]() {
      await Promise.all([one.stop(), two.stop()]);
    },
  };
}

describe('sync of two Engram servers', () => {
  it('brings new, changed and deleted files from either side to the other, which builds them', async () => {
    await using world = await startTwo(inThisProcess);
    const { one, two } = world;
    await two.restart(await one.asRemote());
    const texts = ['Ada Lovelace met Charles Babbage.', 'Mary Somerville taught Ada.', 'A note of no use.'];
    await one.wire.upload('letters', ...texts.map((content, at) => ({ name: `${at}.txt`, content })));
    expect(await one.push()).to.include({ status: 'completed', uploaded: 3, downloaded: 0, passed_over: 0 });
    expect(await two.files()).to.deep.equal(await one.files());
    expect(await two.dataset(), 'an id of its own').to.not.equal(await one.dataset());
    await until('a search finds it at the other server', async () => {
      const question = { query: 'Who met Ada Lovelace?', search_type: 'CHUNKS', dataset_ids: [await two.dataset()] };
      return (await two.wire.post('/search', question)).text.includes('met Charles Babbage');
    });
    expect(await one.push(), 'nothing is left to do').to.include({ uploaded: 0, downloaded: 0 });

    // The receiver changes, deletes and adds, and pushes back.
    const place = `data_id=${await two.item('0')}&dataset_id=${await two.dataset()}`;
    const changed = await two.wire.patch(`/update?${place}`, { raw_data: 'Ada Lovelace wrote to Charles Babbage.' });
    expect(changed.status, changed.text).to.equal(200);
    expect((await two.wire.remove(`/datasets/${await two.dataset()}/data/${await two.item('2')}`)).status).to.equal(
      200,
    );
    await two.wire.upload('letters', { name: 'new.txt', content: 'A letter from Turin.' });
    expect(await two.push()).to.include({ status: 'completed', uploaded: 2, downloaded: 0 });
    const expected = ['A letter from Turin.', 'Ada Lovelace wrote to Charles Babbage.', 'Mary Somerville taught Ada.'];
    expect(Object.keys(await one.files()).toSorted()).to.deep.equal(expected);
    expect(await one.files()).to.deep.equal(await two.files());

    // And the first one again, while the other has something new.
    await two.wire.upload('letters', { name: 'kept.txt', content: 'Only at the second.' });
    expect((await one.wire.remove(`/datasets/${await one.dataset()}/data/${await one.item('1')}`)).status).to.equal(
      200,
    );
    expect(await one.push()).to.include({ status: 'completed', uploaded: 0, downloaded: 1 });
    expect(Object.keys(await two.files())).to.have.members([...expected.slice(0, 2), 'Only at the second.']);
    expect(await one.files()).to.deep.equal(await two.files());
  });

  itWhenWhole('ends with everything once on both sides, although each is killed in the middle', async () => {
    await using world = await startTwo(inItsOwnProcess);
    const { one, two } = world;
    const each = 30;
    const letters = Array.from({ length: each }, (_, at) => ({ name: `${at}.txt`, content: `Letter ${at} of Ada.` }));
    const others = Array.from({ length: each }, (_, at) => ({ name: `b${at}.txt`, content: `Letter ${at} of Mary.` }));
    await one.wire.upload('letters', ...letters);
    await two.wire.upload('letters', ...others);
    const started = await one.wire.post('/sync', {});
    const count = async (side: Side) =>
      ((await side.wire.get(`/datasets/${await side.dataset()}/data`)).json as readonly Named[]).length;
    const kills = [
      { killed: two, when: two, has: 3 },
      { killed: one, when: two, has: 8 },
      { killed: two, when: one, has: 3 },
      { killed: one, when: one, has: 6 },
    ];
    for (const { killed, when, has } of kills) {
      await until('more has arrived', async () => (await count(when)) >= each + has);
      await killed.restart();
    }
    const run = await ended(one, started.json.run_id);
    expect(run, String(run.error)).to.include({ status: 'completed', passed_over: 0 });
    const files = Object.fromEntries([...letters, ...others].map(({ name, content }) => [content, name.slice(0, -4)]));
    for (const side of [one, two]) {
      expect(await side.files()).to.deep.equal(files);
      expect(await count(side), 'each once').to.equal(2 * each);
    }
  });

  it('lets a sender delete only what it was told of, and fetch only that', async () => {
    const side = await startSide(inThisProcess);
    await using _ = { [Symbol.asyncDispose]: side.stop };
    const { wire } = side;
    await wire.upload('letters', { name: 'old.txt', content: 'old' }, { name: 'both.txt', content: 'both' });
    const id = '5b8a3c2e-9f10-4c7d-8e21-3a4b5c6d7e8f';
    const { key } = (await wire.post('/auth/api-keys', { name: 'of the sender' })).json;
    const send = async (method: string, path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const answer = await fetch(`${wire.baseUrl}/api/sync/${id}${path}`, { method, headers, ...sent });
      const text = await answer.text();
      return { status: answer.status, text, name: answer.headers.get('x-file-name') };
    };
    expect((await send('PUT', '?prune=true', { items: [] })).status, 'unknown').to.equal(403);
    const asked = { dataset_id: id, dataset_name: 'letters', hashes: [md5('both'), md5('mine')] };
    expect(JSON.parse((await send('POST', '/diff', asked)).text)).to.deep.equal({
      missing_on_remote: [md5('mine')],
      missing_on_local: [md5('old')],
    });
    expect(await send('GET', `/data/${md5('old')}`)).to.deep.equal({ status: 200, text: 'old', name: 'old.txt' });
    expect((await send('GET', `/data/${md5('both')}`)).status).to.equal(404);
    await wire.upload('letters', { name: 'new.txt', content: 'new' });
    expect((await send('GET', `/data/${md5('new')}`)).status).to.equal(404);
    expect(JSON.parse((await send('PUT', '', { items: [] })).text)).to.include({ deleted_database_entries: 0 });
    expect(JSON.parse((await send('PUT', '?prune=true', { items: [] })).text)).to.include({
      deleted_database_entries: 1,
    });
    expect(await side.files()).to.deep.equal({ both: 'both', new: 'new' });
    const form = (fields: Record<string, string>, content: string) => {
      const body = new FormData();
      body.append('file', new Blob([content]), 'mine');
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      const place = `${wire.baseUrl}/api/sync/${id}/data/${id}`;
      return fetch(place, { method: 'PUT', headers: { 'x-api-key': key }, body });
    };
    const fields = { dataset_id: id, dataset_name: 'letters', data_id: id, md5: md5('mine'), extension: 'md' };
    const broken = await form(fields, 'min');
    expect(broken.status).to.equal(400);
    expect(await broken.text()).to.contain(md5('min'));
    expect((await form({ ...fields, data_id: fields.data_id.replace('5b', '6b') }, 'mine')).status).to.equal(400);
    expect((await form(fields, 'mine')).status).to.equal(200);
    expect((await form(fields, 'mine')).status, 'again').to.equal(200);
    expect(await side.files()).to.deep.equal({ both: 'both', new: 'new', mine: 'mine' });
  });
});
