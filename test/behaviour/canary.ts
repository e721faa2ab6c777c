import { expect } from 'chai';
import { auditRecordsCollection } from '../../services/auth/repositories/audit-log.ts';
import { canaryAccount } from '../../services/common/domain/canary.ts';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { AnswerOf } from '../../services/common/platform/messaging/messages.ts';
import { datasetsCollection } from '../../services/common/records/auth/datasets.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import { countStored } from '../../services/common/records/budgets/usage.ts';
import { dataItemsCollection } from '../../services/common/records/ingest/data-items.ts';
import { createLeakingStores } from '../support/leaking-stores.ts';
import type { ManagedApp } from '../support/managed-app.ts';
import {
  CALL,
  declareTenant as declare,
  eraseTenant,
  requestWithKey,
  type ManagedTenant as Tenant,
} from '../support/managed-tenant.ts';
import { until } from '../support/until.ts';

/** That tenants are apart is looked at the way that requests go, and looking is not seen. The same in both shapes. */
export function canaryCases(
  start: (stores: Pick<ReturnType<typeof createLeakingStores>, 'wrap'>) => Promise<ManagedApp>,
): void {
  const stores = createLeakingStores();
  let app: ManagedApp;
  let acme: Tenant;
  let other: Tenant;
  const declared: Tenant[] = [];

  const declareTenant = async (): Promise<Tenant> => {
    const tenant = await declare(app);
    declared.push(tenant);
    return tenant;
  };
  const check = ({ tenantId, crUid }: Tenant, others: readonly Tenant[]) =>
    app.messenger.call(
      'ingest.CheckIsolation',
      { tenantId, crUid, otherTenantIds: others.map((one) => one.tenantId) },
      CALL,
    );
  const checked = async (tenant: Tenant, others: readonly Tenant[]): Promise<AnswerOf<'ingest.CheckIsolation'>> => {
    let answer = await check(tenant, others);
    const isChecked = async () => {
      answer = await check(tenant, others);
      return answer.unproven === null && answer.comparedTenantIds.length === others.length;
    };
    await until('the canaries are found', isChecked, { everyMs: 100 });
    return answer;
  };
  const get = async ({ key }: Tenant, path: string): Promise<string> => {
    const answer = await requestWithKey(app, key, 'GET', path);
    return `${answer.status} ${await answer.text()}`;
  };
  const canaryOf = async ({ tenantId }: Tenant) => {
    const all = await findAll(app.stores.documents, { tenant: tenantId }, datasetsCollection);
    return all.find(({ value }) => value.ownerId === canaryAccount(tenantId));
  };
  /** The least that one of the indexes holds; -1: some hold something, others nothing. */
  const rowsOf = async (tenantId: TenantId, dataset: string): Promise<number> => {
    const { text, vectors, graph } = app.stores.indexes;
    const scope = datasetScope(tenantId, asId(dataset));
    const { nodes } = await graph.count(scope);
    const counts = [await text.count(scope, {}), await vectors.count(scope, {}), nodes];
    if (counts.every((count) => count === 0)) return 0;
    return counts.includes(0) ? -1 : Math.min(...counts);
  };

  before(async () => {
    app = await start(stores);
    [acme, other] = [await declareTenant(), await declareTenant()];
  });
  afterEach(() => {
    stores.leak = null;
    stores.deaf = null;
  });
  after(async () => {
    // Servers that others use too keep nothing of these.
    for (const each of declared) await eraseTenant(app, each);
    await app?.stop();
  });

  it('proves nothing before the tenant finds its own canary, and says so', async () => {
    const first = await check(acme, [other]);
    expect(first).to.deep.include({ comparedTenantIds: [], leaks: [] });
    expect(first.unproven).to.match(/canary/);
  });

  it('finds the canary in its own tenant and in no other one', async () => {
    await checked(other, []);
    const answer = await checked(acme, [other]);
    expect(answer).to.deep.equal({ unproven: null, comparedTenantIds: [other.tenantId], leaks: [] });
    expect(await rowsOf(acme.tenantId, (await canaryOf(acme))?.id ?? '')).to.be.greaterThan(0);
  });

  it('leaves out tenants without a canary, and itself', async () => {
    const fresh = await declareTenant();
    const { comparedTenantIds } = await check(acme, [fresh, acme, other]);
    expect(comparedTenantIds).to.deep.equal([other.tenantId]);
  });

  it('compares with no tenant that does not find its own canary: not to find another one proves nothing there', async () => {
    await checked(acme, [other]);
    stores.deaf = other.tenantId;
    const { unproven, comparedTenantIds } = await check(acme, [other]);
    expect({ unproven, comparedTenantIds }).to.deep.equal({ unproven: null, comparedTenantIds: [] });
  });

  it('tells of rights that reach into another tenant, in both directions', async () => {
    await checked(acme, [other]);
    stores.leak = 'rights';
    // What may be read is remembered for a second, of which nobody is told here.
    await until('both directions and ways are told of', async () => {
      const { leaks } = await check(acme, [other]);
      const isTold = (of: Tenant, by: Tenant, way: string) =>
        leaks.some((leak) => leak.tenantId === of.tenantId && leak.seenByTenantId === by.tenantId && leak.way === way);
      return ['search', 'dataset id'].every((way) => isTold(acme, other, way) && isTold(other, acme, way));
    });
    stores.leak = null;
    await until('nothing is told of any more', async () => (await check(acme, [other])).leaks.length === 0);
  });

  it('tells of an index that mixes tenants', async () => {
    await checked(acme, [other]);
    stores.leak = 'words';
    const { leaks } = await check(acme, [other]);
    expect(leaks.map(({ way }) => way)).to.include('search');
  });

  it('is seen by nobody: neither in lists nor in counts nor in searches of its tenant', async () => {
    await checked(acme, [other]);
    const canary = await canaryOf(acme);
    const marker = canary?.value.name ?? '';
    expect(marker).to.match(/^Q[a-z]{24}$/);
    expect(await get(acme, '/datasets')).to.equal('200 []');
    for (const path of ['/search', '/activity/spans', '/activity/agents', '/sessions', '/users/me']) {
      const shown = await get(acme, path);
      expect(shown, path).not.to.include(marker);
      expect(shown, path).not.to.include(canary?.id);
      expect(shown, path).not.to.include(canaryAccount(acme.tenantId));
    }
    expect(await get(acme, `/datasets/${canary?.id}/data`)).to.match(/^(403|404) /);
    const counted = async () => {
      const { usage: held } = await app.messenger.call('auth.Usage', { tenant: acme.tenantId }, CALL);
      return Object.fromEntries(held.map(({ kind, used }) => [kind, used]));
    };
    expect(await counted()).to.include({ datasets: 0, items: 0, storageBytes: 0, concurrentRuns: 0 });
    const stored = await countStored(app.stores.documents, `tenant/${acme.tenantId}`);
    expect(stored).to.deep.equal({ datasets: 0, items: 0, storageBytes: 0 });
    const searched = await fetch(`${app.baseUrl}/api/v1/search`, {
      method: 'POST',
      headers: { 'x-api-key': acme.key, 'content-type': 'application/json' },
      body: JSON.stringify({ query: marker, searchType: 'CHUNKS' }),
    });
    expect(await searched.text()).not.to.include('lives in this tenant');
  });

  it('costs one canary, however often it is looked for', async () => {
    await checked(acme, [other]);
    const count = async () =>
      (await findAll(app.stores.documents, { tenant: acme.tenantId }, dataItemsCollection)).length;
    const before = await count();
    await Promise.all([check(acme, [other]), check(acme, [other]), check(other, [acme])]);
    expect([before, await count()]).to.deep.equal([1, 1]);
  });

  it('makes one canary for those who ask at the same time', async () => {
    const fresh = await declareTenant();
    await Promise.all([check(fresh, []), check(fresh, []), check(fresh, [])]);
    await checked(fresh, []);
    const { tenantId } = fresh;
    const datasets = await findAll(app.stores.documents, { tenant: tenantId }, datasetsCollection);
    const items = await findAll(app.stores.documents, { tenant: tenantId }, dataItemsCollection);
    expect([datasets.length, items.length]).to.deep.equal([1, 1]);
  });

  it('goes when the resource lets the tenant go, and comes back with the next one', async () => {
    const fresh = await declareTenant();
    await checked(fresh, []);
    const { tenantId, crUid } = fresh;
    const { id = '' } = (await canaryOf(fresh)) ?? {};
    expect(await rowsOf(tenantId, id)).to.be.greaterThan(0);
    expect(await app.messenger.call('ingest.RemoveCanary', { tenantId, crUid }, CALL)).to.deep.equal({ removed: true });
    expect(await canaryOf(fresh)).to.equal(undefined);
    expect(await rowsOf(tenantId, id)).to.equal(0);
    expect(await app.messenger.call('ingest.RemoveCanary', { tenantId, crUid }, CALL)).to.deep.equal({
      removed: false,
    });
    await checked(fresh, [other]);
  });

  it('goes from a tenant that is disabled, too, and no administrator reads of its end', async () => {
    const fresh = await declareTenant();
    await checked(fresh, []);
    const { tenantId, crUid } = fresh;
    const { id = '' } = (await canaryOf(fresh)) ?? {};
    const owner = { ownerEmail: `owner-${crUid}@acme.example.com`, hostNames: [] };
    const disabled = { crUid, displayName: 'Acme', ...owner, state: 'Disabled' as const };
    await app.messenger.call('auth.EnsureTenant', disabled, CALL);
    expect(await app.messenger.call('ingest.RemoveCanary', { tenantId, crUid }, CALL)).to.deep.equal({ removed: true });
    expect(await canaryOf(fresh)).to.equal(undefined);
    const entries = await findAll(app.stores.documents, SYSTEM_SCOPE, auditRecordsCollection);
    expect(JSON.stringify(entries)).not.to.include(id).and.not.to.include(canaryAccount(tenantId));
  });

  it('is refused to a resource that does not manage the tenant', async () => {
    const { tenantId } = acme;
    const refused = (work: Promise<unknown>) => work.catch(({ wireName }: { readonly wireName: string }) => wireName);
    expect(await refused(check({ ...acme, crUid: other.crUid }, []))).to.equal('OwnedByAnother');
    const strange = { tenantId, crUid: other.crUid };
    expect(await refused(app.messenger.call('ingest.RemoveCanary', strange, CALL))).to.equal('OwnedByAnother');
  });

  it('goes with its tenant, and the receipt counts it', async () => {
    const fresh = await declareTenant();
    await checked(fresh, [other]);
    const account = canaryAccount(fresh.tenantId);
    const { id = '' } = (await canaryOf(fresh)) ?? {};
    const { receipt } = await eraseTenant(app, fresh);
    expect(JSON.parse(receipt ?? '{}')).to.deep.include({ residue: 0 });
    expect(JSON.parse(receipt ?? '{}').removed).to.include({ datasets: 1, items: 1 });
    const left = await findAll(app.stores.documents, SYSTEM_SCOPE, datasetsCollection);
    expect(left.filter(({ value }) => value.ownerId === account)).to.deep.equal([]);
    expect(await rowsOf(fresh.tenantId, id)).to.equal(0);
  });
}
