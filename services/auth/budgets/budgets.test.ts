import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createAuditRecords } from '../repositories/audit-records.ts';

describe('quotas over the bus', () => {
  let auth: TestAuth;
  let owner: Principal;
  let tenant: TenantId;

  beforeEach(async () => {
    auth = await startAuth();
    tenant = asId(randomUUID());
    owner = await auth.addUser({ tenant });
    const createdAt = auth.clock.now().toISOString();
    const write = createTenants(auth.store).insertWrite({ id: tenant, name: 'acme', ownerId: owner.id, createdAt });
    await auth.store.commit({ tenant }, [write]);
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const changes = async () => {
    const records = await createAuditRecords(auth.store).range(tenant, 0, 1000);
    return records.filter(({ action }) => action === 'budget.changed');
  };
  const usageOf = async (kind: string) => {
    const { usage } = await auth.messenger.call('auth.Usage', { tenant }, CALL);
    return usage.find((each) => each.kind === kind);
  };

  it('set the limits of a tenant at once, and return its usage', async () => {
    const limits = { datasets: { limit: 1, action: 'Enforce' }, items: { limit: 5, action: 'Warn' } } as const;
    await auth.messenger.call('auth.SetQuota', { tenant, limits }, CALL);
    const context = { ...CALL, principal: owner };
    await auth.messenger.call('auth.CreateDataset', { name: 'one' }, context);
    const refused = await auth.messenger
      .call('auth.CreateDataset', { name: 'two' }, context)
      .catch((error: unknown) => error);
    expect(refused).to.include({ wireName: 'PayloadTooLargeError', status: 413 });
    expect(await usageOf('datasets')).to.deep.equal({ kind: 'datasets', used: 1, limit: 1, warnsOnly: false });
    expect(await usageOf('items')).to.deep.equal({ kind: 'items', used: 0, limit: 5, warnsOnly: true });
    expect(await usageOf('storageBytes')).to.deep.equal({
      kind: 'storageBytes',
      used: 0,
      limit: null,
      warnsOnly: false,
    });
  });

  it('are audited when they change, and not when they are repeated', async () => {
    const limits = { items: { limit: 5, action: 'Enforce' } } as const;
    for (let time = 0; time < 3; time += 1) await auth.messenger.call('auth.SetQuota', { tenant, limits }, CALL);
    expect((await changes()).map(({ actor, subject }) => [actor, subject])).to.deep.equal([[null, tenant]]);
    await auth.messenger.call('auth.SetQuota', { tenant, limits: {} }, CALL);
    expect(await changes()).to.have.length(2);
    expect(await usageOf('items')).to.include({ limit: null });
  });

  it('are refused for a tenant that does not exist', async () => {
    const nowhere = asId<TenantId>(randomUUID());
    for (const asking of [
      auth.messenger.call('auth.SetQuota', { tenant: nowhere, limits: {} }, CALL),
      auth.messenger.call('auth.Usage', { tenant: nowhere }, CALL),
    ]) {
      expect(await asking.catch((error: unknown) => error)).to.include({
        wireName: 'TenantNotFoundError',
        status: 404,
      });
    }
  });
});
