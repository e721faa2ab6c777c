import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AccessWorld, writeAccessWorld } from '../../../test/support/access-world.ts';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL, type TestRequest } from '../../../test/support/call-route.ts';
import { rejection } from '../../../test/support/refusal-of.ts';
import type { Permission, PresentedKey, Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { eventsCollection } from '../../common/platform/events/event-log.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { auditRecordsCollection } from '../repositories/audit-log.ts';

let auth: TestAuth;
let world: AccessWorld;
beforeEach(async () => {
  auth = await startAuth();
  world = await writeAccessWorld(auth.store);
});
afterEach(() => auth[Symbol.asyncDispose]());

function call(method: string, path: string, principal: Principal, request: TestRequest = {}) {
  return auth.call(method, `/api/v1/permissions${path}`, { ...request, principal });
}

function share(principal: Principal, holder: string, permission: string, ...datasets: readonly string[]) {
  const request = { params: { principalId: holder }, query: { permission_name: permission }, body: datasets };
  return call('POST', '/datasets/:principalId', principal, request);
}

async function resolve(
  principal: Principal,
  permission: Permission,
  request: Partial<RequestOf<'auth.ResolveDatasets'>> = {},
) {
  const context = { ...CALL, principal };
  return (await auth.messenger.call('auth.ResolveDatasets', { permission, ...request }, context)).datasets;
}

async function create(principal: Principal, name: string) {
  return (await auth.messenger.call('auth.CreateDataset', { name }, { ...CALL, principal })).dataset;
}

/** Everything stored about access, but for versions. */
async function everything(): Promise<string> {
  const events = await findAll(auth.store, SYSTEM_SCOPE, eventsCollection);
  const records = await findAll(auth.store, SYSTEM_SCOPE, auditRecordsCollection);
  return JSON.stringify([events, records, await resolve(world.eve, 'read'), await resolve(world.bob, 'read')]);
}

describe('a limited API key', () => {
  const withKey = (principal: Principal, limits: Partial<PresentedKey>): Principal => ({
    ...principal,
    key: { id: randomUUID(), permissions: null, datasets: null, ...limits },
  });

  it('creates datasets only with write permission and without a list of datasets', async () => {
    for (const limits of [{ datasets: [world.dataset.id] }, { permissions: ['read', 'share'] as const }]) {
      const limited = withKey(world.ada, limits);
      expect((await rejection(create(limited, 'new'))).status).to.equal(403);
      const query = { names: ['new'], createMissing: true };
      expect((await rejection(resolve(limited, 'read', query))).status).to.equal(403);
      expect((await rejection(create(limited, world.dataset.name))).status, 'one that exists').to.equal(403);
    }
    expect((await create(withKey(world.ada, { permissions: ['write'] }), 'new')).name).to.equal('new');
  });

  it('reads its own grants only, within its limits', async () => {
    const other = await create(world.ada, 'other');
    const limited = withKey(world.ada, { datasets: [other.id] });
    const listed = async (principal: Principal, holder: string) => {
      const request = { params: { principalId: holder }, query: {} };
      const { json } = await call('GET', '/principals/:principalId/datasets', principal, request);
      return (json as readonly { readonly id: string }[]).map(({ id }) => id);
    };
    expect(await listed(world.ada, world.ada.id)).to.have.members([world.dataset.id, other.id]);
    expect(await listed(limited, world.ada.id)).to.deep.equal([other.id]);
    expect((await rejection(listed(limited, world.eve.id))).status).to.equal(403);
  });
});

const BY_NUMBER = { sort: [{ field: 'number' as const }] };

describe('changes of permissions', () => {
  const told = async () =>
    (await findAll(auth.store, SYSTEM_SCOPE, eventsCollection, { sort: [{ field: 'sequence' }] })).map(
      ({ tenant, dataset, value }) => ({
        tenant,
        dataset: dataset ?? value.dataset,
        type: value.type,
        subject: value.subjectId,
        data: value.data,
      }),
    );
  const audited = async () =>
    (await findAll(auth.store, SYSTEM_SCOPE, auditRecordsCollection, BY_NUMBER)).map(({ value }) => ({
      tenant: value.tenant,
      action: value.action,
      actor: value.actor,
      subject: value.subject,
      details: JSON.parse(value.details) as unknown,
    }));

  it('are recorded once in the event log and the audit log, and not again when nothing changes', async () => {
    const { ada, bob, first: tenant, dataset, role } = world;
    for (const _ of [1, 2]) await share(ada, bob.id, 'write', dataset.id);
    const params = { principalId: role.id };
    for (const _ of [1, 2]) {
      await call('POST', '/capabilities/:principalId', ada, { params, query: { capability: ['manage_users'] } });
    }
    for (const _ of [1, 2]) {
      await call('DELETE', '/users/:userId/roles', ada, { params: { userId: bob.id }, query: { role_id: role.id } });
    }
    const about = { dataset: null, tenant };
    expect(await told()).to.deep.equal([
      {
        tenant,
        dataset: dataset.id,
        type: 'access.granted',
        subject: `${dataset.id}/${bob.id}/write`,
        data: { holderId: bob.id, permission: 'write' },
      },
      {
        ...about,
        type: 'capability.granted',
        subject: `${role.id}/manage_users`,
        data: { holderId: role.id, capability: 'manage_users' },
      },
      {
        ...about,
        type: 'role.unassigned',
        subject: `${role.id}/${bob.id}`,
        data: { roleId: role.id, userId: bob.id },
      },
    ]);
    expect(await audited()).to.deep.equal([
      {
        tenant,
        action: 'grant.given',
        actor: ada.id,
        subject: dataset.id,
        details: { holder: bob.id, permission: 'write' },
      },
      {
        tenant,
        action: 'capability.granted',
        actor: ada.id,
        subject: role.id,
        details: { capability: 'manage_users' },
      },
      { tenant, action: 'role_member.removed', actor: ada.id, subject: bob.id, details: { role: role.id } },
    ]);
  });

  it('have no effect when they are refused', async () => {
    const { ada, bob, eve, first, dataset, role } = world;
    const before = await everything();
    const nobody = randomUUID();
    const refused = [
      share(eve, bob.id, 'read', dataset.id),
      share(ada, bob.id, 'read', dataset.id, nobody),
      share(ada, nobody, 'read', dataset.id),
      share(ada, bob.id, 'own', dataset.id),
      call('POST', '/roles', eve, { query: { role_name: 'mine' } }),
      call('POST', '/roles', ada, { query: { role_name: role.name } }),
      call('DELETE', '/roles/:roleId', eve, { params: { roleId: role.id } }),
      call('POST', '/users/:userId/roles', eve, { params: { userId: eve.id }, query: { role_id: role.id } }),
      call('DELETE', '/users/:userId/roles', eve, { params: { userId: bob.id }, query: { role_id: role.id } }),
      call('POST', '/users/:userId/tenants', eve, { params: { userId: eve.id }, query: { tenant_id: world.second } }),
      call('DELETE', '/tenants/:tenantId/users/:userId', eve, { params: { tenantId: first, userId: bob.id } }),
      call('DELETE', '/tenants/:tenantId/users/:userId', ada, { params: { tenantId: first, userId: ada.id } }),
      call('POST', '/tenants/select', eve, { body: { tenant_id: world.second } }),
      call('POST', '/capabilities/:principalId', eve, {
        params: { principalId: eve.id },
        query: { capability: ['manage_users'] },
      }),
    ];
    for (const work of refused) expect((await rejection(work)).status).to.be.within(400, 409);
    expect(await everything()).to.equal(before);
  });

  it('grant many datasets in one commit, all or none', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `d${index}`);
    const made = await resolve(world.ada, 'share', { names, createMissing: true });
    const ids = made.map(({ id }) => id);
    expect((await rejection(share(world.ada, world.eve.id, 'read', ...ids, randomUUID()))).status).to.equal(403);
    expect(await resolve(world.eve, 'read')).to.have.length(1);
    await share(world.ada, world.eve.id, 'read', ...ids);
    expect(await resolve(world.eve, 'read')).to.have.length(51);
  });

  it('revoke the grants of agents when their parent leaves, but not in an agent’s own tenant', async () => {
    const { ada, first } = world;
    const guest = await auth.addUser({ tenant: first });
    const agent = await auth.addUser({ parentId: guest.id, tenant: first });
    const join = (user: Principal, tenant: string, by: Principal) =>
      call('POST', '/users/:userId/tenants', by, { params: { userId: user.id }, query: { tenant_id: tenant } });
    const leave = (user: Principal, tenant: string, by: Principal) =>
      call('DELETE', '/tenants/:tenantId/users/:userId', by, { params: { tenantId: tenant, userId: user.id } });
    await join(guest, first, ada);
    await share(ada, agent.id, 'read', world.dataset.id);
    expect(await resolve(guest, 'read')).to.deep.equal([world.dataset]);
    await leave(guest, first, ada);
    expect(await resolve(agent, 'read')).to.deep.equal([]);
    expect((await audited()).at(-1)).to.deep.include({ action: 'membership.removed', details: { agents: [agent.id] } });
    const { json } = await call('POST', '/tenants', agent, { query: { tenant_name: 'of the agent' } });
    const { tenant_id: own } = json as { readonly tenant_id: string };
    await join(guest, own, agent);
    await leave(guest, own, agent);
    const members = await call('GET', '/tenants/:tenantId/users', agent, { params: { tenantId: own } });
    expect((members.json as readonly { readonly id: string }[]).map(({ id }) => id)).to.deep.equal([agent.id]);
  });
});
