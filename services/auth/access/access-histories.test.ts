import { expect } from 'chai';
import fc from 'fast-check';
import { AccessModel, drop } from '../../../test/support/access-model.ts';
import { expectNoRemains } from '../../../test/support/access-remains.ts';
import { writeAccessWorld } from '../../../test/support/access-world.ts';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { repeats } from '../../../test/support/extent.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Permission, Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';

/** Histories that share a service: each has accounts, tenants and roles of its own. */
const HISTORIES_PER_SERVICE = 25;
/** Each run makes others. */
const HISTORIES = repeats(1_500, 200);

/** Places in a list that grows; taken modulo its length. */
const place = fc.nat(7);
const holder = fc.nat(23);
/** The rules are the same for all: a few of them meet more often. */
const permission = fc.constantFrom<Permission>('read', 'read', 'share', 'write');
const [user, tenant, role, dataset] = [place, place, place, place];
const name = fc.constantFrom<string>('a', 'b');
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('make' as const), user, name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unmake' as const), dataset, isLate: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remake' as const), dataset }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('grant' as const), user, dataset, holder, permission }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('revoke' as const), user, dataset, holder, permission }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('join' as const), tenant, user }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), tenant, user }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rejoin' as const), tenant, user }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('addRole' as const), tenant }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeRole' as const), role }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('assign' as const), role, user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), role, user }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('select' as const), tenant, user }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('addAgent' as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), user }) },
);
const step = fc.record({ act, look: fc.record({ user, permission, dataset }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Act<Kind extends Step['act']['kind']> = Extract<Step['act'], { kind: Kind }>;

describe('access after random histories', function () {
  this.timeout(300_000);

  it('matches a model after any history of datasets, grants, memberships, roles, switches, agents and deletions', async () => {
    let histories = 0;
    let auth = await startAuth();
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8, size: 'max' }), async (steps) => {
      histories += 1;
      if (histories % HISTORIES_PER_SERVICE === 0) {
        await expectNoRemains(auth.store);
        await auth[Symbol.asyncDispose]();
        auth = await startAuth();
      }
      const history = await History.begin(auth);
      for (const next of steps) {
        auth.clock.advance(1);
        await history.run(next.act);
      }
      for (const next of steps.slice(-2)) await history.look(next.look);
      await history.lookAround();
    });
    try {
      await fc.assert(property, { numRuns: HISTORIES });
    } finally {
      await auth[Symbol.asyncDispose]();
    }
  });
});

/** A world that is driven through the service and through the model. */
class History {
  readonly #auth: TestAuth;
  readonly #model = new AccessModel();
  readonly #root: Principal;
  readonly #users: Principal[] = [];
  /** Tenants with their owners; places beyond mean the personal space. */
  readonly #tenants: { readonly id: string; readonly owner: Principal }[] = [];
  readonly #refs = new Map<string, DatasetRef>();
  readonly #removed: DatasetRef[] = [];

  private constructor(auth: TestAuth, root: Principal) {
    this.#auth = auth;
    this.#root = root;
  }

  static async begin(auth: TestAuth): Promise<History> {
    const { root, ada, bob, eve, first, second, memberships, role, dataset } = await writeAccessWorld(auth.store);
    const history = new History(auth, root);
    for (const user of [ada, bob, eve]) history.#add(user);
    history.#tenants.push({ id: first, owner: ada }, { id: second, owner: bob });
    history.#refs.set(dataset.id, dataset);
    const { members, roleTenants, assigned, datasets, grants } = history.#model;
    for (const [user, tenant] of memberships) members.add(`${user}|${tenant}`);
    roleTenants.set(role.id, first);
    assigned.add(`${bob.id}|${role.id}`);
    datasets.set(dataset.id, first);
    history.#model.give(dataset.id, ada.id);
    for (const holder of [eve.id, role.id]) grants.add(`${dataset.id}|${holder}|read`);
    return history;
  }

