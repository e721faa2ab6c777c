import { expect } from 'chai';
import { createMemberships } from '../../services/auth/repositories/memberships.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import type { Permission, Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import { createUsers } from '../../services/common/records/auth/users.ts';
import { expectNoRemains } from '../support/access-remains.ts';
import { type AccessWorld, writeAccessWorld } from '../support/access-world.ts';
import { startAuth, type TestAuth } from '../support/auth-service.ts';
import { CALL, type TestRequest } from '../support/call-route.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

const ROUNDS = 6;

/** What two processes of auth do at the same time must leave nothing behind that opens a later dataset, role or membership. */
export function accessRaces(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`access under races, ${name}`, () => {
    let subject: SharedDocuments;
    let processes: readonly [TestAuth, TestAuth];
    let world: AccessWorld;
    before(async () => {
      subject = await open();
      const [one, other] = subject.stores;
      processes = [await startAuth({ store: one }), await startAuth({ store: other })];
      world = await writeAccessWorld(one);
    });
    after(async () => {
      await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
      await subject.dispose();
    });
    afterEach(() => expectNoRemains(subject.stores[0]));

    const call = (place: 0 | 1, method: string, path: string, request: TestRequest) =>
      processes[place].call(method, `/api/v1/permissions${path}`, request);
    const grant = (place: 0 | 1, holder: string, dataset: DatasetRef, permission: Permission = 'read') =>
      call(place, 'POST', '/datasets/:principalId', {
        principal: world.ada,
        params: { principalId: holder },
        query: { permission_name: permission },
        body: [dataset.id],
      });
    const join = (place: 0 | 1, user: Principal) =>
      call(place, 'POST', '/users/:userId/tenants', {
        principal: world.ada,
        params: { userId: user.id },
        query: { tenant_id: world.first },
      });
    const leave = (place: 0 | 1, user: Principal) =>
      call(place, 'DELETE', '/tenants/:tenantId/users/:userId', {
        principal: world.ada,
        params: { tenantId: world.first, userId: user.id },
      });
    const makeRole = async (place: 0 | 1, roleName: string) =>
      (await call(place, 'POST', '/roles', { principal: world.ada, query: { role_name: roleName } })).json as {
        readonly role_id: string;
      };
    const assign = (place: 0 | 1, user: Principal, role: string) =>
      call(place, 'POST', '/users/:userId/roles', {
        principal: world.ada,
        params: { userId: user.id },
        query: { role_id: role },
      });
    const allow = (place: 0 | 1, holder: string) =>
      call(place, 'POST', '/capabilities/:principalId', {
        principal: world.ada,
        params: { principalId: holder },
        query: { capability: ['manage_users'] },
      });
    const make = async (place: 0 | 1, datasetName: string, principal: Principal = world.ada) =>
      (await processes[place].messenger.call('auth.CreateDataset', { name: datasetName }, { ...CALL, principal }))
        .dataset;
    const read = async (principal: Principal) =>
      (await processes[0].messenger.call('auth.ResolveDatasets', { permission: 'read' }, { ...CALL, principal }))
        .datasets;

    it('opens no later dataset of the name by a grant that raced with the removal', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const dataset = await make(0, 'fleeting');
        await Promise.all([
          expectOutcome(grant(0, world.eve.id, dataset), [200, 403]),
          processes[1].messenger.call('auth.RemoveDataset', { dataset }, CALL),
          expectOutcome(grant(1, world.role.id, dataset), [200, 403]),
        ]);
        const later = await make(1, 'fleeting');
        expect(later.id).to.equal(dataset.id);
        for (const user of [world.eve, world.bob]) {
          expect((await read(user)).map(({ id }) => id)).not.to.include(later.id);
        }
        await processes[0].messenger.call('auth.RemoveDataset', { dataset: later }, CALL);
      }
    });

    it('loses no permission of those given at once', async () => {
      const dataset = await make(0, 'given');
      await Promise.all([
        grant(0, world.eve.id, dataset, 'read'),
        grant(1, world.eve.id, dataset, 'write'),
        grant(0, world.eve.id, dataset, 'delete'),
        grant(1, world.eve.id, dataset, 'share'),
      ]);
      for (const permission of ['read', 'write', 'delete', 'share'] as const) {
        const request = { permission, ids: [dataset.id] };
        await processes[0].messenger.call('auth.ResolveDatasets', request, { ...CALL, principal: world.eve });
      }
    });

    it('adds a member once, and keeps one role of a name', async () => {
      const guest = await processes[0].addUser();
      expect(await outcomes(join(0, guest), join(1, guest))).to.have.members([200, 409]);
      expect(await outcomes(makeRole(0, 'unique'), makeRole(1, 'unique'))).to.have.members([200, 409]);
    });

    it('leaves nothing of a user who leaves while roles, capabilities and another tenant are chosen for it', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const guest = await processes[0].addUser();
        await join(0, guest);
        const select = call(1, 'POST', '/tenants/select', { principal: guest, body: { tenant_id: world.first } });
        await Promise.all([
          expectOutcome(assign(0, guest, world.role.id), [200, 404]),
          expectOutcome(leave(1, guest), [200]),
          expectOutcome(allow(0, guest.id), [200, 403]),
          expectOutcome(select, [200, 404]),
          expectOutcome(make(0, 'own', { ...guest, tenant: world.first }), [200, 403]),
          expectOutcome(join(1, guest), [200, 409]),
        ]);
        await expectOneWorld(guest);
        await expectOutcome(leave(0, guest), [200, 404]);
        await join(0, guest);
        expect(await read({ ...guest, tenant: world.first })).to.deep.equal([]);
      }
    });

    it('shuts out an agent that is made while its parent leaves', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const guest = await processes[0].addUser();
        await join(0, guest);
        await call(0, 'POST', '/tenants/select', { principal: guest, body: { tenant_id: world.first } });
        const principal = { ...guest, tenant: world.first };
        await Promise.all([
          processes[0].call('POST', '/api/v1/agents/create', { principal, query: { name: 'bot' } }),
          leave(1, guest),
        ]);
        const users = createUsers(subject.stores[0]);
        for (const id of await users.childAgents(guest.id)) {
          expect((await users.get(id))?.tenant).to.equal(PERSONAL_TENANT);
        }
      }
    });

    it('leaves nothing of a role that is deleted while it is given, granted and allowed something', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { role_id: role } = await makeRole(0, `fleeting ${round}`);
        const remove = call(1, 'DELETE', '/roles/:roleId', { principal: world.ada, params: { roleId: role } });
        await Promise.all([
          expectOutcome(assign(0, world.eve, role), [200, 404]),
          expectOutcome(remove, [200]),
          expectOutcome(grant(0, role, world.dataset), [200, 404]),
          expectOutcome(allow(1, role), [200, 403]),
        ]);
        await expectNoRemains(subject.stores[0]);
      }
    });

    /** Who works in a tenant belongs to it. */
    async function expectOneWorld(user: Principal): Promise<void> {
      const [store] = subject.stores;
      const stored = await createUsers(store).get(user.id);
      const isMember = await createMemberships(store).has(world.first, user.id);
      expect(stored?.tenant === PERSONAL_TENANT || isMember, 'works where it is no member').to.equal(true);
      await expectNoRemains(store);
    }
  });
}

async function outcomes(...work: readonly Promise<unknown>[]): Promise<readonly number[]> {
  return Promise.all(work.map((each) => outcome(each)));
}

async function expectOutcome(work: Promise<unknown>, expected: readonly number[]): Promise<void> {
  expect(expected).to.include(await outcome(work));
}

async function outcome(work: Promise<unknown>): Promise<number> {
  try {
    await work;
    return 200;
  } catch (error) {
    const { status } = error as { readonly status?: number };
    if (status === undefined) throw error;
    return status;
  }
}
