import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { rejection } from '../../../test/support/refusal-of.ts';
import { giveGrant, takeGrant } from '../../../test/support/set-grant.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createApiKeys } from '../../common/records/auth/api-keys.ts';
import { datasetsCollection } from '../../common/records/auth/datasets.ts';
import { createGrants, grantsCollection } from '../repositories/grants.ts';
import { createMemberships } from '../repositories/memberships.ts';

interface Query {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
  readonly createMissing?: boolean;
  readonly namesAmongPermitted?: boolean;
}

describe('dataset registry', () => {
  let auth: TestAuth;
  let ada: Principal;
  let bob: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    ada = await auth.addUser();
    bob = await auth.addUser();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const create = async (principal: Principal, name: string) => {
    auth.clock.advance(1);
    return (await auth.messenger.call('auth.CreateDataset', { name }, { ...CALL, principal })).dataset;
  };
  const remove = async (dataset: DatasetRef) =>
    (await auth.messenger.call('auth.RemoveDataset', { dataset }, CALL)).removed;
  const resolve = async (principal: Principal, permission: Permission, query: Query = {}) =>
    (await auth.messenger.call('auth.ResolveDatasets', { permission, ...query }, { ...CALL, principal })).datasets;
  /** While it works in a tenant of its own. */
  const namesOf = (datasets: readonly DatasetRef[]) => datasets.map(({ name }) => name);
  const count = (collection: typeof datasetsCollection | typeof grantsCollection) =>
    auth.store.count(SYSTEM_SCOPE, collection as typeof datasetsCollection, {});

  it('refuses a name of invalid Unicode, which stores cannot tell from others', async () => {
    for (const make of [
      create(ada, 'half\ud800'),
      resolve(ada, 'write', { names: ['fine', 'half\ud800'], createMissing: true }),
    ]) {
      const error = await make.then(
        () => null,
        (reason: { wireName?: string; status?: number }) => reason,
      );
      expect(error).to.include({ wireName: 'InvalidDatasetNameError', status: 400 });
    }
    expect(await resolve(ada, 'read', {})).to.deep.equal([]);
  });

  it('creates one dataset when many requests create the same name at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? create(ada, 'same')
          : resolve(ada, 'write', { names: ['same'], createMissing: true }).then(([dataset]) => dataset),
      ),
    );
    expect(new Set(made.map((dataset) => dataset?.id)).size).to.equal(1);
    expect(await count(datasetsCollection)).to.equal(1);
    expect(await count(grantsCollection)).to.equal(1);
    expect(await auth.events()).to.deep.equal(['dataset.created']);
  });

  it('keeps registry and grants together when a name is created and removed at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const dataset = await create(ada, 'race');
      await Promise.all([remove(dataset), create(ada, 'race'), remove(dataset), create(ada, 'race')]);
      const datasets = await count(datasetsCollection);
      expect(await count(grantsCollection)).to.equal(datasets);
      expect(await resolve(ada, 'delete')).to.have.length(datasets);
    }
  });

  it('removes the grants with the dataset, so that a later one of the same name starts without any', async () => {
    const first = await create(ada, 'shared');
    await giveGrant(auth.store, first, bob.id, 'read');
    expect(await resolve(bob, 'read')).to.deep.equal([first]);
    expect(await remove(first)).to.equal(true);
    expect(await remove(first)).to.equal(false);
    expect(String(await giveGrant(auth.store, first, bob.id, 'read').catch(String))).to.include('VersionConflictError');
    const second = await create(ada, 'shared');
    expect(second.id).to.equal(first.id);
    expect(await resolve(bob, 'read')).to.deep.equal([]);
    expect((await rejection(resolve(bob, 'read', { ids: [second.id] }))).status).to.equal(403);
  });

  it('does not remove a later dataset of the name with a late removal', async () => {
    const first = await create(ada, 'notes');
    await remove(first);
    const second = await create(ada, 'notes');
    expect(await remove(first)).to.equal(false);
    expect(await resolve(ada, 'read', { names: ['notes'] })).to.deep.equal([second]);
  });

  it('resolves names among own datasets only, and lists all that are missing', async () => {
    const foreign = await create(bob, 'foreign');
    await giveGrant(auth.store, foreign, ada.id, 'read');
    await create(ada, 'own');
    const { status, detail } = await rejection(resolve(ada, 'read', { names: ['foreign', 'own', 'nope', 'nope'] }));
    expect(status).to.equal(404);
    expect(detail).to.equal(
      "Dataset(s) not found: 'foreign', 'nope'. Dataset names resolve only among the datasets you own in the current " +
        'tenant; pass dataset_ids for datasets shared with you. [DatasetNotFoundError]',
    );
    expect((await rejection(resolve(ada, 'read', { names: [] }))).detail).to.equal(
      'No datasets found. [DatasetNotFoundError]',
    );
    expect(namesOf(await resolve(ada, 'read', { names: ['own', 'own'] }))).to.deep.equal(['own']);
  });

  it('creates none when the permission on another dataset of the request is missing', async () => {
    const own = await create(ada, 'own');
    await takeGrant(auth.store, own, ada.id, 'write');
    const { status } = await rejection(resolve(ada, 'write', { names: ['own', 'new'], createMissing: true }));
    expect(status).to.equal(403);
    expect(namesOf(await resolve(ada, 'read'))).to.deep.equal(['own']);
  });

  it('finds shared datasets by name for forget, own ones first', async () => {
    const foreign = await create(bob, 'notes');
    await giveGrant(auth.store, foreign, ada.id, 'delete');
    const query = { names: ['notes'], namesAmongPermitted: true };
    expect(await resolve(ada, 'delete', query)).to.deep.equal([foreign]);
    const own = await create(ada, 'notes');
    expect(await resolve(ada, 'delete', query)).to.deep.equal([own]);
    expect(await rejection(resolve(ada, 'delete', { names: ['nope'], namesAmongPermitted: true }))).to.include({
      status: 404,
      detail: "Dataset 'nope' not found or not accessible. [DatasetNotFoundError]",
    });
  });

  it('lets a parent use what was granted to its agent, but not the other way round', async () => {
    const agent = await auth.addUser({ parentId: ada.id });
    const dataset = await create(bob, 'bobs');
    await giveGrant(auth.store, dataset, agent.id, 'read');
    expect(await resolve(ada, 'read', { ids: [dataset.id] })).to.deep.equal([dataset]);
    expect((await rejection(resolve(ada, 'write', { ids: [dataset.id] }))).status).to.equal(403);
    const adas = await create(ada, 'adas');
    expect((await rejection(resolve(agent, 'read', { ids: [adas.id] }))).status).to.equal(403);
  });

  it('pages through thousands of grants and names', async () => {
    const grants = createGrants(auth.store);
    const names = Array.from({ length: 1100 }, (_, index) => `d${index}`);
    await resolve(ada, 'write', { names, createMissing: true });
    expect(namesOf(await resolve(ada, 'read', { names }))).to.deep.equal(names);
    const all = await resolve(ada, 'share');
    expect(all).to.have.length(1100);
    expect(await resolve(ada, 'share', { ids: all.map(({ id }) => id as DatasetId) })).to.have.length(1100);
    expect(await grants.ofHolders({ tenant: ada.tenant }, [ada.id])).to.have.length(1100);
  });
});

