import { generateKeyPairSync, randomBytes, randomUUID, hash as sha, sign } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { collections } from '../../services/app/collections.ts';
import { manifestSignedText } from '../../services/common/domain/snapshot.ts';
import type { DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import type {
  ErasureProgress,
  RequestOf,
  SnapshotInfo,
  SnapshotRef,
} from '../../services/common/platform/messaging/messages.ts';
import { createDatasets, datasetsCollection } from '../../services/common/records/auth/datasets.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import { ledgerCollection } from '../../services/common/records/cognify/ledger.ts';
import type { SnapshotPlace } from '../../services/common/storage/ports/snapshot-places.ts';
import { SNAPSHOT_SCOPE } from '../../services/common/storage/snapshots/manifest.ts';
import { MANAGED_RESTORE_JOB } from '../../services/ingest/snapshots/managed-restores.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import {
  CALL,
  declareTenant as declare,
  eraseTenant,
  requestWithKey,
  type ManagedTenant as Tenant,
} from '../support/managed-tenant.ts';
import { until } from '../support/until.ts';

const FACTS = [
  'Ada Lovelace wrote the first program for the Analytical Engine of Charles Babbage in London in 1843.',
  'Grace Hopper built the A-0 compiler at Remington Rand in Philadelphia and later worked on COBOL.',
  'Alan Turing worked at Bletchley Park on the Bombe together with Gordon Welchman.',
  'The price of the blue kettle is 20 euros. Konrad Zuse finished the Z3 in Berlin in 1941.',
];
const QUESTIONS = ['Who wrote the first program?', 'Where was the compiler built?', 'price of the kettle', 'Berlin'];
const TYPES = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'GRAPH_COMPLETION', 'TRIPLET_COMPLETION'];

interface Managed {
  readonly crUid: string;
  readonly tenant: Tenant;
  readonly id: DatasetId;
  readonly name: string;
}

