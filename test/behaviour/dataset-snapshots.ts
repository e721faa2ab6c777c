import { hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import { elementWeightsCollection } from '../../services/common/records/improve/element-weights.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { insert } from '../../services/common/storage/ports/document-store.ts';
import { SNAPSHOT_SCOPE } from '../../services/common/storage/snapshots/manifest.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';

const FACTS = [
  'Ada Lovelace wrote the first program for the Analytical Engine of Charles Babbage in London in 1843.',
  'Grace Hopper built the A-0 compiler at Remington Rand in Philadelphia and later worked on COBOL.',
];

interface User {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Snapshot {
  readonly id: string;
  readonly status: string;
  readonly items: number;
  readonly taken_by: string | null;
}

interface Restore {
  readonly id: string;
  readonly status: string;
  readonly dataset_id: string;
  readonly failure: { readonly name: string; readonly message: string } | null;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Triplets are made by improve when it is told so. */
export const DATASET_SNAPSHOT_SETTINGS = { TRIPLET_EMBEDDING: 'true' };

/** Snapshots that users take over HTTP, and datasets that they make from them. The same in both shapes. */
export function datasetSnapshotCases(start: () => Promise<ManagedApp>): void {
  let app: ManagedApp;
  let ada: User;
  let grace: User;
  let dataset: string;
  const api = async (user: User, method: string, path: string, body?: unknown): Promise<Answer> => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${app.baseUrl}/api/v1${path}`, {
      method,
      headers: { ...user.headers, ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  const need = async (...call: Parameters<typeof api>): Promise<unknown> => {
    const { status, body } = await api(...call);
    expect(status, `${call[1]} ${call[2]} ${JSON.stringify(body)}`).to.be.oneOf([200, 202]);
    return body;
  };
  const signUp = async (): Promise<User> => {
    const credentials = { email: `${randomUUID()}@example.com`, password: 'a password of tests' };
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(credentials) };
    const registered = await fetch(`${app.baseUrl}/api/v1/auth/register`, json);
    expect(registered.status).to.equal(201);
    const { id } = (await registered.json()) as { id: string };
    const form = new URLSearchParams({ username: credentials.email, password: credentials.password });
    const login = await fetch(`${app.baseUrl}/api/v1/auth/login`, { method: 'POST', body: form });
    const { access_token: token } = (await login.json()) as { access_token: string };
    return { id, headers: { authorization: `Bearer ${token}` } };
  };
  const makeDataset = async (user: User, name: string, texts: readonly string[]): Promise<string> => {
    const { id } = (await need(user, 'POST', '/datasets', { name })) as { id: string };
    await need(user, 'POST', '/add', { datasetId: id, data: texts });
    await need(user, 'POST', '/cognify', { datasetIds: [id] });
    return id;
  };
  const grant = (permission: string, method = 'POST') =>
    need(ada, method, `/permissions/datasets/${grace.id}?permission_name=${permission}`, [dataset]);
  const take = async (user: User, of: string, name: string): Promise<Snapshot> => {
    let taken = (await need(user, 'POST', `/datasets/${of}/snapshots`, { name })) as Snapshot;
    await until('the snapshot is complete', async () => {
      if (taken.status !== 'running') return true;
      taken = (await need(user, 'GET', `/datasets/${of}/snapshots/${taken.id}`)) as Snapshot;
      return taken.status !== 'running';
    });
    expect(taken.status).to.equal('complete');
    return taken;
  };
  const whenRestored = async (user: User, started: unknown): Promise<Restore> => {
    let restore = started as Restore;
    await until('the restore is over', async () => {
      if (restore.status === 'running')
        restore = (await need(user, 'GET', `/datasets/restores/${restore.id}`)) as Restore;
      return restore.status !== 'running';
    });
    expect(restore.failure).to.equal(null);
    return restore;
  };
  const restore = async (user: User, of: string, snapshot: string, name: string): Promise<string> => {
    const started = await need(user, 'POST', `/datasets/${of}/snapshots/${snapshot}/restore`, { name });
    return (await whenRestored(user, started)).dataset_id;
  };
  const download = async (user: User, of: string, snapshot: string): Promise<Response> =>
    fetch(`${app.baseUrl}/api/v1/datasets/${of}/snapshots/${snapshot}/file`, { headers: user.headers });
  const upload = (bytes: Uint8Array, name: string): FormData => {
    const form = new FormData();
    form.append('name', name);
    form.append('snapshot', new Blob([Uint8Array.from(bytes)]), 'facts.engram');
    return form;
  };
  const answerOf = async (user: User, of: string): Promise<string> => {
    const query = { query: 'Who wrote the first program?', searchType: 'CHUNKS', datasetIds: [of], onlyContext: true };
    const found = (await need(user, 'POST', '/search', query)) as { search_result: unknown }[];
    return JSON.stringify(found.map(({ search_result }) => search_result)).replaceAll(of, '');
  };
  const objectsOf = async (snapshot: string): Promise<number> => {
    const prefix = `${PERSONAL_TENANT}/${snapshot}/`;
    return (await app.stores.blobs.list(SNAPSHOT_SCOPE, { prefix, limit: 100 })).length;
  };
  const uploadsKept = async (): Promise<number> => {
    const prefix = `${PERSONAL_TENANT}/upload-`;
    return (await app.stores.blobs.list(SNAPSHOT_SCOPE, { prefix, limit: 100 })).length;
  };
  const datasetsOf = async (user: User): Promise<readonly string[]> =>
    ((await need(user, 'GET', '/datasets')) as { name: string }[]).map(({ name }) => name).sort();

  before(async () => {
    app = await start();
    [ada, grace] = [await signUp(), await signUp()];
    dataset = await makeDataset(ada, 'facts', FACTS);
  });
  after(async () => {
    // Servers that others use too keep nothing of these.
    for (const user of [ada, grace]) if (user !== undefined) await api(user, 'DELETE', '/datasets');
    await app?.stop();
  });

  it('are taken, listed, and become a dataset of the caller that answers the same', async () => {
    const snapshot = await take(ada, dataset, 'first');
    expect(snapshot).to.include({ items: FACTS.length, taken_by: ada.id });
    const again = await take(ada, dataset, 'first');
    expect(again).to.deep.equal(snapshot);
    const { snapshots } = (await need(ada, 'GET', '/datasets/snapshots')) as { snapshots: Snapshot[] };
    expect(snapshots).to.deep.equal([snapshot]);
    const clone = await restore(ada, dataset, snapshot.id, 'clone');
    expect(await answerOf(ada, clone))
      .to.equal(await answerOf(ada, dataset))
      .and.to.include('Lovelace');
    expect(await datasetsOf(ada)).to.deep.equal(['clone', 'facts']);
    const taken = await api(ada, 'POST', `/datasets/${dataset}/snapshots/${snapshot.id}/restore`, { name: 'clone' });
    expect(taken.status).to.equal(409);
    await need(ada, 'DELETE', `/datasets/${clone}`);
  });

  it('have the triplets and the weights that make the graph answer as it does', async () => {
    await need(ada, 'POST', '/improve', { dataset_id: dataset });
    const [original, entity] = [datasetScope(PERSONAL_TENANT, asId(dataset)), randomUUID()];
    const weight = { weight: 0.75, changedAt: new Date().toISOString() };
    await app.stores.documents.commit(original, [insert(elementWeightsCollection, entity, weight)]);
    const { id } = await take(ada, dataset, 'improved');
    const clone = await restore(ada, dataset, id, 'improved_clone');
    const restored = datasetScope(PERSONAL_TENANT, asId(clone));
    expect((await app.stores.documents.get(restored, elementWeightsCollection, entity))?.value).to.deep.equal(weight);
    const triplets = { kind: 'triplet' as const };
    for (const index of [app.stores.indexes.text, app.stores.indexes.vectors]) {
      const count = await index.count(original, triplets);
      expect(count).to.be.greaterThan(0);
      expect(await index.count(restored, triplets)).to.equal(count);
    }
    await need(ada, 'DELETE', `/datasets/${clone}`);
  });

  it('restore as well as they were written before they had those', async () => {
    const { id } = await take(ada, dataset, 'old');
    const { blobs } = app.stores;
    const key = `${PERSONAL_TENANT}/${id}/manifest.json`;
    const stored = await textOf((await blobs.get(SNAPSHOT_SCOPE, key)) ?? Readable.from([]));
    const old = JSON.stringify({ ...JSON.parse(JSON.parse(stored).manifest), version: 1 });
    const signed = await app.messenger.call(
      'auth.SignSnapshot',
      { sha256: hash('sha256', old) },
      { requestId: 'test' },
    );
    await blobs.put(SNAPSHOT_SCOPE, key, Buffer.from(JSON.stringify({ manifest: old, ...signed })));
    const clone = await restore(ada, dataset, id, 'old_clone');
    expect(await answerOf(ada, clone)).to.equal(await answerOf(ada, dataset));
    await need(ada, 'DELETE', `/datasets/${clone}`);
  });

  it('come as a file, which whoever has it can restore, and whose content is theirs then', async () => {
    const { id } = await take(ada, dataset, 'filed');
    const answer = await download(ada, dataset, id);
    expect(answer.status).to.equal(200);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect(Number(answer.headers.get('content-length'))).to.equal(bytes.length);
    const started = await need(grace, 'POST', '/datasets/restores', upload(bytes, 'from_a_file'));
    const { id: restoreId, dataset_id: clone } = await whenRestored(grace, started);
    expect(await answerOf(grace, clone)).to.equal(await answerOf(ada, dataset));
    const scope = datasetScope(PERSONAL_TENANT, asId(clone));
    const items = await findAll(app.stores.documents, scope, dataItemsCollection);
    expect(items.map(({ value }) => value.ownerId)).to.deep.equal([grace.id, grace.id]);
    expect((await api(ada, 'GET', `/datasets/${clone}/data`)).status).to.equal(403);
    expect((await api(ada, 'GET', `/datasets/restores/${restoreId}`)).status).to.equal(404);
    expect(await uploadsKept()).to.equal(0);
  });

  it('are refused as files when they are cut off, changed, foreign or something else; nothing is left', async () => {
    const { id } = await take(ada, dataset, 'victim');
    const bytes = new Uint8Array(await (await download(ada, dataset, id)).arrayBuffer());
    const changed = Uint8Array.from(bytes);
    changed[bytes.length - 9] = (changed[bytes.length - 9] ?? 0) ^ 1;
    const foreign = Buffer.from(bytes);
    // Of the manifest, which is signed.
    const at = foreign.indexOf('facts');
    foreign.write('fakes', at);
    const before = await datasetsOf(grace);
    for (const [what, reason] of [
      [bytes.subarray(0, bytes.length - 20), /cut off/],
      [changed, /differs|damaged/],
      [foreign, /not signed by this installation/],
      [Buffer.from('not a snapshot at all'), /no snapshot|damaged|cut off/],
      [Buffer.alloc(0), /no snapshot/],
    ] as const) {
      const { status, body } = await api(grace, 'POST', '/datasets/restores', upload(what, 'refused'));
      expect(status, JSON.stringify(body)).to.equal(409);
      expect((body as { detail: string }).detail).to.match(reason);
    }
    expect((await api(grace, 'POST', '/datasets/restores', new FormData())).status).to.equal(400);
    expect(await datasetsOf(grace)).to.deep.equal(before);
    expect(await uploadsKept()).to.equal(0);
  });

  it('show what was there before somebody was let in, so reading alone opens none', async () => {
    const { id } = await take(ada, dataset, 'private');
    const path = `/datasets/${dataset}/snapshots`;
    const attempts = () =>
      Promise.all([
        api(grace, 'GET', path).then(({ status }) => status),
        api(grace, 'POST', path, { name: 'graces' }).then(({ status }) => status),
        download(grace, dataset, id).then(async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        }),
        api(grace, 'POST', `${path}/${id}/restore`, { name: 'graces' }).then(({ status }) => status),
        api(grace, 'DELETE', `${path}/${id}`).then(({ status }) => status),
      ]);
    expect(await attempts()).to.deep.equal([403, 403, 403, 403, 403]);
    await grant('read');
    expect(await attempts()).to.deep.equal([200, 403, 403, 403, 403]);
    await grant('read', 'DELETE');
    await grant('share');
    expect(await attempts()).to.deep.equal([403, 403, 403, 403, 403]);
    await grant('read');
    const [listed, taken, file, restored, removed] = await attempts();
    expect([listed, file, removed]).to.deep.equal([200, 200, 403]);
    expect(taken).to.be.oneOf([200, 202]);
    expect(restored).to.be.oneOf([200, 202]);
    await grant('share', 'DELETE');
    await grant('delete');
    await need(grace, 'DELETE', `${path}/${id}`);
    expect(await objectsOf(id)).to.equal(0);
    for (const permission of ['read', 'delete']) await grant(permission, 'DELETE');
  });

  it('are not for API keys that are limited to less', async () => {
    const { id } = await take(ada, dataset, 'keyed');
    const keyOf = async (limits: object): Promise<User> => {
      const body = { name: randomUUID().slice(0, 8), ...limits };
      const { key } = (await need(ada, 'POST', '/auth/api-keys', body)) as { key: string };
      return { id: ada.id, headers: { 'x-api-key': key } };
    };
    const reading = await keyOf({ permissions: ['read'] });
    expect((await download(reading, dataset, id)).status).to.equal(403);
    expect((await api(reading, 'POST', `/datasets/${dataset}/snapshots`, {})).status).to.equal(403);
    const ofDataset = await keyOf({ datasets: [dataset] });
    expect((await api(ofDataset, 'GET', `/datasets/${dataset}/snapshots`)).status).to.equal(200);
    const bytes = new Uint8Array(await (await download(ofDataset, dataset, id)).arrayBuffer());
    const beyond = { name: 'out of its reach' };
    expect((await api(ofDataset, 'POST', `/datasets/${dataset}/snapshots/${id}/restore`, beyond)).status).to.equal(403);
    expect((await api(ofDataset, 'POST', '/datasets/restores', upload(bytes, beyond.name))).status).to.equal(403);
  });

  it('are of one dataset each, whatever they are called in another', async () => {
    const other = await makeDataset(grace, 'others', FACTS.slice(0, 1));
    const [one, two] = [await take(ada, dataset, 'same'), await take(grace, other, 'same')];
    expect(one.id).not.to.equal(two.id);
    for (const method of ['GET', 'DELETE'])
      expect((await api(grace, method, `/datasets/${other}/snapshots/${one.id}`)).status).to.equal(404);
    expect((await download(grace, other, one.id)).status).to.equal(404);
    const moved = await api(grace, 'POST', `/datasets/${other}/snapshots/${one.id}/restore`, { name: 'moved' });
    expect(moved.status).to.equal(404);
    expect((await api(ada, 'POST', `/datasets/${dataset}/snapshots`, { name: '../up' })).status).to.equal(400);
  });

  it('go with their dataset, and the file that somebody has stays theirs', async () => {
    const gone = await makeDataset(ada, 'gone', FACTS);
    const { id } = await take(ada, gone, 'last');
    const bytes = new Uint8Array(await (await download(ada, gone, id)).arrayBuffer());
    expect(await objectsOf(id)).to.be.greaterThan(1);
    await need(ada, 'DELETE', `/datasets/${gone}`);
    expect(await objectsOf(id)).to.equal(0);
    const records = await app.stores.blobs.list(SNAPSHOT_SCOPE, { prefix: `${PERSONAL_TENANT}/${gone}`, limit: 1 });
    expect(records).to.deep.equal([]);
    const started = await need(ada, 'POST', '/datasets/restores', upload(bytes, 'gone'));
    const { dataset_id: back } = await whenRestored(ada, started);
    expect(back).not.to.equal(gone);
    expect(await answerOf(ada, asId(back))).to.include('Lovelace');
  });
}
