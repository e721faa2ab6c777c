import { randomBytes, randomUUID, hash as sha } from 'node:crypto';
import { expect } from 'chai';
import { isEngramError } from '../../services/common/kernel/errors.ts';
import { datasetScope } from '../../services/common/kernel/scope.ts';
import { eventsCollection } from '../../services/common/platform/events/event-log.ts';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { createDataItems, dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { update } from '../../services/common/storage/ports/document-store.ts';
import { createRetentions } from '../../services/ingest/repositories/retention.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import { CALL, declareTenant as declare, eraseTenant, requestWithKey } from '../support/managed-tenant.ts';
import { until } from '../support/until.ts';

/** The look at what has expired comes each second. */
export const RETENTION_SETTINGS = { CACHE_PURGE_INTERVAL_SECONDS: '1', SESSION_TTL_SECONDS: '0' };

const DAY = 86_400_000;
const PAGE = { offset: 0, limit: 100 };

/** How long tenants and datasets keep what they have, as their resources declare. The same in both shapes. */
export function retentionCases(start: () => Promise<ManagedApp>): void {
  let app: ManagedApp;
  const tenantUid = randomUUID();
  const datasetUid = randomUUID();
  const key = randomBytes(32).toString('hex');
  let tenantId: Awaited<ReturnType<typeof declareTenant>>;
  let dataset: Awaited<ReturnType<typeof declareDataset>>;

  const declareTenant = async (state: 'Active' | 'Disabled' = 'Active') =>
    (await declare(app, { crUid: tenantUid, state }, key)).tenantId;
  const declareDataset = async () =>
    (await app.messenger.call('auth.EnsureDataset', { crUid: datasetUid, tenantId, name: 'notes' }, CALL)).dataset;
  const request = async (method: string, path: string, body?: object) => {
    const response = await requestWithKey(app, key, method, path, body);
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).to.equal(200);
    return JSON.parse(text);
  };
  const keepFor = (times: Partial<RequestOf<'ingest.SetRetention'>>) =>
    app.messenger.call('ingest.SetRetention', { tenantId, crUid: tenantUid, ...times }, CALL);
  const keepItemsFor = (itemsMs?: number) =>
    keepFor({ datasetId: dataset.id, crUid: datasetUid, ...(itemsMs === undefined ? {} : { itemsMs }) });
  const names = async (): Promise<string[]> => {
    const items: { name: string }[] = await request('GET', `/datasets/${dataset.id}/data`);
    return items.map(({ name }) => name);
  };
  const entries = async (session: string): Promise<unknown[]> => {
    const answer = await request('GET', `/sessions/${session}`);
    return answer.qas ?? answer.entries ?? answer.qa;
  };
  const say = (session: string) =>
    request('POST', '/remember/entry', {
      dataset_name: 'unbound',
      session_id: session,
      entry: { type: 'qa', question: 'Who wrote the first program?', answer: 'Ada Lovelace.' },
    });

  before(async () => {
    app = await start();
    tenantId = await declareTenant();
    dataset = await declareDataset();
  });
  after(async () => {
    // Servers that others use too keep nothing of these.
    await eraseTenant(app, { tenantId, crUid: tenantUid, key });
    await app?.stop();
  });

  it('forgets items that are older than their dataset keeps them, with all that was built of them', async () => {
    await request('POST', '/add', { datasetName: 'notes', data: ['Ada Lovelace met Charles Babbage in London.'] });
    await request('POST', '/cognify', { datasets: ['notes'] });
    await keepItemsFor(DAY);
    expect(await names(), 'younger ones').to.have.length(1);
    await keepItemsFor(1);
    await until('the item is forgotten', async () => (await names()).length === 0);
    const scope = datasetScope(tenantId, dataset.id);
    expect(await app.stores.indexes.text.count(scope, {}), 'rows of the text index').to.equal(0);
    await keepItemsFor();
    await request('POST', '/add', { datasetName: 'notes', data: ['Grace Hopper wrote a compiler.'] });
    const declared = await createRetentions(app.stores.documents).ofDatasets.get(scope);
    expect(declared, 'what is declared no more').to.equal(null);
  });

  /** As if the dataset had all it has for a year. */
  const age = async () => {
    const [createdAt, scope] = ['2025-01-01T00:00:00.000Z', datasetScope(tenantId, dataset.id)];
    const writes = await stored().then((items) =>
      items.map(({ id }) => update(dataItemsCollection, id, { set: { createdAt, updatedAt: createdAt } })),
    );
    await app.stores.documents.commit(scope, writes);
  };
  const stored = () => createDataItems(app.stores.documents).newestFirst(datasetScope(tenantId, dataset.id), PAGE);

  it('forgets items of a tenant that is disabled as of any', async () => {
    await request('POST', '/add', { datasetName: 'notes', data: ['Caroline Herschel found a comet.'] });
    await age();
    await declareTenant('Disabled');
    await keepItemsFor(DAY);
    await until('the item is forgotten', async () => (await stored()).length === 0);
    await keepItemsFor();
    await declareTenant('Active');
    await until('the tenant answers', async () => {
      const headers = { 'X-Api-Key': key };
      return (await fetch(`${app.baseUrl}/api/v1/datasets`, { headers })).status === 200;
    });
  });

  it('keeps items whose content is added again for that time anew', async () => {
    const add = (...data: string[]) => request('POST', '/add', { datasetName: 'notes', data });
    const [wanted, other] = ['Emmy Noether proved a theorem.', 'Sofia Kovalevskaya wrote a novel.'] as const;
    await add(wanted, other);
    await age();
    await add(wanted);
    await keepItemsFor(DAY);
    await until('the other one is forgotten', async () => (await stored()).length <= 1);
    const [kept] = await stored();
    expect(kept?.contentHash).to.equal(sha('md5', wanted));
    await keepItemsFor();
    const [expiring] = await stored();
    if (expiring === undefined) throw new Error('it is gone');
    const isExpiring = createDataItems(app.stores.documents).expireWrite(expiring);
    await app.stores.documents.commit(datasetScope(tenantId, dataset.id), [isExpiring]);
    const refused = await add(wanted).catch((error: Error) => error.message);
    expect(refused, 'while it is being forgotten').to.match(/being forgotten; add it again/);
  });

  it('drops the entries of sessions that nobody used for as long as their tenant keeps them', async () => {
    await say('talk');
    await keepFor({ sessionsMs: DAY });
    expect(await entries('talk')).to.have.length(1);
    await keepFor({ sessionsMs: 1 });
    await request('POST', '/improve', { datasetName: 'unbound', sessionIds: ['talk'] });
    await until('the entries are gone', async () => (await entries('talk')).length === 0);
    await keepFor({});
  });

  it('drops events that are older than their tenant keeps them', async () => {
    const count = () => app.stores.documents.count({ tenant: tenantId }, eventsCollection, {});
    await request('POST', '/add', { datasetName: 'notes', data: ['Mary Somerville translated Laplace.'] });
    expect(await count()).to.be.above(0);
    await keepFor({ eventsMs: 1 });
    await until('the events are gone', async () => (await count()) === 0);
    await keepFor({});
  });

  it('takes the word of the resource that manages the tenant or dataset alone', async () => {
    const refusalOf = (times: Partial<RequestOf<'ingest.SetRetention'>>) =>
      keepFor(times).then(
        () => null,
        (error: unknown) => (isEngramError(error) ? error.wireName : error),
      );
    expect(await refusalOf({ crUid: randomUUID(), sessionsMs: 1 })).to.equal('OwnedByAnother');
    expect(await refusalOf({ crUid: tenantUid, datasetId: dataset.id, itemsMs: 1 })).to.equal('OwnedByAnother');
    expect(await createRetentions(app.stores.documents).ofTenants.get({ tenant: tenantId })).to.equal(null);
  });

  it('is forgotten with the dataset', async () => {
    await keepItemsFor(DAY);
    await until('the dataset is erased', async () => {
      const erasure = { tenantId, datasetId: dataset.id, crUid: datasetUid, withoutSnapshots: true };
      return (await app.messenger.call('ingest.EraseDataset', erasure, CALL)).progress.erased;
    });
    const scope = datasetScope(tenantId, dataset.id);
    expect(await createRetentions(app.stores.documents).ofDatasets.get(scope)).to.equal(null);
  });
}