  async run(act: Step['act']): Promise<void> {
    switch (act.kind) {
      case 'make':
        return this.#make(act);
      case 'unmake':
        return this.#unmake(act);
      case 'remake': {
        const ref = at([...this.#refs.values()], act.dataset);
        const owner = this.#users.findIndex(({ id }) => id === ref?.ownerId);
        if (ref === undefined || owner < 0) return;
        await this.#unmake({ kind: 'unmake', dataset: act.dataset, isLate: false });
        return this.#make({ kind: 'make', user: owner, name: ref.name });
      }
      case 'grant':
      case 'revoke':
        return this.#change(act);
      case 'join':
        return this.#join(act);
      case 'leave':
        return this.#leave(act);
      case 'rejoin':
        await this.#leave({ ...act, kind: 'leave' });
        await this.#join({ ...act, kind: 'join' });
        return this.#select({ ...act, kind: 'select' });
      case 'addRole':
        return this.#addRole(act);
      case 'removeRole':
        return this.#removeRole(act);
      case 'assign':
        return this.#assign(act);
      case 'withdraw':
        return this.#withdraw(act);
      case 'select':
        return this.#select(act);
      case 'addAgent':
        return this.#addAgent(act);
      case 'delete':
        return this.#delete(act);
    }
  }

  /** By id, of what lives or lived. */
  async look({ user: place, permission, dataset }: Step['look']): Promise<void> {
    const id = at([...this.#refs.keys(), ...this.#removed.map((ref) => ref.id)], dataset);
    if (id === undefined) return;
    const user = this.#user(place);
    const isAnswered = await succeeds(this.#resolve(user, { permission, ids: [id] }));
    expect(isAnswered, `${permission} by id`).to.equal(this.#model.may(user.id, permission, id));
  }

  /** Everybody's lists. */
  async lookAround(): Promise<void> {
    for (const user of this.#users) {
      await this.#lookAt(user, 'read');
      await this.#lookAt(user, 'share');
    }
  }

  async #lookAt(user: Principal, permission: Permission): Promise<void> {
    const { datasets } = await this.#resolve(user, { permission });
    const ids = datasets.map(({ id }) => id as string);
    expect(ids.toSorted(), `${permission} of all`).to.deep.equal(this.#model.reach(user.id, permission).toSorted());
  }

  async #make({ user: place, name }: Act<'make'>): Promise<void> {
    const user = this.#user(place);
    const context = { ...CALL, principal: this.#as(user) };
    const { dataset } = await this.#auth.messenger.call('auth.CreateDataset', { name }, context);
    if (this.#refs.has(dataset.id)) return;
    this.#refs.set(dataset.id, dataset);
    this.#model.datasets.set(dataset.id, dataset.tenant);
    for (const holder of new Set([user.id, user.parentId ?? user.id])) this.#model.give(dataset.id, holder);
  }

  async #unmake({ dataset: place, isLate }: Act<'unmake'>): Promise<void> {
    const ref = isLate ? at(this.#removed, place) : at([...this.#refs.values()], place);
    if (ref === undefined) return;
    const { removed } = await this.#auth.messenger.call('auth.RemoveDataset', { dataset: ref }, CALL);
    expect(removed).to.equal(!isLate);
    if (isLate) return;
    this.#refs.delete(ref.id);
    this.#removed.push(ref);
    this.#model.datasets.delete(ref.id);
    drop(this.#model.grants, ([dataset]) => dataset === ref.id);
  }

  async #change({ kind, user: place, dataset, holder, permission }: Act<'grant' | 'revoke'>): Promise<void> {
    const user = this.#user(place);
    const id = at([...this.#refs.keys()], dataset);
    const everybody = [...this.#users, ...this.#tenants].map((each) => each.id as string);
    const principalId = at([...everybody, ...this.#model.roleTenants.keys()], holder);
    if (id === undefined || principalId === undefined) return;
    const method = kind === 'grant' ? 'POST' : 'DELETE';
    const isDone = await this.#call(method, '/permissions/datasets/:principalId', user, {
      params: { principalId },
      query: { permission_name: permission },
      body: [id],
    });
    const isKnown =
      this.#model.knows(user.id, principalId) || (kind === 'revoke' && this.#model.holds(principalId, id));
    expect(isDone, kind).to.equal(this.#model.may(user.id, 'share', id) && isKnown);
    if (!isDone) return;
    const entry = `${id}|${principalId}|${permission}`;
    if (kind === 'grant') this.#model.grants.add(entry);
    else this.#model.grants.delete(entry);
  }

  async #join({ tenant: place, user: userPlace }: Act<'join'>): Promise<void> {
    const [tenant, user] = [this.#tenant(place), this.#user(userPlace)];
    const request = { params: { userId: user.id }, query: { tenant_id: tenant.id } };
    const isDone = await this.#call('POST', '/permissions/users/:userId/tenants', tenant.owner, request);
    expect(isDone, 'join').to.equal(!this.#model.members.has(`${user.id}|${tenant.id}`));
    this.#model.members.add(`${user.id}|${tenant.id}`);
  }

  async #leave({ tenant: place, user: userPlace }: Act<'leave'>): Promise<void> {
    const [{ id: tenant, owner }, user] = [this.#tenant(place), this.#user(userPlace)];
    const { members, assigned, roleTenants, grants, datasets, current } = this.#model;
    const request = { params: { tenantId: tenant, userId: user.id } };
    const isDone = await this.#call('DELETE', '/permissions/tenants/:tenantId/users/:userId', owner, request);
    expect(isDone, 'leave').to.equal(user.id !== owner.id && members.has(`${user.id}|${tenant}`));
    if (!isDone) return;
    const leaving = [user.id as string, ...this.#model.agentsOf(user.id)];
    for (const each of leaving) {
      members.delete(`${each}|${tenant}`);
      if (current.get(each) === tenant) current.set(each, PERSONAL_TENANT);
    }
    drop(assigned, ([who = '', role = '']) => leaving.includes(who) && roleTenants.get(role) === tenant);
    drop(grants, ([dataset = '', holder = '']) => leaving.includes(holder) && datasets.get(dataset) === tenant);
  }

  async #addRole({ tenant: place }: Act<'addRole'>): Promise<void> {
    const { id: tenant, owner } = this.#tenant(place);
    const request = { principal: { ...owner, tenant: asId<Principal['tenant']>(tenant) }, query: {} };
    const name = `role ${this.#model.roleTenants.size}`;
    const reply = await this.#auth
      .call('POST', '/api/v1/permissions/roles', { ...request, query: { role_name: name } })
      .catch(() => null);
    // A name may be in use after another role was removed.
    if (reply !== null) this.#model.roleTenants.set((reply.json as { readonly role_id: string }).role_id, tenant);
  }

  async #removeRole({ role: place }: Act<'removeRole'>): Promise<void> {
    const role = at([...this.#model.roleTenants.keys()], place);
    if (role === undefined) return;
    const isDone = await this.#call('DELETE', '/permissions/roles/:roleId', this.#ownerOf(role), {
      params: { roleId: role },
    });
    expect(isDone, 'removal of a role').to.equal(true);
    this.#model.roleTenants.delete(role);
    drop(this.#model.assigned, ([, each]) => each === role);
    drop(this.#model.grants, ([, holder]) => holder === role);
  }

  async #assign({ role: place, user: userPlace }: Act<'assign'>): Promise<void> {
    const role = at([...this.#model.roleTenants.keys()], place);
    if (role === undefined) return;
    const user = this.#user(userPlace);
    const request = { params: { userId: user.id }, query: { role_id: role } };
    const isDone = await this.#call('POST', '/permissions/users/:userId/roles', this.#ownerOf(role), request);
    const entry = `${user.id}|${role}`;
    const isMember = this.#model.members.has(`${user.id}|${this.#model.roleTenants.get(role)}`);
    expect(isDone, 'assignment').to.equal(isMember && !this.#model.assigned.has(entry));
    if (isDone) this.#model.assigned.add(entry);
  }

  async #withdraw({ role: place, user: userPlace }: Act<'withdraw'>): Promise<void> {
    const role = at([...this.#model.roleTenants.keys()], place);
    if (role === undefined) return;
    const user = this.#user(userPlace);
    const request = { params: { userId: user.id }, query: { role_id: role } };
    expect(await this.#call('DELETE', '/permissions/users/:userId/roles', this.#ownerOf(role), request)).to.equal(true);
    this.#model.assigned.delete(`${user.id}|${role}`);
  }

  async #select({ user: place, tenant: tenantPlace }: Act<'select'>): Promise<void> {
    const user = this.#user(place);
    const tenant =
      at([...this.#tenants.map(({ id }) => id), ...this.#tenants.map(({ id }) => id), null], tenantPlace) ?? null;
    const isDone = await this.#call('POST', '/permissions/tenants/select', user, { body: { tenant_id: tenant } });
    const target = tenant ?? PERSONAL_TENANT;
    const isThere = this.#model.current.get(user.id) === target;
    const isMember = tenant === null || this.#model.members.has(`${user.id}|${tenant}`);
    expect(isDone, 'switch').to.equal(isThere || isMember);
    if (isDone) this.#model.current.set(user.id, target);
  }

  async #addAgent({ user: place }: Act<'addAgent'>): Promise<void> {
    const user = this.#user(place);
    if (this.#users.length > 5) return;
    const name = `agent-${this.#model.parents.size}-${this.#users.length}`;
    const request = { principal: this.#as(user), query: { name } };
    const reply = await this.#auth.call('POST', '/api/v1/agents/create', request).catch(() => null);
    if (user.parentId !== null) expect(reply, 'an agent of an agent').to.equal(null);
    if (reply === null) return;
    const id = asId<Principal['id']>((reply.json as { readonly agentId: string }).agentId);
    this.#add({ ...user, id, email: `${name}@cognee.agent`, parentId: user.id });
    this.#model.current.set(id, this.#model.current.get(user.id) ?? PERSONAL_TENANT);
  }

  /** Deletes an account that owns no tenant: what it owned passes to a successor (decisions.md, "deleted owner"). */
  async #delete({ user: place }: Act<'delete'>): Promise<void> {
    const user = this.#user(place);
    const { parents, members, assigned, grants, agentsOf } = this.#model;
    if (this.#tenants.some(({ owner }) => owner.id === user.id)) return;
    const request = { params: { userId: user.id } };
    expect(await this.#call('DELETE', '/users/:userId', this.#root, request), 'deletion').to.equal(true);
    const gone = [...agentsOf(user.id), user.id as string];
    for (const ref of this.#refs.values()) if (gone.includes(ref.ownerId)) this.#passOn(ref, gone);
    drop(grants, ([, holder = '']) => gone.includes(holder));
    for (const relation of [members, assigned]) drop(relation, ([who = '']) => gone.includes(who));
    for (const id of gone) parents.delete(id);
    this.#users.splice(0, this.#users.length, ...this.#users.filter(({ id }) => !gone.includes(id)));
  }

  #passOn(ref: DatasetRef, gone: readonly string[]): void {
    const { parents, members } = this.#model;
    const parent = parents.get(ref.ownerId);
    const reaches = ref.tenant === PERSONAL_TENANT || members.has(`${parent}|${ref.tenant}`);
    const tenantOwner = this.#tenants.find(({ id }) => id === ref.tenant)?.owner.id;
    const successor =
      parent !== undefined && reaches && !gone.includes(parent) ? parent : (tenantOwner ?? this.#root.id);
    this.#model.give(ref.id, successor);
    this.#refs.set(ref.id, { ...ref, ownerId: asId(successor) });
  }

  #add(user: Principal): void {
    this.#users.push(user);
    this.#model.current.set(user.id, user.tenant);
    if (user.parentId !== null) this.#model.parents.set(user.id, user.parentId);
  }

  async #call(method: string, path: string, user: Principal, request: Parameters<TestAuth['call']>[2]) {
    return succeeds(this.#auth.call(method, `/api/v1${path}`, { ...request, principal: this.#as(user) }));
  }

  #resolve(user: Principal, request: RequestOf<'auth.ResolveDatasets'>) {
    return this.#auth.messenger.call('auth.ResolveDatasets', request, { ...CALL, principal: this.#as(user) });
  }

  /** As authentication would answer it now. */
  #as(user: Principal): Principal {
    return { ...user, tenant: asId(this.#model.current.get(user.id) ?? PERSONAL_TENANT) };
  }

  #user(place: number): Principal {
    return at(this.#users, place) ?? this.#root;
  }

  #tenant(place: number) {
    return this.#tenants[place % this.#tenants.length] as { readonly id: string; readonly owner: Principal };
  }

  #ownerOf(role: string): Principal {
    const tenant = this.#model.roleTenants.get(role);
    return this.#tenants.find(({ id }) => id === tenant)?.owner ?? this.#root;
  }
}

function at<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % items.length];
}

/** Refusals are part of the history; anything else is a fault. */
async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    const { status } = error as { readonly status?: number };
    if (status === undefined || status >= 500) throw error;
    return false;
  }
}
