import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { open, startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { refusalOf } from '../../../test/support/refusal-of.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createApiKeys } from '../../common/records/auth/api-keys.ts';
import { createDatasets } from '../../common/records/auth/datasets.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';
import { createCapabilityGrants } from '../repositories/capability-grants.ts';
import { grantsCollection } from '../repositories/grants.ts';
import { createMemberships } from '../repositories/memberships.ts';

describe('deleting an account', () => {
  let auth: TestAuth;
  let root: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    root = await auth.addUser({ isSuperuser: true, email: 'root@example.com' });
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const remove = (id: UserId) =>
    auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: id }, principal: root });
  const createDataset = async (principal: Principal, name: string) =>
    (await auth.messenger.call('auth.CreateDataset', { name }, { ...CALL, principal })).dataset;
  const resolve = async (principal: Principal, query: object) =>
    (await auth.messenger.call('auth.ResolveDatasets', { permission: 'delete', ...query }, { ...CALL, principal }))
      .datasets;
  const createKey = async (principal: Principal) =>
    ((await auth.call('POST', '/api/v1/auth/api-keys', { principal, body: {} })).json as { key: string }).key;
  const audited = async () =>
    (await auth.store.find(SYSTEM_SCOPE, auditRecordsCollection, { limit: 1000 })).items.map(({ value }) => value);
  const addTenant = async (owner: Principal, ...members: readonly Principal[]): Promise<TenantId> => {
    const id = asId<TenantId>(randomUUID());
    const createdAt = auth.clock.now().toISOString();
    const memberships = createMemberships(auth.store);
    await auth.store.commit(SYSTEM_SCOPE, [
      createTenants(auth.store).insertWrite({ id, name: 'acme', ownerId: owner.id, createdAt }),
      ...[owner, ...members].map((member, index) =>
        memberships.insertWrite(id, member.id, new Date(Date.parse(createdAt) + index).toISOString()),
      ),
    ]);
    return id;
  };

  it('removes its agents, keys, memberships and grants, and ends their access at once', async () => {
    const ada = await auth.addUser();
    const bob = await auth.addUser();
    const agent = await auth.addUser({ parentId: ada.id, email: 'bot+1@cognee.agent' });
    const tenant = await addTenant(bob, ada);
    const keys = [await createKey(ada), await createKey(agent)];
    const credentials = keys.map((value) => ({ kind: 'api-key', value }) as const);
    for (const credential of credentials) expect(await auth.authenticate(credential)).not.to.equal(null);
    const shared = await createDataset(bob, 'shared');
    await auth.store.commit({ tenant: PERSONAL_TENANT }, [
      createCapabilityGrants(auth.store).insertWrite({ holder: ada.id, capability: 'manage_users' }, bob.id, 'now'),
    ]);

    expect((await remove(ada.id)).status).to.equal(204);

    for (const credential of credentials) expect(await auth.authenticate(credential)).to.equal(null);
    expect(await createUsers(auth.store).get(ada.id)).to.equal(null);
    expect(await createUsers(auth.store).get(agent.id)).to.equal(null);
    expect(await createApiKeys(auth.store).ofUser(ada.id)).to.deep.equal([]);
    expect(await createApiKeys(auth.store).ofUser(agent.id)).to.deep.equal([]);
    expect(await createMemberships(auth.store).usersOf(tenant)).to.deep.equal([bob.id]);
    expect(await createCapabilityGrants(auth.store).ofHolders(PERSONAL_TENANT, [ada.id])).to.deep.equal([]);
    const holders = (await auth.store.find(SYSTEM_SCOPE, grantsCollection, { limit: 100 })).items;
    expect(holders.map(({ value }) => value.holderId)).to.deep.equal([bob.id]);
    expect((await resolve(bob, { ids: [shared.id] }))[0]?.ownerId).to.equal(bob.id);
    expect(await refusalOf(remove(ada.id))).to.deep.equal({ status: 404, text: '{"detail":"Not Found"}' });
    const told = (await audited()).filter(({ subject }) => subject === ada.id || subject === agent.id);
    expect(told.map(({ action }) => action)).to.include.members(['agent.deleted', 'user.deleted']);
    expect(told.every(({ actor }) => actor === root.id || actor === ada.id || actor === agent.id)).to.equal(true);
    expect(await auth.events()).to.include('user.deleted');
  });

  it('transfers datasets of a tenant to its owner, and those of the owner to the next one', async () => {
    const [ada, bob, eve] = [await auth.addUser(), await auth.addUser(), await auth.addUser()];
    const tenant = await addTenant(ada, eve, bob);
    await auth.store.commit({ tenant }, [
      createCapabilityGrants(auth.store).insertWrite({ holder: bob.id, capability: 'manage_users' }, ada.id, 'now'),
    ]);
    const ofEve = await createDataset({ ...eve, tenant }, 'plans');
    const ofAda = await createDataset({ ...ada, tenant }, 'plans');
    await remove(eve.id);
    const names = (await resolve({ ...ada, tenant }, {})).map(({ name }) => name);
    expect(names).to.have.members(['plans', `plans_${ofEve.id.slice(0, 8)}`]);
    await remove(ada.id);
    expect((await createTenants(auth.store).get(tenant))?.ownerId).to.equal(bob.id);
    expect((await resolve({ ...bob, tenant }, {})).map(({ id }) => id)).to.have.members([ofEve.id, ofAda.id]);
  });

  it('transfers a tenant without managing members to the acting superuser, as a member', async () => {
    const [ada, bob] = [await auth.addUser(), await auth.addUser()];
    const tenant = await addTenant(ada, bob);
    await remove(ada.id);
    expect((await createTenants(auth.store).get(tenant))?.ownerId).to.equal(root.id);
    expect(await createMemberships(auth.store).usersOf(tenant)).to.have.members([bob.id, root.id]);
  });

  it("does not give a tenant's datasets to a parent who has no place in it", async () => {
    const [ada, bob] = [await auth.addUser(), await auth.addUser()];
    const tenant = await addTenant(bob);
    const agent = await auth.addUser({ parentId: ada.id, email: 'bot+1@cognee.agent', tenant });
    const dataset = await createDataset(agent, 'findings');
    await remove(agent.id);
    expect((await resolve({ ...bob, tenant }, {})).map(({ id, ownerId }) => [id, ownerId])).to.deep.equal([
      [dataset.id, bob.id],
    ]);
  });

  it('lets the new owner create under an inherited name as under any own one', async () => {
    const ada = await auth.addUser();
    const dataset = await createDataset(ada, 'notes');
    await remove(ada.id);
    expect((await createDataset(root, 'notes')).id).to.equal(dataset.id);
    expect((await resolve(root, { names: ['notes'], createMissing: true }))[0]?.id).to.equal(dataset.id);
  });

  it('transfers more datasets than fit in one commit', async () => {
    const ada = await auth.addUser();
    for (let index = 0; index < 230; index += 1) await createDataset(ada, `set${index}`);
    await remove(ada.id);
    expect(await resolve(root, {})).to.have.length(230);
    expect(await createDatasets(auth.store).ofOwner(ada.id, 10)).to.deep.equal([]);
  });

  it('refuses to delete the default account and the last superuser', async () => {
    const standIn = await auth.addUser({ isSuperuser: true, email: 'default_user@example.com' });
    expect(await refusalOf(remove(standIn.id))).to.deep.equal({
      status: 403,
      text: 'The default account cannot be deleted: the server uses it. [PermissionDeniedError]',
    });
    await auth.call('PATCH', '/api/v1/users/:userId', {
      params: { userId: standIn.id },
      principal: root,
      body: { is_active: false },
    });
    const last = await refusalOf(remove(root.id));
    expect(last.status).to.equal(403);
    expect(last.text).to.include('last superuser');
    expect((await createUsers(auth.store).get(root.id))?.isActive).to.equal(true);
  });

  it('leaves nothing that the user creates at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ada = await auth.addUser();
      await createDataset(ada, 'first');
      const outcomes = await Promise.allSettled([
        ...[1, 2, 3].map((index) => createDataset(ada, `round${round}set${index}`)),
        remove(ada.id),
        createKey(ada),
        createKey(ada),
        ...[4, 5, 6].map((index) => createDataset(ada, `round${round}set${index}`)),
      ]);
      expect(outcomes[3]?.status).to.equal('fulfilled');
      expect(await createDatasets(auth.store).ofOwner(ada.id, 10)).to.deep.equal([]);
      expect(await createApiKeys(auth.store).ofUser(ada.id)).to.deep.equal([]);
      const made = outcomes.filter(
        ({ status }, index) => index !== 3 && index !== 4 && index !== 5 && status === 'fulfilled',
      );
      const inherited = (await resolve(root, {})).filter(({ name }) => name.startsWith(`round${round}`));
      expect(inherited).to.have.length(made.length);
    }
  });

  it('wins over a concurrent change of the account and a second deletion', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ada = await auth.addUser();
      await createDataset(ada, `set${round}`);
      const change = (body: object) =>
        auth.call('PATCH', '/api/v1/users/:userId', { params: { userId: ada.id }, principal: root, body });
      const outcomes = await Promise.allSettled([
        change({ is_verified: true }),
        remove(ada.id),
        change({ is_active: true, email: `ada${round}@example.com` }),
        remove(ada.id),
        change({ is_superuser: true }),
      ]);
      expect(outcomes[1]?.status).to.equal('fulfilled');
      expect(await createUsers(auth.store).get(ada.id)).to.equal(null);
      expect(await createDatasets(auth.store).ofOwner(ada.id, 10)).to.deep.equal([]);
    }
  });
});

