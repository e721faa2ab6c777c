import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import type { RoleId, TenantId } from '../../common/kernel/brand.ts';
import { asId, datasetId } from '../../common/kernel/ids.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { AnswerOf, DeclaredGrant, RequestOf } from '../../common/platform/messaging/messages.ts';
import { createDatasets } from '../../common/records/auth/datasets.ts';
import { createAuditRecords } from '../repositories/audit-records.ts';
import { createGrants } from '../repositories/grants.ts';
import { createRoles } from '../repositories/roles.ts';

const HASH = `$2b$04$${'a'.repeat(53)}`;

describe('datasets of resources', () => {
  let auth: TestAuth;
  let tenant: TenantId;
  let owner: Principal;

  beforeEach(async () => {
    auth = await startAuth();
    const request = { crUid: 'cr-t', displayName: 'Acme', ownerEmail: 'o@acme.example.com', ownerPasswordHash: HASH };
    const made = await auth.messenger.call('auth.EnsureTenant', { ...request, hostNames: [], state: 'Active' }, CALL);
    tenant = made.tenantId;
    owner = { ...CALL.principal, id: made.ownerId, tenant };
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const failure = (work: Promise<unknown>) =>
    work.then(() => null).catch((error: { wireName: string }) => error.wireName);
  const declare = (change: Partial<RequestOf<'auth.EnsureDataset'>> = {}) =>
    auth.messenger.call('auth.EnsureDataset', { crUid: 'cr-d', tenantId: tenant, name: 'tickets', ...change }, CALL);

  it('are created once, for the owner of the tenant', async () => {
    const first = await declare();
    expect(first.created).to.equal(true);
    expect(first.dataset).to.include({ id: datasetId('tickets', owner.id, tenant), ownerId: owner.id, tenant });
    expect(await declare()).to.deep.equal({ ...first, created: false });
    const answers = await Promise.all([1, 2, 3].map(() => declare({ crUid: 'cr-e', name: 'more' })));
    expect(new Set(answers.map(({ dataset }) => dataset.id)).size).to.equal(1);
  });

  it('adopt a dataset by name or id, unless another resource manages it', async () => {
    const context = { ...CALL, principal: owner };
    const { dataset } = await auth.messenger.call('auth.CreateDataset', { name: 'tickets' }, context);
    expect(await declare()).to.deep.equal({ dataset, created: false });
    expect(await failure(declare({ crUid: 'cr-e' }))).to.equal('OwnedByAnother');
    expect(await failure(declare({ crUid: 'cr-e', name: 'x', datasetId: dataset.id }))).to.equal('OwnedByAnother');
    expect(await failure(declare({ crUid: 'cr-e', datasetId: randomUUID() }))).to.equal('DatasetNotFoundError');
    const { dataset: other } = await auth.messenger.call('auth.CreateDataset', { name: 'other' }, context);
    expect(await declare({ crUid: 'cr-e', datasetId: other.id })).to.deep.equal({ dataset: other, created: false });
    expect(await failure(declare({ datasetId: other.id }))).to.equal('InvalidRequestError');
    expect(await failure(declare({ crUid: 'cr-t' }))).to.equal('InvalidRequestError');
  });

  it('are found by their resource, also while they are being erased, without being created or adopted', async () => {
    const find = (crUid: string) => auth.messenger.call('auth.FindManaged', { crUid }, CALL);
    await auth.messenger.call('auth.CreateDataset', { name: 'tickets' }, { ...CALL, principal: owner });
    expect(await find('cr-d')).to.deep.equal({ managed: null });
    const { dataset } = await declare();
    const found = { tenantId: tenant, datasetId: dataset.id };
    expect(await find('cr-d')).to.deep.equal({ managed: { ...found, isErasing: false } });
    expect(await find('cr-t')).to.deep.equal({ managed: { tenantId: tenant, datasetId: null, isErasing: false } });
    const thing = { crUid: 'cr-d', ...found };
    await auth.messenger.call('auth.BeginErasure', thing, CALL);
    expect(await find('cr-d')).to.deep.equal({ managed: { ...found, isErasing: true } });
    await auth.messenger.call('auth.RemoveDataset', { dataset }, { ...CALL, principal: owner });
    await auth.messenger.call('auth.EndErasure', { ...thing, begunAt: dataset.createdAt, removed: {}, kept: [] }, CALL);
    expect(await find('cr-d')).to.deep.equal({ managed: { ...found, isErasing: true } });
    expect(await find('cr')).to.deep.equal({ managed: null });
  });

  it('cannot be released once their erasure has started', async () => {
    const { dataset } = await declare();
    const thing = { crUid: 'cr-d', tenantId: tenant, datasetId: dataset.id };
    await auth.messenger.call('auth.BeginErasure', thing, CALL);
    expect(await failure(auth.messenger.call('auth.ReleaseDataset', thing, CALL))).to.equal('ConflictError');
    const of = { crUid: 'cr-t', tenantId: tenant };
    await auth.messenger.call('auth.BeginErasure', of, CALL);
    expect(await failure(auth.messenger.call('auth.ReleaseTenant', of, CALL))).to.equal('ConflictError');
  });

  it('are created again with their id when somebody removed them', async () => {
    const { dataset } = await declare();
    await auth.messenger.call('auth.RemoveDataset', { dataset }, { ...CALL, principal: owner });
    const again = await declare();
    expect([again.created, again.dataset.id]).to.deep.equal([true, dataset.id]);
  });

  it('need a tenant, a name and room in the budget', async () => {
    expect(await failure(declare({ tenantId: asId(randomUUID()) }))).to.equal('TenantNotFoundError');
    expect(await failure(declare({ name: '' }))).to.equal('InvalidDatasetNameError');
    const limits = { datasets: { limit: 1, action: 'Enforce' } } as const;
    await auth.messenger.call('auth.SetQuota', { tenant, limits }, CALL);
    await declare();
    expect(await failure(declare({ crUid: 'cr-e', name: 'second' }))).to.equal('PayloadTooLargeError');
  });

  describe('grants', () => {
    let dataset: AnswerOf<'auth.EnsureDataset'>['dataset'];
    let ana: Principal;
    let role: RoleId;

    beforeEach(async () => {
      ({ dataset } = await declare());
      ana = await auth.addUser({ email: 'ana@acme.example.com' });
      role = asId(randomUUID());
      const createdAt = auth.clock.now().toISOString();
      await auth.store.commit({ tenant }, [
        createRoles(auth.store).insertWrite({ id: role, tenant, name: 'support', createdAt }),
      ]);
    });

    const sync = (grants: readonly DeclaredGrant[], change: Partial<RequestOf<'auth.SyncGrants'>> = {}) =>
      auth.messenger.call(
        'auth.SyncGrants',
        { tenantId: tenant, datasetId: dataset.id, crUid: 'cr-d', grants, exclusive: false, ...change },
        CALL,
      );
    const forAna = (...permissions: Permission[]) => ({ holder: { userEmail: 'Ana@acme.example.com' }, permissions });
    const has = async (holder: string): Promise<readonly Permission[]> => {
      const all = await createGrants(auth.store).onDataset({ tenant }, dataset.id);
      return [...(all.find((grant) => grant.holder === holder)?.permissions ?? [])].sort();
    };
    const byHand = (permission: Permission, method: 'POST' | 'DELETE' = 'POST') => {
      const route = auth.routes.find(
        (each) => each.method === method && each.path.includes('permissions/datasets/:principalId'),
      );
      const request = { principal: owner, params: { principalId: ana.id } };
      return auth.call(method, route?.path ?? '', {
        ...request,
        query: { permission_name: permission },
        body: [dataset.id],
      });
    };

    it('are given to users, roles and tenants, and again when somebody revoked them', async () => {
      const grants = [forAna('read', 'write'), { holder: { roleName: 'support' }, permissions: ['read'] as const }];
      expect(await sync(grants)).to.deep.equal({ added: 3, removed: 0, unknownPrincipals: [] });
      expect([await has(ana.id), await has(role)]).to.deep.equal([['read', 'write'], ['read']]);
      expect(await sync(grants)).to.deep.equal({ added: 0, removed: 0, unknownPrincipals: [] });
      await byHand('write', 'DELETE');
      expect(await sync(grants)).to.deep.equal({ added: 1, removed: 0, unknownPrincipals: [] });
      const own = [...grants, { holder: { tenantId: tenant }, permissions: ['read'] as const }];
      expect(await sync(own)).to.deep.equal({ added: 1, removed: 0, unknownPrincipals: [] });
      const records = await createAuditRecords(auth.store).range(tenant, 0, 1000);
      expect(records.filter(({ action }) => action === 'grant.given')).to.have.length(5);
    });

    it('are revoked when they are no longer declared; grants by users are not changed', async () => {
      await byHand('read');
      await sync([forAna('read', 'write')]);
      expect(await sync([])).to.deep.equal({ added: 0, removed: 1, unknownPrincipals: [] });
      expect(await has(ana.id)).to.deep.equal(['read']);
      expect(await has(owner.id)).to.deep.equal(['delete', 'read', 'share', 'write']);
    });

    it('are the only ones beside the owner’s when they are declared exclusive', async () => {
      await byHand('read');
      await byHand('share');
      expect(await sync([forAna('read')], { exclusive: true })).to.include({ added: 0, removed: 1 });
      expect(await has(ana.id)).to.deep.equal(['read']);
      expect(await has(owner.id)).to.deep.equal(['delete', 'read', 'share', 'write']);
      // It was given by hand, and is declared: the declaration alone does not make it the resource's.
      await sync([]);
      expect(await has(ana.id)).to.deep.equal(['read']);
    });

    it('are given to existing principals, and the answer names the missing ones', async () => {
      const nobody = randomUUID();
      const answer = await sync([
        ...[forAna('read'), { holder: { userEmail: 'ghost@acme.example.com' }, permissions: ['read'] as const }],
        ...[{ holder: { tenantId: nobody }, permissions: ['read'] as const }],
        ...[{ holder: { roleName: 'ghosts' }, permissions: ['read'] as const }],
      ]);
      const unknownPrincipals = ['role/ghosts', `tenant/${nobody}`, 'user/ghost@acme.example.com'];
      expect(answer).to.deep.equal({ added: 1, removed: 0, unknownPrincipals });
    });

    it('take effect at once for users of the dataset', async () => {
      const context = { ...CALL, principal: { ...ana, tenant } };
      const read = () =>
        auth.messenger.call('auth.ResolveDatasets', { permission: 'read', ids: [dataset.id] }, context);
      await sync([forAna('read')]);
      expect((await read()).datasets).to.have.length(1);
      await sync([]);
      expect(await failure(read())).to.equal('PermissionDeniedError');
    });

    it('are changed only by the resource that manages the dataset', async () => {
      expect(await failure(sync([], { crUid: 'cr-e' }))).to.equal('OwnedByAnother');
      expect(await failure(sync([], { tenantId: PERSONAL_TENANT }))).to.equal('DatasetNotFoundError');
      await sync([forAna('read')]);
      const released = { tenantId: tenant, datasetId: dataset.id, crUid: 'cr-d' };
      expect(await auth.messenger.call('auth.ReleaseDataset', released, CALL)).to.deep.equal({ released: true });
      expect(await failure(sync([]))).to.equal('OwnedByAnother');
      expect(await has(ana.id)).to.deep.equal(['read']);
      await declare({ crUid: 'cr-e' });
      expect(await sync([], { crUid: 'cr-e' })).to.include({ removed: 0 });
    });

    it('are removed with the dataset', async () => {
      await sync([forAna('read')]);
      await auth.messenger.call('auth.RemoveDataset', { dataset }, { ...CALL, principal: owner });
      await declare();
      expect(await has(ana.id)).to.deep.equal([]);
      expect(await sync([forAna('read')])).to.include({ added: 1 });
      expect(await createDatasets(auth.store).get({ tenant }, dataset.id)).not.to.equal(null);
    });
  });
});
