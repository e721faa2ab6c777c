import { randomUUID, hash as sha } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { type AnyScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { managedResourcesCollection } from '../../common/records/auth/managed-resources.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createUsers } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { newApiKeyText } from '../credentials/api-key-text.ts';
import { createAuditRecords } from '../repositories/audit-records.ts';
import { createMemberships } from '../repositories/memberships.ts';
import { createTenantHosts } from '../repositories/tenant-hosts.ts';

/** A login-ready hash costs 60 ms: bcrypt of anything has the right form. */
const HASH = `$2b$04$${'a'.repeat(53)}`;

describe('tenants of resources', () => {
  let auth: TestAuth;
  beforeEach(async () => {
    auth = await startAuth();
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const declare = (change: Partial<RequestOf<'auth.EnsureTenant'>> = {}) =>
    auth.messenger.call(
      'auth.EnsureTenant',
      {
        crUid: 'cr-1',
        displayName: 'Acme Corp',
        ownerEmail: 'admin@acme.example.com',
        ownerPasswordHash: HASH,
        hostNames: [],
        state: 'Active' as const,
        ...change,
      },
      CALL,
    );
  const failure = (work: Promise<unknown>) =>
    work.then(() => null).catch((error: { wireName: string }) => error.wireName);
  const tenantOf = (id: TenantId) => createTenants(auth.store).get(id);
  const userOf = (id: UserId) => createUsers(auth.store).get(id);
  const setKeys = (
    tenantId: TenantId,
    texts: readonly string[],
    change: Partial<RequestOf<'auth.SetTenantKeys'>> = {},
  ) =>
    auth.messenger.call(
      'auth.SetTenantKeys',
      { tenantId, crUid: 'cr-1', name: 'default', keySha256: texts.map((text) => sha('sha256', text)), ...change },
      CALL,
    );
  const withKey = (value: string) => auth.authenticate({ kind: 'api-key', value });
  const unmanaged = async (owner: Principal): Promise<TenantId> => {
    const id = asId<TenantId>(randomUUID());
    const createdAt = auth.clock.now().toISOString();
    await auth.store.commit({ tenant: id }, [
      createTenants(auth.store).insertWrite({ id, name: 'before', ownerId: owner.id, createdAt }),
      createMemberships(auth.store).insertWrite(id, owner.id, createdAt),
    ]);
    return id;
  };
  const actions = async (tenant: TenantId) =>
    (await createAuditRecords(auth.store).range(tenant, 0, 1000)).map(({ action }) => action);

  it('are created once with a verified owner, however often they are declared', async () => {
    const first = await declare({ hostNames: ['Acme.Example.com.'] });
    expect(first).to.include({ created: true });
    expect(await declare({ hostNames: ['acme.example.com'] })).to.deep.equal({ ...first, created: false });
    expect(await tenantOf(first.tenantId)).to.include({ name: 'Acme Corp', state: 'Active', ownerId: first.ownerId });
    expect(await userOf(first.ownerId)).to.include({
      email: 'admin@acme.example.com',
      isVerified: true,
      isActive: true,
      isSuperuser: false,
      tenant: first.tenantId,
    });
    expect(await createMemberships(auth.store).has(first.tenantId, first.ownerId)).to.equal(true);
    expect(await createTenantHosts(auth.store).ofTenant(first.tenantId)).to.deep.equal(['acme.example.com']);
    expect(await actions(first.tenantId)).to.deep.equal(['tenant.created']);
    expect((await auth.events()).filter((type) => type === 'tenant.created')).to.have.length(1);
  });

  it('are created once when two replicas of the operator declare them at the same time', async () => {
    await declare({ crUid: 'another', ownerEmail: 'admin@acme.example.com' });
    const answers = await Promise.all([declare(), declare(), declare()]);
    expect(new Set(answers.map(({ tenantId }) => tenantId)).size).to.equal(1);
    expect(answers.filter(({ created }) => created)).to.have.length(1);
  });

  describe('when the owner’s account changes during the commit', () => {
    let meddle: (() => Promise<void>) | null;
    let tries: number;
    beforeEach(async () => {
      const store = createMemoryDocumentStore();
      const commit = store.commit.bind(store);
      [meddle, tries] = [null, 0];
      const meddled = async (scope: AnyScope, writes: readonly Write[]) => {
        const isDeclaration = writes.some(({ collection }) => collection.name === managedResourcesCollection.name);
        if (!isDeclaration) return commit(scope, writes);
        tries += 1;
        if (tries > 5) throw new Error('It is tried for ever.');
        const change = meddle;
        meddle = null;
        await change?.();
        return commit(scope, writes);
      };
      await auth[Symbol.asyncDispose]();
      auth = await startAuth({ store: Object.assign(store, { commit: meddled }) });
    });
    const change = async (email: string, fields: { readonly keysMade?: number; readonly isActive?: boolean }) => {
      const user = await createUsers(auth.store).findByEmail(email);
      if (user === null) throw new Error(`no account of ${email}`);
      await auth.store.commit(SYSTEM_SCOPE, [createUsers(auth.store).replaceWrite({ ...user, ...fields })]);
    };

    it('are created with a new account that works in them', async () => {
      meddle = () => change('admin@acme.example.com', { keysMade: 3 });
      const { created, ownerId, tenantId } = await declare();
      expect(created).to.equal(true);
      expect(await userOf(ownerId)).to.include({ tenant: tenantId, keysMade: 3 });
    });

    it('are refused when the account is deactivated', async () => {
      const { tenantId, ownerId } = await declare();
      const successor = await auth.addUser({ email: 'successor@acme.example.com', isVerified: true });
      meddle = () => change(successor.email, { isActive: false });
      expect(await failure(declare({ ownerEmail: successor.email }))).to.equal('ConflictError');
      expect((await tenantOf(tenantId))?.ownerId).to.equal(ownerId);
    });
  });

  it('are corrected to the declaration, and the answer names the corrections', async () => {
    const { tenantId } = await declare({ hostNames: ['a.example.com'] });
    await auth.store.commit({ tenant: tenantId }, [createTenants(auth.store).changeWrite(tenantId, { name: 'other' })]);
    const next = await declare({
      hostNames: ['b.example.com'],
      state: 'Disabled',
      ownerEmail: 'next@acme.example.com',
    });
    expect(next.corrected).to.deep.equal(['host_names', 'name', 'owner', 'state']);
    expect(await tenantOf(tenantId)).to.include({ name: 'Acme Corp', state: 'Disabled', ownerId: next.ownerId });
    expect(await createTenantHosts(auth.store).ofTenant(tenantId)).to.deep.equal(['b.example.com']);
    expect(
      (await declare({ hostNames: ['b.example.com'], state: 'Disabled', ownerEmail: 'next@acme.example.com' }))
        .corrected,
    ).to.deep.equal([]);
    expect(await actions(tenantId)).to.deep.equal(['tenant.created', 'tenant.changed', 'membership.added']);
  });

  it('get an existing account as owner only if its address is verified', async () => {
    const claimed = await auth.addUser({ email: 'admin@acme.example.com', isVerified: false });
    expect(await failure(declare())).to.equal('OwnerUnverified');
    const proved = await auth.addUser({ email: 'other@acme.example.com', isVerified: true });
    const { ownerId } = await declare({ ownerEmail: 'other@acme.example.com' });
    expect(ownerId).to.equal(proved.id);
    expect(await userOf(proved.id)).to.include({ passwordHash: '!', tenant: PERSONAL_TENANT });
    expect(await userOf(claimed.id)).to.include({ isVerified: false });
  });

  it('refuse reserved addresses, accounts without a password and invalid host names', async () => {
    for (const ownerEmail of ['bot@cognee.agent', 'default_user@example.com', 'admin@acme.test', 'nobody']) {
      expect(await failure(declare({ ownerEmail })), ownerEmail).to.equal('InvalidRequestError');
    }
    for (const hostName of ['localhost', '10.0.0.1', 'a b.example.com', 'x.example.com:80', '*.example.com', '']) {
      expect(await failure(declare({ hostNames: [hostName] })), hostName).to.equal('InvalidRequestError');
    }
    const { ownerPasswordHash: _, ...rest } = { crUid: 'cr-2', displayName: 'x', ownerPasswordHash: HASH };
    const bare = { ...rest, ownerEmail: 'new@acme.example.com', hostNames: [], state: 'Active' as const };
    expect(await failure(auth.messenger.call('auth.EnsureTenant', bare, CALL))).to.equal('InvalidRequestError');
    expect(await failure(declare({ ownerPasswordHash: 'plain text' }))).to.equal('InvalidRequestError');
    // Nothing is left of what was refused.
    expect(await createUsers(auth.store).findByEmail('admin@acme.example.com')).to.equal(null);
    expect(await auth.events()).to.deep.equal([]);
  });

  it('let their owner sign in with the declared password', async () => {
    const { ownerPasswordHash: _, ...rest } = { crUid: 'cr-1', displayName: 'x', ownerPasswordHash: HASH };
    const request = { ...rest, ownerEmail: 'admin@acme.example.com', ownerPassword: 'a good one' };
    await auth.messenger.call('auth.EnsureTenant', { ...request, hostNames: [], state: 'Active' }, CALL);
    const body = { username: 'admin@acme.example.com', password: 'a good one' };
    expect((await auth.call('POST', '/api/v1/auth/login', { body })).status ?? 200).to.equal(200);
  });

  it('have host names that no other tenant has', async () => {
    await declare({ hostNames: ['acme.example.com'] });
    const other = { crUid: 'cr-2', ownerEmail: 'b@acme.example.com' };
    expect(await failure(declare({ ...other, hostNames: ['ACME.example.com'] }))).to.equal('HostnameConflict');
    expect(await createUsers(auth.store).findByEmail('b@acme.example.com')).to.equal(null);
    await declare({ hostNames: [] });
    expect((await declare({ ...other, hostNames: ['acme.example.com'] })).created).to.equal(true);
  });

  it('adopt an unmanaged tenant when they are trusted, and no managed or missing one', async () => {
    const owner = await auth.addUser({ email: 'owner@acme.example.com' });
    const tenantId = await unmanaged(owner);
    const trusted = { adoptsAny: true, ownerEmail: 'owner@acme.example.com' };
    const adopted = await declare({ ...trusted, tenantId: tenantId.toUpperCase() });
    expect(adopted).to.deep.include({ tenantId, ownerId: owner.id, created: false, corrected: ['adopted', 'name'] });
    const other = { crUid: 'cr-2', ownerEmail: 'owner@acme.example.com' };
    expect(await failure(declare({ ...other, tenantId }))).to.equal('OwnedByAnother');
    expect(await failure(declare({ ...other, tenantId: randomUUID() }))).to.equal('TenantNotFoundError');
    expect(await failure(declare({ ...other, tenantId: 'personal' }))).to.equal('TenantNotFoundError');
    expect(await failure(declare({ tenantId: randomUUID() }))).to.equal('InvalidRequestError');
  });

  it('adopt only a tenant that the same resource released when they are not trusted', async () => {
    const owner = await auth.addUser({ email: 'owner@acme.example.com' });
    const wanted = { tenantId: await unmanaged(owner), ownerEmail: 'owner@acme.example.com' };
    const acme = { ...wanted, resource: 'memory/acme' };
    expect(await failure(declare(wanted))).to.equal('AdoptionNotAllowed');
    expect(await failure(declare(acme))).to.equal('AdoptionNotAllowed');
    await declare({ ...acme, adoptsAny: true });
    const released = { tenantId: wanted.tenantId, crUid: 'cr-1', resource: 'memory/acme' };
    await auth.messenger.call('auth.ReleaseTenant', released, CALL);
    expect(await failure(declare({ ...acme, crUid: 'cr-2', resource: 'other/acme' }))).to.equal('AdoptionNotAllowed');
    expect(await failure(declare({ ...wanted, crUid: 'cr-2' }))).to.equal('AdoptionNotAllowed');
    expect((await declare({ ...acme, crUid: 'cr-2' })).corrected).to.deep.equal(['adopted']);
    // Managed by now, it goes on wherever it stands.
    expect((await declare({ ...wanted, crUid: 'cr-2' })).created).to.equal(false);
  });

  it('are released with all their data, and can be adopted again', async () => {
    const { tenantId } = await declare();
    const text = newApiKeyText();
    await setKeys(tenantId, [text]);
    const resource = 'memory/acme';
    const release = (crUid: string) => auth.messenger.call('auth.ReleaseTenant', { tenantId, crUid, resource }, CALL);
    expect(await release('cr-2')).to.deep.equal({ released: false });
    expect(await release('cr-1')).to.deep.equal({ released: true });
    expect(await release('cr-1')).to.deep.equal({ released: false });
    expect((await withKey(text))?.tenant).to.equal(tenantId);
    expect(await failure(setKeys(tenantId, []))).to.equal('OwnedByAnother');
    expect((await declare({ crUid: 'cr-2', tenantId, resource })).corrected).to.deep.equal(['adopted']);
  });

  describe('keys', () => {
    it('are exactly the declared ones, two at a time during a rotation', async () => {
      const { tenantId, ownerId } = await declare();
      const [old, next] = [newApiKeyText(), newApiKeyText()];
      expect(await setKeys(tenantId, [old])).to.deep.equal({ added: 1, removed: 0 });
      expect(await setKeys(tenantId, [old])).to.deep.equal({ added: 0, removed: 0 });
      expect(await setKeys(tenantId, [old, next])).to.deep.equal({ added: 1, removed: 0 });
      for (const text of [old, next]) expect(await withKey(text)).to.include({ id: ownerId, tenant: tenantId });
      expect(await setKeys(tenantId, [next])).to.deep.equal({ added: 0, removed: 1 });
      expect(await withKey(old)).to.equal(null);
      expect((await withKey(next))?.key).to.include({ tenant: tenantId });
      expect((await actions(tenantId)).filter((action) => action.startsWith('key.'))).to.have.length(3);
    });

    it('do not affect keys of another name', async () => {
      const { tenantId } = await declare();
      const [one, two] = [newApiKeyText(), newApiKeyText()];
      await setKeys(tenantId, [one]);
      await setKeys(tenantId, [two], { name: 'second' });
      await setKeys(tenantId, []);
      expect([await withKey(one), (await withKey(two))?.tenant]).to.deep.equal([null, tenantId]);
      expect(await failure(setKeys(tenantId, [two]))).to.equal('ConflictError');
    });

    it('act in their tenant only, and never as a superuser', async () => {
      const boss = await auth.addUser({ email: 'boss@acme.example.com', isVerified: true, isSuperuser: true });
      const { tenantId } = await declare({ ownerEmail: 'boss@acme.example.com' });
      const text = newApiKeyText();
      await setKeys(tenantId, [text]);
      const principal = await withKey(text);
      expect(principal).to.include({ id: boss.id, tenant: tenantId, isSuperuser: false });
      const context = { ...CALL, principal: principal ?? boss };
      const { dataset } = await auth.messenger.call('auth.CreateDataset', { name: 'one' }, context);
      expect(dataset.tenant).to.equal(tenantId);
      expect((await auth.call('GET', '/api/v1/auth/api-keys', { principal: boss })).json).to.deep.equal([]);
    });

    it('do not see connections that their owner registers elsewhere', async () => {
      const { tenantId } = await declare();
      const text = newApiKeyText();
      await setKeys(tenantId, [text]);
      const byKey = await withKey(text);
      if (byKey === null) throw new Error('the key is refused');
      const { key: _, ...owner } = { ...byKey, tenant: PERSONAL_TENANT };
      const register = (principal: Principal, source: string) =>
        auth.call('POST', '/api/v1/agents/register', {
          principal,
          body: { agent_session_name: 's', metadata: { source } },
        });
      const own = (principal: Principal, query = {}) =>
        auth
          .call('GET', '/api/v1/agents/connections/me', { principal, query })
          .then(({ json }) => (json as { agent: { metadata: object } }).agent.metadata)
          .catch((error: { status: number }) => error.status);
      await register(owner, 'home');
      for (const query of [{}, { agent_session_name: 's' }]) expect(await own(byKey, query)).to.equal(404);
      await register(byKey, 'tenant');
      expect(await own(byKey, { agent_session_name: 's' })).to.deep.equal({ source: 'tenant' });
      expect(await own(owner, { agent_session_name: 's' })).to.deep.equal({ source: 'home' });
    });

    it('act as the current owner of the tenant', async () => {
      const { tenantId } = await declare();
      const text = newApiKeyText();
      await setKeys(tenantId, [text]);
      await withKey(text);
      const { ownerId } = await declare({ ownerEmail: 'next@acme.example.com' });
      expect((await withKey(text))?.id).to.equal(ownerId);
    });

    it('of a job are valid for the owner in the tenant only, until they are removed', async () => {
      const { tenantId, ownerId } = await declare();
      const text = newApiKeyText();
      await setKeys(tenantId, [text]);
      const key = (await withKey(text))?.key?.id ?? '';
      const ask = async (userId: string, tenant: string) =>
        (await auth.messenger.call('auth.GetPrincipal', { userId, tenant, key }, CALL)).principal;
      expect(await ask(ownerId, tenantId)).to.include({ id: ownerId, tenant: tenantId, isSuperuser: false });
      expect(await ask(ownerId, 'personal')).to.equal(null);
      const stranger = await auth.addUser();
      expect(await ask(stranger.id, tenantId)).to.equal(null);
      await setKeys(tenantId, []);
      expect(await ask(ownerId, tenantId)).to.equal(null);
    });

    it('are refused unless they are SHA-256 hashes for a managed tenant', async () => {
      const { tenantId } = await declare();
      expect(await failure(setKeys(tenantId, [], { keySha256: ['abc'] }))).to.equal('InvalidRequestError');
      expect(await failure(setKeys(tenantId, [], { crUid: 'cr-2' }))).to.equal('OwnedByAnother');
      expect(await failure(setKeys(asId(randomUUID()), []))).to.equal('TenantNotFoundError');
    });
  });

  it('start no jobs while they are disabled, and finish those that run when they are hibernated', async () => {
    const { tenantId, ownerId } = await declare();
    const ask = async () =>
      (await auth.messenger.call('auth.GetPrincipal', { userId: ownerId, tenant: tenantId }, CALL)).principal?.id;
    await declare({ state: 'Hibernated' });
    expect(await ask()).to.equal(ownerId);
    await declare({ state: 'Disabled' });
    expect(await ask()).to.equal(undefined);
    await declare({ state: 'Active' });
    expect(await ask()).to.equal(ownerId);
  });
});