describe('an interrupted deletion', () => {
  it('has deactivated the account, and continues when it is repeated', async () => {
    const memory = createMemoryDocumentStore();
    let failsAt = Number.POSITIVE_INFINITY;
    const store: DocumentStore = {
      ...memory,
      commit: (scope, writes) => {
        failsAt -= 1;
        return failsAt < 0 ? Promise.reject(new Error('killed')) : memory.commit(scope, writes);
      },
    };
    await using auth = await startAuth({ store });
    const root = await auth.addUser({ isSuperuser: true });
    const remove = (id: UserId) =>
      auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: id }, principal: root });
    let cuts = 0;
    for (; ; cuts += 1) {
      const ada = await auth.addUser();
      const agent = await auth.addUser({ parentId: ada.id, email: `bot${cuts}+1@cognee.agent` });
      for (const owner of [ada, agent]) {
        await auth.messenger.call('auth.CreateDataset', { name: `set${cuts}` }, { ...CALL, principal: owner });
      }
      failsAt = cuts;
      const isCut = await remove(ada.id).then(
        () => false,
        () => true,
      );
      failsAt = Number.POSITIVE_INFINITY;
      const left = await createUsers(store).get(ada.id);
      if (left !== null) {
        if (cuts > 0) expect(left.isActive, `after ${cuts} commits`).to.equal(false);
        await remove(ada.id);
      }
      expect(await createUsers(store).get(ada.id)).to.equal(null);
      expect(await createUsers(store).get(agent.id)).to.equal(null);
      expect(await createDatasets(store).ofOwner(ada.id, 10)).to.deep.equal([]);
      expect(await createDatasets(store).ofOwner(agent.id, 10)).to.deep.equal([]);
      if (!isCut) break;
    }
    expect(cuts).to.be.greaterThan(4);
  });
});

describe('the default account of the open mode', () => {
  it('becomes the owner when there is no other superuser', async () => {
    await using auth = await startAuth({ settings: { posture: open } });
    const stranger = await auth.addUser();
    const ada = await auth.addUser();
    const { dataset } = await auth.messenger.call('auth.CreateDataset', { name: 'notes' }, { ...CALL, principal: ada });
    await auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: ada.id }, principal: stranger });
    const { principal } = await auth.messenger.call('auth.Authenticate', { credentials: [] }, CALL);
    const stored = await createDatasets(auth.store).get({ tenant: PERSONAL_TENANT }, dataset.id);
    expect(stored?.ownerId).to.equal(principal?.id);
  });
});