async function join({ store }: TestAuth, { id }: Principal, tenant: TenantId): Promise<void> {
  await store.commit({ tenant }, [createMemberships(store).insertWrite(tenant, id, '2026-01-02T03:04:05.678Z')]);
}

describe('ResolveDatasets of another account', () => {
  it('is for superusers, and finds what the account may read', async () => {
    await using auth = await startAuth();
    const [root, ada, bob] = [await auth.addUser({ isSuperuser: true }), await auth.addUser(), await auth.addUser()];
    const asking = (principal: Principal) => ({ ...CALL, principal });
    const { dataset } = await auth.messenger.call('auth.CreateDataset', { name: 'notes' }, asking(ada));
    const resolveOf = (principal: Principal, ofUser: string, permission: 'read' | 'write' = 'read') =>
      auth.messenger.call('auth.ResolveDatasets', { permission, ids: [dataset.id], ofUser }, asking(principal));
    expect((await resolveOf(root, ada.id)).datasets).to.deep.equal([dataset]);
    for (const refused of [
      resolveOf(root, bob.id),
      resolveOf(bob, ada.id),
      resolveOf(root, ada.id, 'write'),
      resolveOf(root, randomUUID()),
    ]) {
      expect(await refused.catch((error: unknown) => error)).to.include({ status: 403 });
    }
  });
});

describe('GetPrincipal', () => {
  it('returns the current account in the tenant of the job, and null when it may not act', async () => {
    await using auth = await startAuth();
    const tenant = asId<TenantId>(randomUUID());
    const member = await auth.addUser({ tenant });
    await join(auth, member, tenant);
    const agent = await auth.addUser({ parentId: member.id, tenant });
    const stranger = await auth.addUser();
    const inactive = await auth.addUser({ isActive: false });
    const get = async (userId: string, inTenant: string) =>
      (await auth.messenger.call('auth.GetPrincipal', { userId, tenant: inTenant }, CALL)).principal;
    expect(await get(member.id, tenant)).to.deep.equal(member);
    expect(await get(member.id, 'personal')).to.deep.equal({ ...member, tenant: 'personal' });
    expect(await get(member.id, randomUUID())).to.equal(null);
    expect(await get(agent.id, tenant), 'an agent that lives there').to.deep.equal(agent);
    expect(await get(stranger.id, tenant)).to.equal(null);
    await auth.store.commit({ tenant }, [createMemberships(auth.store).removeWrite(tenant, member.id)]);
    expect(await get(member.id, tenant), 'after leaving').to.equal(null);
    expect(await get(inactive.id, 'personal')).to.equal(null);
    expect(await get(randomUUID(), 'personal')).to.equal(null);
  });

  it('returns the limits of the key, and null when it is no longer valid', async () => {
    await using auth = await startAuth();
    const [user, other] = [await auth.addUser(), await auth.addUser()];
    const keys = createApiKeys(auth.store);
    const id = randomUUID();
    const expiresAt = new Date(auth.clock.now().getTime() + 60_000).toISOString();
    const facts = { prefix: 'eng_1234', name: null, label: null, createdAt: '2026-01-02T03:04:05.678Z' };
    const limits = { permissions: ['write'] as const, datasets: null };
    await auth.store.commit(SYSTEM_SCOPE, [
      keys.insertWrite({
        id,
        userId: user.id,
        hash: 'a'.repeat(64),
        lastUsedAt: null,
        expiresAt,
        tenant: null,
        ...facts,
        ...limits,
      }),
    ]);
    const get = async (userId: string) =>
      (await auth.messenger.call('auth.GetPrincipal', { userId, tenant: 'personal', key: id }, CALL)).principal;
    expect((await get(user.id))?.key).to.deep.equal({ id, ...limits });
    expect(await get(other.id), 'somebody else’s').to.equal(null);
    auth.clock.advance(60_000);
    expect(await get(user.id), 'expired').to.equal(null);
    await auth.store.commit(SYSTEM_SCOPE, [keys.removeWrite(id)]);
    expect(await get(user.id), 'revoked').to.equal(null);
  });
});