/** Snapshots and what is made from them, the same in both shapes. `place`: where they are kept. */
export function snapshotCases(start: () => Promise<ManagedApp>, place: () => SnapshotPlace = () => null): void {
  let app: ManagedApp;
  let acme: Tenant;
  let original: Managed;
  const declared: Tenant[] = [];
  const taken: { readonly managed: Managed; readonly name: string }[] = [];
  before(async () => {
    app = await start();
    acme = await declareTenant();
    original = await declareDataset(acme, 'facts');
    await remember(original, FACTS);
  });
  after(async () => {
    // Servers that others use too keep nothing of these.
    for (const { managed } of taken) await drop(managed);
    for (const tenant of declared) await eraseTenant(app, tenant);
    await app?.stop();
  });

  const declareTenant = async (): Promise<Tenant> => {
    const tenant = await declare(app);
    declared.push(tenant);
    return tenant;
  };
  const declareDataset = async (tenant: Tenant, name: string): Promise<Managed> => {
    const crUid = randomUUID();
    const request = { crUid, tenantId: tenant.tenantId, name };
    const { dataset } = await app.messenger.call('auth.EnsureDataset', request, CALL);
    return { crUid, tenant, id: dataset.id, name };
  };
  const ask = async ({ key }: Tenant, method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await requestWithKey(app, key, method, path, body);
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text === '' ? null : JSON.parse(text);
  };
  const remember = async ({ tenant, id }: Pick<Managed, 'tenant' | 'id'>, texts: readonly string[]): Promise<void> => {
    await ask(tenant, 'POST', '/add', { datasetId: id, data: texts });
    await ask(tenant, 'POST', '/cognify', { datasetIds: [id] });
  };
  const answers = async ({ tenant, id }: Pick<Managed, 'tenant' | 'id'>): Promise<string> => {
    const found: unknown[] = [];
    for (const searchType of TYPES)
      for (const query of QUESTIONS)
        found.push(await ask(tenant, 'POST', '/search', { query, datasetIds: [id], searchType, topK: 5 }));
    // What names the dataset differs.
    return JSON.stringify(found)
      .replaceAll(id, 'DATASET')
      .replaceAll(tenant.tenantId, 'TENANT')
      .replaceAll(/"dataset_name":"[^"]*"/g, '"dataset_name":""');
  };
  const take = async (managed: Managed, name: string, whenTooFast?: () => void): Promise<SnapshotInfo> => {
    const { crUid, tenant, id } = managed;
    taken.push({ managed, name });
    const attempt = async () => {
      const request = { tenantId: tenant.tenantId, datasetId: id, crUid, name, place: place() };
      const { snapshot, failure } = await app.messenger.call('ingest.TakeSnapshot', request, CALL);
      if (whenTooFast !== undefined && failure?.message.includes('changes faster than it can be read')) whenTooFast();
      else expect(failure?.message ?? null).to.equal(null);
      return snapshot;
    };
    return until(`the snapshot ${name}`, attempt);
  };
  const drop = async ({ crUid, tenant, id }: Managed): Promise<void> => {
    const request = { tenantId: tenant.tenantId, datasetId: id, crUid, keep: 1, place: place() };
    await app.messenger.call('ingest.PruneSnapshots', request, CALL).catch(() => null);
  };
  const attempt = (
    tenant: Tenant,
    name: string,
    snapshot: SnapshotRef,
    crUid: string = randomUUID(),
    signers: readonly string[] = [],
  ) =>
    app.messenger.call(
      'ingest.RestoreDataset',
      { tenantId: tenant.tenantId, crUid, name, snapshot, place: place(), signers },
      CALL,
    );
  const restoreOf = async (source: TenantId, tenant: Tenant, name: string, snapshot: string): Promise<Managed> => {
    const crUid = randomUUID();
    const restored = async () => {
      const { datasetId, failure } = await attempt(tenant, name, { tenantId: source, name: snapshot }, crUid);
      expect(failure).to.equal(null);
      return datasetId;
    };
    return { crUid, tenant, id: await until(`the snapshot ${snapshot} is restored`, restored), name };
  };
  const restore = (tenant: Tenant, name: string, snapshot: string) => restoreOf(acme.tenantId, tenant, name, snapshot);
  const datasetsOf = async ({ tenantId }: Tenant): Promise<readonly string[]> =>
    (await findAll(app.stores.documents, { tenant: tenantId }, datasetsCollection)).map(({ id }) => id).sort();
  const content = async ({ tenant, id }: Managed): Promise<Readonly<Record<string, string>>> => {
    const scope = datasetScope(tenant.tenantId, id);
    const found: Record<string, string> = {};
    for (const { key } of await app.stores.blobs.list(scope, { limit: 1000 })) {
      const blob = await app.stores.blobs.get(scope, key);
      found[key] = sha('sha256', await buffer(blob ?? Readable.from([])));
    }
    return found;
  };
  const rowsOf = async ({ tenant, id }: Managed) => {
    const scope = datasetScope(tenant.tenantId, id);
    const { text, vectors, graph } = app.stores.indexes;
    return [await text.count(scope, {}), await vectors.count(scope, {}), await graph.count(scope)];
  };
  /** Everything of a restore that failed: nothing may be left of it anywhere. */
  const leftOver = async (tenant: Tenant, before: ReadonlyMap<string, number>): Promise<void> => {
    expect(await countAll(tenant)).to.deep.equal(new Map([...before]));
  };
  const countAll = async ({ tenantId }: Tenant): Promise<ReadonlyMap<string, number>> => {
    const ofTenant = collections.filter(
      ({ level, name }) => level !== 'system' && !['audit_records', 'events'].includes(name),
    );
    const counts = await app.stores.documents.countEach({ tenant: tenantId }, ofTenant);
    const blobs = (await app.stores.blobs.list({ tenant: tenantId }, { limit: 1000 })).length;
    return new Map([...ofTenant.map(({ name }, at) => [name, counts[at] ?? 0] as const), ['blobs', blobs]]);
  };

  it('give a dataset that answers as the original does, with the same content, and asks no model', async () => {
    const info = await take(original, 'facts-1');
    expect(info).to.include({ name: 'facts-1', tenantId: acme.tenantId, datasetId: original.id, items: FACTS.length });
    const clone = await restore(acme, 'facts-clone', 'facts-1');
    expect(clone.id).not.to.equal(original.id);
    expect(await content(clone)).to.deep.equal(await content(original));
    expect(await rowsOf(clone)).to.deep.equal(await rowsOf(original));
    const expected = await answers(original);
    expect(expected).to.include('Lovelace');
    expect(await answers(clone)).to.equal(expected);
    // It is the resource's from then on, as any other.
    const again = await attempt(acme, 'facts-clone', { tenantId: acme.tenantId, name: 'facts-1' }, clone.crUid);
    expect(again.datasetId).to.equal(clone.id);
    const request = { crUid: clone.crUid, tenantId: acme.tenantId, name: 'facts-clone' };
    const ensured = await app.messenger.call('auth.EnsureDataset', request, CALL);
    expect([ensured.dataset.id, ensured.created]).to.deep.equal([clone.id, false]);
    // Nothing waits to be built, and what is added later is.
    const statistics = await app.messenger.call(
      'ingest.DatasetStatistics',
      { tenantId: acme.tenantId, datasetId: clone.id },
      CALL,
    );
    expect(statistics).to.include({ items: FACTS.length, pending: 0, failed: 0 });
    const pipelines = ['cognify_pipeline'];
    const built = await app.messenger.call('cognify.RunStatuses', { datasets: [ensured.dataset], pipelines }, CALL);
    expect(built.runs.map(({ status }) => status)).to.deep.equal(['DATASET_PROCESSING_COMPLETED']);
    await remember(clone, ['Edsger Dijkstra taught in Eindhoven and Austin.']);
    expect(await answers(original)).to.equal(expected);
  });

  it('go to another tenant as well, whose own they are then', async () => {
    const other = await declareTenant();
    const clone = await restore(other, 'facts', 'facts-1');
    expect(await answers(clone)).to.equal(await answers(original));
    const owners = new Set(
      ((await ask(other, 'GET', `/datasets/${clone.id}/data`)) as { ownerId: string }[]).map(({ ownerId }) => ownerId),
    );
    expect(owners.size).to.equal(1);
    const used = await app.messenger.call('auth.Usage', { tenant: other.tenantId }, CALL);
    expect(used.usage.find(({ kind }) => kind === 'items')?.used).to.equal(FACTS.length);
    expect(used.usage.find(({ kind }) => kind === 'datasets')?.used).to.equal(1);
    // What belongs to it goes with it; the snapshot stays.
    await eraseTenant(app, other);
    declared.splice(declared.indexOf(other), 1);
    expect((await restore(acme, 'facts-after', 'facts-1')).id).to.be.a('string');
  });

  it('are taken once by one name, listed when complete, and pruned down to the newest', async () => {
    const again = await take(original, 'facts-1');
    await take(original, 'facts-2');
    await take(original, 'facts-3');
    const list = async () => {
      const request = { tenantId: acme.tenantId, datasetId: original.id };
      return (await app.messenger.call('ingest.ListSnapshots', request, CALL)).snapshots;
    };
    expect((await list()).map(({ name }) => name)).to.deep.equal(['facts-3', 'facts-2', 'facts-1']);
    expect((await list()).find(({ name }) => name === 'facts-1')).to.deep.equal(again);
    const request = { tenantId: acme.tenantId, datasetId: original.id, crUid: original.crUid, keep: 1, place: place() };
    const { removed } = await app.messenger.call('ingest.PruneSnapshots', request, CALL);
    expect(removed).to.deep.equal(['facts-2', 'facts-1']);
    expect((await list()).map(({ name }) => name)).to.deep.equal(['facts-3']);
    const gone = await attempt(acme, 'facts-gone', { tenantId: acme.tenantId, name: 'facts-1' });
    expect(gone.failure?.name).to.equal('EntityNotFoundError');
    expect(gone.failure?.message).to.include('facts-1');
  });

  it('show the dataset as it was at one moment, however much is added, replaced and forgotten meanwhile', async function () {
    this.timeout(300_000);
    const busy = await declareDataset(acme, 'busy');
    await remember(
      busy,
      Array.from({ length: 12 }, (_, at) => `Note ${at}: Ada Lovelace met Charles Babbage ${at} times.`),
    );
    // Each pair is added, and forgotten, in one request: no moment knows one of the two.
    let isOver = false;
    // A machine that reads slower than the load writes is told to try when less is written.
    let pauseMs = 0;
    const load = (async () => {
      for (let round = 0; !isOver; round++) {
        await sleep(pauseMs);
        const added = (await ask(acme, 'POST', '/add', {
          datasetId: busy.id,
          data: [`Pair ${round} one.`, `Pair ${round} two.`],
        })) as {
          data_ingestion_info?: { data_id: string }[];
        };
        expect(added).to.be.an('object');
        if (round % 2 === 0) await ask(acme, 'POST', '/cognify', { datasetIds: [busy.id] });
        const data = (await ask(acme, 'GET', `/datasets/${busy.id}/data`)) as { id: string }[];
        const victim = data[round % data.length]?.id;
        if (round % 3 === 2 && victim !== undefined)
          await fetch(`${app.baseUrl}/api/v1/datasets/${busy.id}/data/${victim}`, {
            method: 'DELETE',
            headers: { 'x-api-key': acme.key },
          });
      }
    })();
    try {
      for (let at = 1; at <= 3; at++) {
        const info = await take(busy, `busy-${at}`, () => {
          pauseMs = 2 * pauseMs + 100;
        });
        expect(info.items).to.be.greaterThan(0);
      }
    } finally {
      isOver = true;
      await load;
    }
    const clone = await restore(acme, 'busy-clone', 'busy-3');
    const scope = datasetScope(acme.tenantId, clone.id);
    const items = (await ask(acme, 'GET', `/datasets/${clone.id}/data`)) as { id: string }[];
    const ledger = await findAll(app.stores.documents, scope, ledgerCollection);
    const known = new Set(items.map(({ id }) => id));
    expect(ledger.every(({ id }) => known.has(id))).to.equal(true);
    // Every item that says to be built has all of its rows, and no other has any.
    let chunks = 0;
    for (const { id, value } of ledger) {
      const provenance = { item: id as never, generation: value.generation };
      const found = await app.stores.indexes.text.list(scope, { kind: 'chunk', provenance, limit: 100 });
      expect(found.length, id).to.equal(Number(value.counts?.['chunks']));
      chunks += found.length;
    }
    expect(await app.stores.indexes.text.count(scope, { kind: 'chunk' })).to.equal(chunks);
    expect(Object.keys(await content(clone))).to.have.length(2 * items.length);
  });

  it('are refused with the reason when they are damaged, copied, foreign, or of a later release; nothing is left', async () => {
    const { blobs } = app.stores;
    if (place() !== null) return;
    await take(original, 'victim');
    const folder = `${acme.tenantId}/victim/`;
    const list = await blobs.list(SNAPSHOT_SCOPE, { prefix: folder, limit: 100 });
    const before = await countAll(acme);
    const datasets = await datasetsOf(acme);
    const refused = async (reason: RegExp, name = 'victim') => {
      const { datasetId, failure } = await attempt(acme, 'refused', { tenantId: acme.tenantId, name });
      expect(datasetId).to.equal(null);
      expect(failure?.message).to.match(reason);
      expect(await datasetsOf(acme)).to.deep.equal(datasets);
      await leftOver(acme, before);
    };
    for (const { key } of list) {
      const bytes = await buffer((await blobs.get(SNAPSHOT_SCOPE, key)) ?? Readable.from([]));
      const changed = Buffer.from(bytes);
      const at = Math.floor(changed.length / 2);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await blobs.put(SNAPSHOT_SCOPE, key, changed);
      await refused(/damaged|differs|changed|cut off/);
      await blobs.put(SNAPSHOT_SCOPE, key, bytes.subarray(0, bytes.length - 3));
      await refused(/damaged|differs|changed|cut off/);
      await blobs.remove(SNAPSHOT_SCOPE, [key]);
      await refused(key.endsWith('manifest.json') ? /no snapshot/ : /missing/);
      await blobs.put(SNAPSHOT_SCOPE, key, bytes);
    }
    const manifest = await buffer((await blobs.get(SNAPSHOT_SCOPE, `${folder}manifest.json`)) ?? Readable.from([]));
    const foreign = { ...JSON.parse(manifest.toString()), signature: randomBytes(64).toString('base64url') };
    await blobs.put(SNAPSHOT_SCOPE, `${folder}manifest.json`, Buffer.from(JSON.stringify(foreign)));
    await refused(/not signed by this installation/);
    const { manifest: written } = JSON.parse(manifest.toString()) as { manifest: string };
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const signature = sign(null, Buffer.from(manifestSignedText(sha('sha256', written))), privateKey);
    const ofOthers = { manifest: written, keyId: 'another', signature: signature.toString('base64url') };
    await blobs.put(SNAPSHOT_SCOPE, `${folder}manifest.json`, Buffer.from(JSON.stringify(ofOthers)));
    await refused(/not signed by this installation/);
    const later = JSON.stringify({ ...JSON.parse(JSON.parse(manifest.toString()).manifest), version: 3 });
    const signed = await app.messenger.call('auth.SignSnapshot', { sha256: sha('sha256', later) }, CALL);
    await blobs.put(
      SNAPSHOT_SCOPE,
      `${folder}manifest.json`,
      Buffer.from(JSON.stringify({ manifest: later, ...signed })),
    );
    await refused(/format 3/);
    await blobs.put(SNAPSHOT_SCOPE, `${acme.tenantId}/copied/manifest.json`, manifest);
    await refused(/copied/, 'copied');
    await blobs.removeAll(SNAPSHOT_SCOPE, `${acme.tenantId}/copied/`);
    await blobs.put(SNAPSHOT_SCOPE, `${folder}manifest.json`, manifest);
    expect((await restore(acme, 'healed', 'victim')).id).to.be.a('string');
    await blobs.put(SNAPSHOT_SCOPE, `${folder}manifest.json`, Buffer.from(JSON.stringify(ofOthers)));
    const signers = [publicKey.export({ format: 'jwk' }).x ?? ''];
    const victim = { tenantId: acme.tenantId, name: 'victim' };
    expect((await attempt(acme, 'of-others', victim, randomUUID(), signers)).failure).to.equal(null);
  });

  it('become no dataset of a name that there is, nor one of a tenant that there is not', async () => {
    await take(original, 'named');
    const before = await countAll(acme);
    const { failure } = await attempt(acme, 'facts', { tenantId: acme.tenantId, name: 'named' });
    expect(failure?.name).to.equal('EntityAlreadyExistsError');
    expect(failure?.message).to.include('another name');
    await leftOver(acme, before);
    const nobody = { ...acme, tenantId: randomUUID() as TenantId };
    const none = await attempt(nobody, 'facts', { tenantId: acme.tenantId, name: 'named' });
    expect(none.failure?.name).to.equal('TenantNotFoundError');
    const running = { kind: MANAGED_RESTORE_JOB, state: 'running' };
    expect(await app.stores.documents.count(SYSTEM_SCOPE, jobsCollection, running)).to.equal(0);
  });

  it('go with what they show, and the receipt counts them; or stay, and it names them', async () => {
    const leaving = await declareTenant();
    const [gone, kept] = [await declareDataset(leaving, 'gone'), await declareDataset(leaving, 'kept')];
    for (const managed of [gone, kept]) await remember(managed, FACTS.slice(0, 1));
    await take(gone, 'gone-1');
    await take(kept, 'kept-1');
    const erase = async ({ crUid, id }: Managed, keepSnapshots: boolean) => {
      const finalSnapshot = { name: 'final', place: place() };
      const request = {
        tenantId: leaving.tenantId,
        datasetId: id,
        crUid,
        keepSnapshots,
        ...(keepSnapshots ? { finalSnapshot } : { withoutSnapshots: true }),
      };
      const receipt = await until('the receipt of the dataset', async () => {
        const { progress } = await app.messenger.call('ingest.EraseDataset', request, CALL);
        expect(progress.failure).to.equal(null);
        return progress.receipt;
      });
      return JSON.parse(receipt) as { removed: Record<string, number>; kept: string[] };
    };
    const isInstalled = place() === null;
    const first = await erase(gone, false);
    expect(first.removed['snapshots'] ?? 0).to.equal(isInstalled ? 1 : 0);
    expect(first.kept.filter((what) => what.includes('gone-1'))).to.have.length(isInstalled ? 0 : 1);
    const second = await erase(kept, true);
    expect(second.removed).not.to.have.property('snapshots');
    expect(second.kept.filter((what) => what.startsWith('snapshot ')).map((what) => what.split(' ')[1])).to.deep.equal([
      'final',
      'kept-1',
    ]);
    await restoreOf(leaving.tenantId, leaving, 'back', 'final');
    const { removed } = await eraseTenant(app, leaving);
    declared.splice(declared.indexOf(leaving), 1);
    if (!isInstalled) return;
    expect(removed['snapshots']).to.equal(2);
    const left = await app.stores.blobs.list(SNAPSHOT_SCOPE, { prefix: `${leaving.tenantId}/`, limit: 1 });
    expect(left).to.deep.equal([]);
  });

  it('are taken of every dataset before its tenant is erased, which waits for all of them, and outlive it', async () => {
    const leaving = await declareTenant();
    const managed = await declareDataset(leaving, 'managed');
    await remember(managed, FACTS);
    const made = (await ask(leaving, 'POST', '/datasets', { name: 'made by hand' })) as { id: DatasetId };
    await remember({ tenant: leaving, id: made.id }, FACTS.slice(0, 1));
    const { tenantId: tenant, crUid } = leaving;
    const empty: DatasetRef = {
      id: asId<DatasetId>(randomUUID()),
      name: 'empty',
      ownerId: asId<UserId>(randomUUID()),
      tenant,
      createdAt: new Date().toISOString(),
      updatedAt: null,
    };
    await app.stores.documents.commit({ tenant }, [createDatasets(app.stores.documents).insertWrite(empty)]);
    await app.messenger.call('ingest.CheckIsolation', { tenantId: tenant, crUid, otherTenantIds: [] }, CALL);
    const before = [await answers(managed), await content(managed), await datasetsOf(leaving)] as const;
    expect(before[2]).to.have.length(4);
    const request = { tenantId: tenant, crUid, keepSnapshots: place() === null };
    const erase = async (how: Partial<RequestOf<'ingest.EraseTenant'>>): Promise<ErasureProgress> => {
      const ended = async () => {
        const { progress } = await app.messenger.call('ingest.EraseTenant', { ...request, ...how }, CALL);
        return progress.erased || progress.failure !== null ? progress : null;
      };
      return until('the erasure has ended', ended);
    };
    const { blobs } = app.stores;
    const ofMade = await blobs.list(datasetScope(tenant, made.id), { limit: 10 });
    const key = ofMade.find((blob) => blob.key.endsWith('original'))?.key ?? '';
    const bytes = await buffer((await blobs.get(datasetScope(tenant, made.id), key)) ?? Readable.from([]));
    await blobs.remove(datasetScope(tenant, made.id), [key]);
    for (const how of [{ finalSnapshots: { place: place() } }, {}]) {
      const { failure, removed } = await erase(how);
      expect([failure?.name, removed]).to.deep.equal(['FinalSnapshotFailed', {}]);
      if ('finalSnapshots' in how) expect(failure?.message).to.include(key.split('/')[1]);
      expect([await content(managed), await datasetsOf(leaving)]).to.deep.equal([before[1], before[2]]);
    }
    await blobs.put(datasetScope(tenant, made.id), key, bytes);
    const ended = await erase({ finalSnapshots: { place: place() } });
    declared.splice(declared.indexOf(leaving), 1);
    const { kept } = JSON.parse(ended.receipt ?? '') as { kept: string[] };
    const names = kept.filter((what) => what.startsWith('snapshot ')).map((what) => what.split(' ')[1] ?? '');
    expect(names.map((name) => name.replace(/-[0-9a-f-]{36}-[0-9]{8}-[0-9]{4}-final$/, ''))).to.deep.equal([
      ...['empty', 'made-by-hand', 'managed'],
    ]);
    const other = await declareTenant();
    const counts: number[] = [];
    for (const name of names) {
      const clone = await restoreOf(tenant, other, name, name);
      counts.push(Object.keys(await content(clone)).length / 2);
      if (name.startsWith('managed'))
        expect([await answers(clone), await content(clone)]).to.deep.equal([...before.slice(0, 2)]);
    }
    expect(counts).to.deep.equal([0, 1, FACTS.length]);
    if (place() === null) await blobs.removeAll(SNAPSHOT_SCOPE, `${tenant}/`);
  });

  it('are not taken while content that nobody touched is missing; the item is named', async () => {
    const lacking = await declareDataset(acme, 'lacking');
    await remember(lacking, FACTS.slice(0, 2));
    const scope = datasetScope(acme.tenantId, lacking.id);
    const { blobs } = app.stores;
    const [original] = (await blobs.list(scope, { limit: 10 })).filter(({ key }) => key.endsWith('original'));
    const key = original?.key ?? '';
    const bytes = await buffer((await blobs.get(scope, key)) ?? Readable.from([]));
    await blobs.remove(scope, [key]);
    const { crUid, id } = lacking;
    const request = { tenantId: acme.tenantId, datasetId: id, crUid, name: 'lacking-1', place: place() };
    const refused = async () => {
      const { snapshot, failure } = await app.messenger.call('ingest.TakeSnapshot', request, CALL);
      expect(snapshot).to.equal(null);
      return failure;
    };
    const failure = await until('the snapshot fails', refused);
    expect(failure.name).to.equal('ConflictError');
    expect(failure.message).to.include(key.split('/')[1]);
    await blobs.put(scope, key, bytes);
    expect((await take(lacking, 'lacking-1')).items).to.equal(2);
  });

  it('belong to the resource that manages the dataset', async () => {
    const request = {
      tenantId: acme.tenantId,
      datasetId: original.id,
      crUid: randomUUID(),
      name: 'others',
      place: place(),
    };
    const refusal = await app.messenger.call('ingest.TakeSnapshot', request, CALL).catch((error: unknown) => error);
    expect(refusal).to.include({ wireName: 'OwnedByAnother' });
    const bad = { ...request, crUid: original.crUid, name: '../others' };
    const invalid = await app.messenger.call('ingest.TakeSnapshot', bad, CALL).catch((error: unknown) => error);
    expect(invalid).to.include({ wireName: 'InvalidRequestError' });
  });
}
