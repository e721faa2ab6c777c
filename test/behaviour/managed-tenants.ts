import { createPublicKey, type JsonWebKey, randomUUID, verify } from 'node:crypto';
import { expect } from 'chai';
import { collections, tenantCollections } from '../../services/app/collections.ts';
import { erasureReceiptText, type SignedErasureReceipt } from '../../services/common/domain/erasure-receipt.ts';
import type { DatasetId } from '../../services/common/kernel/brand.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { fixedProof } from '../../services/common/platform/messaging/principal-proof.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import {
  CALL,
  declareTenant as declare,
  requestWithKey,
  type ManagedTenant as Tenant,
  untilErased,
} from '../support/managed-tenant.ts';
import { until } from '../support/until.ts';

/** What tells of the past: ids and counts. */
const KEPT = ['audit_records', 'erasure_receipts', 'erasures', 'events'];
const SECRET = 'Ada Lovelace wrote the first program for the Analytical Engine of Charles Babbage in London.';

/** What the operator does with tenants and datasets, from the key to the receipt. The same in both shapes. */
export function managedTenantCases(start: () => Promise<ManagedApp>): void {
  let app: ManagedApp;
  before(async () => {
    app = await start();
  });
  after(async () => {
    // Servers that others use too keep nothing of these.
    for (const tenant of declared) await untilErased(() => eraseTenant(tenant));
    await app?.stop();
  });
  const declared: Tenant[] = [];

  const declareTenant = async (): Promise<Tenant> => {
    const tenant = await declare(app);
    declared.push(tenant);
    return tenant;
  };
  const declareDataset = async ({ tenantId }: Tenant, name: string) => {
    const crUid = randomUUID();
    const { dataset } = await app.messenger.call('auth.EnsureDataset', { crUid, tenantId, name }, CALL);
    return { crUid, dataset };
  };
  const request = (key: string, method: string, path: string, body?: unknown): Promise<Response> =>
    requestWithKey(app, key, method, path, body);
  const remember = async ({ key }: Tenant, { id }: DatasetRef): Promise<void> => {
    const added = await request(key, 'POST', '/add', { datasetId: id, data: [SECRET] });
    expect(added.status, await added.text()).to.equal(200);
    const built = await request(key, 'POST', '/cognify', { datasetIds: [id] });
    expect(built.status, await built.text()).to.equal(200);
  };
  const search = (key: string, id: DatasetId) =>
    request(key, 'POST', '/search', { query: 'Who wrote the first program?', datasetIds: [id], searchType: 'CHUNKS' });
  const eraseDataset = (thing: RequestOf<'ingest.EraseDataset'>) =>
    app.messenger.call('ingest.EraseDataset', { ...thing, withoutSnapshots: true }, CALL);
  const eraseTenant = ({ tenantId, crUid }: Tenant) =>
    app.messenger.call('ingest.EraseTenant', { tenantId, crUid, withoutSnapshots: true }, CALL);
  const failure = (work: Promise<unknown>) =>
    work.then(() => null).catch((error: { wireName: string }) => error.wireName);
  const rowsOf = async ({ tenant, id }: DatasetRef): Promise<number> => {
    const { text, vectors, graph } = app.stores.indexes;
    const scope = datasetScope(tenant, id);
    const { nodes, edges } = await graph.count(scope);
    return (await text.count(scope, {})) + (await vectors.count(scope, {})) + nodes + edges;
  };
  /** Names of collections with anything that names the id. */
  const traces = async (id: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const collection of collections) {
      const documents = await findAll(app.stores.documents, SYSTEM_SCOPE, collection);
      if (documents.some((document) => JSON.stringify(document).includes(id))) found.push(collection.name);
    }
    return found.sort();
  };
  const verified = async (text: string | null): Promise<SignedErasureReceipt> => {
    const receipt = JSON.parse(text ?? '{}') as SignedErasureReceipt;
    const response = await fetch(`${app.baseUrl}/api/v1/audit/keys`, { headers: { 'x-api-key': reader.key } });
    const { keys } = (await response.json()) as { keys: readonly (JsonWebKey & { readonly kid: string })[] };
    const key = keys.find(({ kid }) => kid === receipt.keyId);
    if (key === undefined) throw new Error('the receipt is signed by a key that the server does not publish');
    const signature = Buffer.from(receipt.signature, 'base64url');
    const isRight = (signed: SignedErasureReceipt) =>
      verify(null, Buffer.from(erasureReceiptText(signed)), createPublicKey({ key, format: 'jwk' }), signature);
    expect(isRight(receipt)).to.equal(true);
    expect(isRight({ ...receipt, removed: {} })).to.equal(false);
    return receipt;
  };
  let reader: Tenant;
  before(async () => {
    reader = await declareTenant();
  });

  it('takes a tenant from nothing to an answer with the key that was handed out', async () => {
    const tenant = await declareTenant();
    const { dataset } = await declareDataset(tenant, 'letters');
    await remember(tenant, dataset);
    const answer = await search(tenant.key, dataset.id);
    expect([answer.status, await answer.text()].join(' '))
      .to.include('200')
      .and.to.include('Ada Lovelace');
    const foreign = await search(reader.key, dataset.id);
    expect([403, 404]).to.include(foreign.status);
  });

  it('erases a dataset at all its owners, with a receipt that stays the same', async () => {
    const tenant = await declareTenant();
    const [one, other] = [await declareDataset(tenant, 'one'), await declareDataset(tenant, 'other')];
    await remember(tenant, one.dataset);
    await remember(tenant, other.dataset);
    const thing = { tenantId: tenant.tenantId, datasetId: one.dataset.id, crUid: one.crUid };
    expect(await failure(eraseDataset({ ...thing, crUid: other.crUid }))).to.equal('OwnedByAnother');
    const progress = await untilErased(() => eraseDataset(thing));
    const receipt = await verified(progress.receipt);
    expect(receipt).to.include({ kind: 'dataset', dataset: one.dataset.id, resource: one.crUid, residue: 0 });
    expect(receipt.removed).to.deep.include({ datasets: 1, items: 1 });
    expect(progress.removed).to.deep.include({ datasets: 1, items: 1 });
    expect((await eraseDataset(thing)).progress.receipt).to.equal(progress.receipt);
    expect(await rowsOf(one.dataset)).to.equal(0);
    expect(await rowsOf(other.dataset)).to.be.greaterThan(0);
    expect((await search(tenant.key, one.dataset.id)).status).to.equal(403);
    expect((await search(tenant.key, other.dataset.id)).status).to.equal(200);
    expect(await failure(eraseDataset({ ...thing, datasetId: randomUUID() as unknown as DatasetId }))).to.equal(
      'DatasetNotFoundError',
    );
  });

  it('gives one receipt to all who ask at the same time', async () => {
    const tenant = await declareTenant();
    const { dataset, crUid } = await declareDataset(tenant, 'letters');
    await remember(tenant, dataset);
    const thing = { tenantId: tenant.tenantId, datasetId: dataset.id, crUid };
    const all = await Promise.all([1, 2, 3].map(() => untilErased(() => eraseDataset(thing))));
    expect(new Set(all.map(({ receipt }) => receipt)).size).to.equal(1);
  });

  it('erases a tenant with all it has, and leaves others alone', async () => {
    const tenant = await declareTenant();
    const [one, other] = [await declareDataset(tenant, 'one'), await declareDataset(tenant, 'other')];
    const neighbour = await declareDataset(reader, 'neighbour');
    await remember(tenant, one.dataset);
    await remember(reader, neighbour.dataset);
    await search(tenant.key, one.dataset.id);
    const qa = { type: 'qa', question: 'Who was it?', answer: 'Ada.', session_id: 's1' };
    const noted = await request(tenant.key, 'POST', '/remember/entry', {
      entry: qa,
      sessionId: 's1',
      datasetId: one.dataset.id,
    });
    expect(noted.status, await noted.text()).to.be.lessThan(500);
    const announced = await request(tenant.key, 'POST', '/agents/register', { agent_session_name: 'mine' });
    expect(announced.status, await announced.text()).to.equal(201);
    const agent = await request(tenant.key, 'POST', '/agents/create?name=helper');
    expect(agent.status).to.equal(403);
    const progress = await untilErased(() => eraseTenant(tenant));
    const receipt = await verified(progress.receipt);
    expect(receipt).to.include({ kind: 'tenant', tenant: tenant.tenantId, dataset: null, residue: 0 });
    expect(receipt.removed).to.deep.include({ datasets: 2, items: 1, memberships: 1 });
    for (const collection of tenantCollections) {
      const count = await app.stores.documents.count({ tenant: tenant.tenantId }, collection, {});
      expect(count, collection.name).to.equal(0);
    }
    expect(await traces(tenant.tenantId)).to.deep.equal(KEPT);
    for (const { dataset } of [one, other]) expect(await rowsOf(dataset)).to.equal(0);
    expect(await app.stores.blobs.list({ tenant: tenant.tenantId }, { limit: 1 })).to.have.length(0);
    expect((await request(tenant.key, 'GET', '/datasets')).status).to.equal(401);
    expect((await eraseTenant(tenant)).progress.receipt).to.equal(progress.receipt);
    expect(await failure(eraseTenant({ ...tenant, crUid: reader.crUid }))).to.equal('TenantNotFoundError');
    expect((await search(reader.key, neighbour.dataset.id)).status).to.equal(200);
  });

  it('tells what a dataset has and how far behind it is', async () => {
    const tenant = await declareTenant();
    const { dataset } = await declareDataset(tenant, 'letters');
    const ask = () =>
      app.messenger.call('ingest.DatasetStatistics', { tenantId: tenant.tenantId, datasetId: dataset.id }, CALL);
    const nothing = { items: 0, chunks: 0, nodes: 0, edges: 0, pending: 0, failed: 0, lastCognifiedAt: null };
    expect(await ask()).to.deep.equal({ ...nothing, lagSeconds: 0, writer: null, activeRun: null });
    await request(tenant.key, 'POST', '/add', { datasetId: dataset.id, data: [SECRET] });
    const behind = await ask();
    expect(behind).to.deep.include({ items: 1, pending: 1, failed: 0, chunks: 0 });
    expect(behind.lagSeconds).to.be.greaterThan(0);
    await request(tenant.key, 'POST', '/cognify', { datasetIds: [dataset.id] });
    const built = await ask();
    expect(built).to.deep.include({ items: 1, chunks: 1, pending: 0, lagSeconds: 0, activeRun: null });
    expect([built.nodes > 0, built.edges > 0, typeof built.lastCognifiedAt]).to.deep.equal([true, true, 'string']);
    const [item] = (await (await request(tenant.key, 'GET', `/datasets/${dataset.id}/data`)).json()) as {
      id: string;
    }[];
    const counted = async () => {
      const { items, chunks, pending, failed } = await ask();
      return [items, chunks, pending, failed];
    };
    expect(await counted()).to.deep.equal([1, 1, 0, 0]);
    await request(tenant.key, 'POST', '/forget', { dataId: item?.id, datasetId: dataset.id, memoryOnly: true });
    expect(await counted()).to.deep.equal([1, 0, 1, 0]);
    await request(tenant.key, 'POST', '/cognify', { datasetIds: [dataset.id] });
    expect(await counted()).to.deep.equal([1, 1, 0, 0]);
    await request(tenant.key, 'POST', '/forget', { dataId: item?.id, datasetId: dataset.id });
    expect(await counted()).to.deep.equal([0, 0, 0, 0]);
    const unknown = { tenantId: reader.tenantId, datasetId: dataset.id };
    expect(await failure(app.messenger.call('ingest.DatasetStatistics', unknown, CALL))).to.equal(
      'DatasetNotFoundError',
    );
  });

  it('runs what a schedule asks for, on the word of the owner', async () => {
    const tenant = await declareTenant();
    const { dataset } = await declareDataset(tenant, 'letters');
    await request(tenant.key, 'POST', '/add', { datasetId: dataset.id, data: [SECRET] });
    const account = { userId: dataset.ownerId, tenant: dataset.tenant };
    const { principal, token } = await app.messenger.call('auth.GetPrincipal', account, CALL);
    if (principal === null || token === null) throw new Error('the owner is refused');
    const context = { ...CALL, principal, proof: fixedProof(token) };
    const { run } = await app.messenger.call('cognify.StartRun', { dataset, options: {}, background: true }, context);
    await until('the run has ended', async () => {
      const { run: present } = await app.messenger.call('cognify.GetRun', { runId: run.id }, CALL);
      return present?.status === 'DATASET_PROCESSING_COMPLETED';
    });
    const statistics = { tenantId: tenant.tenantId, datasetId: dataset.id };
    expect(await app.messenger.call('ingest.DatasetStatistics', statistics, CALL)).to.include({
      pending: 0,
      chunks: 1,
    });
    const { error } = await app.messenger.call('improve.Improve', { dataset, sessions: [] }, context);
    expect(error).to.equal(null);
  });

  it('builds as a dataset is configured, and says when something was built otherwise', async () => {
    const tenant = await declareTenant();
    const { dataset, crUid } = await declareDataset(tenant, 'letters');
    const configure = (change: Partial<RequestOf<'cognify.SetDatasetConfiguration'>>) =>
      app.messenger.call(
        'cognify.SetDatasetConfiguration',
        { tenantId: tenant.tenantId, datasetId: dataset.id, crUid, ...change },
        CALL,
      );
    const none = { graphModelHash: null, promptHash: null, chunkingHash: null, drifted: false, unused: null };
    expect(await configure({})).to.deep.equal(none);
    const chunking = { strategy: 'paragraph', maxTokens: 8 };
    const small = await configure({ chunking });
    expect(small.chunkingHash).to.match(/^sha256:[0-9a-f]{64}$/);
    expect(small).to.include({ drifted: false, promptHash: null });
    await remember(tenant, dataset);
    const statistics = await app.messenger.call(
      'ingest.DatasetStatistics',
      { tenantId: tenant.tenantId, datasetId: dataset.id },
      CALL,
    );
    expect(statistics.chunks).to.be.greaterThan(1);
    expect(await configure({ chunking })).to.deep.equal(small);
    const other = await configure({ chunking, prompt: 'Extract people.', graphModel: { title: 'People' } });
    expect(other).to.include({ drifted: true, chunkingHash: small.chunkingHash });
    expect(other.graphModelHash).to.match(/^sha256:/);
    // What it was built by is in force again.
    expect(await configure({ chunking })).to.deep.equal(small);
    expect(await failure(configure({ crUid: randomUUID() }))).to.equal('OwnedByAnother');
    expect(await failure(configure({ graphModel: { type: 'object' } }))).to.equal('InvalidGraphModelError');
    expect(await failure(configure({ chunking: { strategy: 'sentences' } }))).to.equal('InvalidRequestError');
  });

  it('lets nobody in any more once an erasure has begun', async () => {
    const tenant = await declareTenant();
    const { dataset, crUid } = await declareDataset(tenant, 'letters');
    await remember(tenant, dataset);
    const thing = { tenantId: tenant.tenantId, datasetId: dataset.id, crUid };
    await app.messenger.call('auth.BeginErasure', thing, CALL);
    expect((await search(tenant.key, dataset.id)).status).to.equal(403);
    expect((await request(tenant.key, 'POST', '/add', { datasetId: dataset.id, data: ['more'] })).status).to.equal(403);
    expect(
      await failure(
        app.messenger.call('auth.EnsureDataset', { crUid, tenantId: tenant.tenantId, name: 'letters' }, CALL),
      ),
    ).to.equal('ConflictError');
    await app.messenger.call('auth.BeginErasure', { tenantId: tenant.tenantId, crUid: tenant.crUid }, CALL);
    expect((await request(tenant.key, 'GET', '/datasets')).status).to.equal(403);
    // What was begun is ended by whoever goes on with it.
    const { receipt } = await untilErased(() => eraseTenant(tenant));
    expect((await verified(receipt)).removed).to.deep.include({ datasets: 1 });
  });
}
