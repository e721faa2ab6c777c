import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type OidcWorld, type OidcWorldOptions, startOidcWorld } from '../../../test/support/oidc-world.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createUsers, type User } from '../../common/records/auth/users.ts';
import { createLinkedIdentities } from '../repositories/linked-identities.ts';
import { createMemberships } from '../repositories/memberships.ts';
import { createRoleMembers } from '../repositories/role-members.ts';
import { createRoles } from '../repositories/roles.ts';

const TENANT = asId<TenantId>(randomUUID());

interface Answer {
  readonly status: number;
  readonly detail: string;
  /** The account, when signed in. */
  readonly user: User | null;
}

async function signInAs(world: OidcWorld, subject: string, claims: Record<string, unknown>): Promise<Answer> {
  world.issuer.person = { subject, claims };
  const { response } = await world.signIn();
  const { detail = '', access_token: token } = (await response.json()) as { detail?: string; access_token?: string };
  if (token === undefined) return { status: response.status, detail, user: null };
  const principal = await world.auth.authenticate({ kind: 'bearer', value: token });
  const user = principal === null ? null : await createUsers(world.auth.store).get(principal.id);
  return { status: response.status, detail, user };
}

function verified(email: string, more: Record<string, unknown> = {}) {
  return { email, email_verified: true, ...more };
}

async function addTenant({ auth }: OidcWorld): Promise<UserId> {
  const { id } = await auth.addUser();
  const createdAt = auth.clock.now().toISOString();
  await auth.store.commit({ tenant: PERSONAL_TENANT }, [
    createTenants(auth.store).insertWrite({ id: TENANT, name: 'acme', ownerId: id, createdAt }),
    createMemberships(auth.store).insertWrite(TENANT, id, createdAt),
  ]);
  return id;
}

async function rolesOf({ auth: { store } }: OidcWorld, user: UserId | undefined): Promise<readonly string[]> {
  const ids = user === undefined ? [] : await createRoleMembers(store).rolesOf(user, TENANT);
  return (await createRoles(store).getMany(ids)).map(({ name }) => name).sort();
}

async function change({ auth: { store } }: OidcWorld, id: UserId, changes: Partial<User>): Promise<void> {
  const users = createUsers(store);
  const user = await users.get(id);
  if (user === null) throw new Error('no such user');
  await store.commit({ tenant: PERSONAL_TENANT }, [users.replaceWrite({ ...user, ...changes })]);
}

describe('the account of an identity', () => {
  let world: OidcWorld;
  const start = async (options: OidcWorldOptions = {}) => {
    world = await startOidcWorld(options);
  };
  afterEach(() => world[Symbol.asyncDispose]());

  it('links the account with the address when both the provider and the account have verified it', async () => {
    await start({ provider: { provision: false } });
    const owner = await world.auth.addUser({ email: 'ada@example.com', isVerified: true });
    const { user } = await signInAs(world, 'ada', verified('ADA@example.com'));
    expect(user?.id).to.equal(owner.id);
    const changed = (await world.audit()).find(({ action }) => action === 'user.changed');
    expect(changed?.subject).to.equal(owner.id);
    expect(changed?.details).to.include(world.issuer.url);
  });

  it('does not link an account that was registered with an unverified address', async () => {
    await start();
    const squatter = await world.auth.addUser({ email: 'ada@example.com', isVerified: false });
    const { status, detail } = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(status).to.equal(409);
    expect(detail).to.include('it is not verified');
    expect(await createLinkedIdentities(world.auth.store).ofUser(squatter.id)).to.deep.equal([]);
    await change(world, squatter.id, { isVerified: true });
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).user?.id).to.equal(squatter.id);
  });

  it('does not link an account that a directory claimed in any tenant, but one of the provider’s tenant', async () => {
    await start({ provider: { tenant: TENANT } });
    const made = { userName: 'ada@example.com', active: true };
    const provision = async (owner: Principal) =>
      world.auth.call('POST', '/scim/v2/Users', { principal: owner, body: made });
    const mallory = await world.auth.addUser();
    await world.auth.call('POST', '/api/v1/permissions/tenants', { principal: mallory, query: { tenant_name: 'm' } });
    const [own] = await createMemberships(world.auth.store).tenantsOf(mallory.id);
    expect((await provision({ ...mallory, tenant: own ?? TENANT })).status).to.equal(201);
    const trapped = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(trapped.status).to.equal(409);
    const squatted = await createUsers(world.auth.store).findByEmail('ada@example.com');
    await world.auth.call('DELETE', '/scim/v2/Users/:id', {
      principal: { ...mallory, tenant: own ?? TENANT },
      params: { id: squatted?.id ?? '' },
    });
    const id = await addTenant(world);
    const owner = await createUsers(world.auth.store).get(id);
    await provision({ ...mallory, id, email: owner?.email ?? '', tenant: TENANT });
    const { user } = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(user).to.include({ tenant: TENANT, isVerified: true });
  });

  it('does not link an account whose address only looks like the verified one', async () => {
    await start();
    const owner = await world.auth.addUser({ email: 'fiona@example.com', isVerified: true });
    const { status, detail } = await signInAs(world, 'eve', verified('\ufb01ona@example.com'));
    expect(status).to.equal(409);
    expect(detail).to.include('looks like yours');
    expect(await createLinkedIdentities(world.auth.store).ofUser(owner.id)).to.deep.equal([]);
  });

  it('refuses an identity whose address the provider has not verified', async () => {
    await start();
    await world.auth.addUser({ email: 'ada@example.com', isVerified: true });
    const doubts = [{ email: 'ada@example.com' }, { email: 'ada@example.com', email_verified: false }];
    for (const claims of [...doubts, { email: 'ada@example.com', email_verified: 1 }, { email_verified: true }, {}]) {
      expect((await signInAs(world, 'eve', claims)).status, JSON.stringify(claims)).to.equal(403);
    }
  });

  it('does not give the account to another person who got the address', async () => {
    await start();
    const first = await signInAs(world, 'jane-1', verified('jane@example.com'));
    expect(first.status).to.equal(200);
    const second = await signInAs(world, 'jane-2', verified('jane@example.com'));
    expect(second.status).to.equal(409);
    expect(second.detail).to.include('belongs to another person');
  });

  it('creates an account only where that is configured, and never for a reserved address or another domain', async () => {
    await start({ provider: { provision: false } });
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).status).to.equal(403);
    await world[Symbol.asyncDispose]();
    await start({ provider: { emailDomains: ['example.com', 'cognee.agent'] } });
    for (const email of ['default_user@example.com', 'x@cognee.agent', 'ada@example.org', 'ada@sub.example.com']) {
      expect((await signInAs(world, 'ada', verified(email))).status, email).to.equal(403);
    }
    expect((await signInAs(world, 'ada', verified('ada@Example.com'))).status).to.equal(200);
    expect((await world.auth.events()).filter((type) => type === 'user.registered')).to.have.length(1);
  });

  it('creates one account for concurrent sign-ins', async () => {
    await start();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => signInAs(world, 'ada', verified('ada@example.com'))),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ user }) => user?.id)).size).to.equal(1);
  });

  it('refuses a deactivated account, linked or not, and ends its open sessions', async () => {
    await start();
    const { user } = await signInAs(world, 'ada', verified('ada@example.com'));
    const { response } = await world.signIn();
    const { access_token: token = '' } = (await response.json()) as { access_token?: string };
    await change(world, user?.id as UserId, { isActive: false });
    world.auth.clock.advance(1_001);
    expect((await world.me(token)).status).to.equal(401);
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).status).to.equal(403);
    await world.auth.addUser({ email: 'bob@example.com', isVerified: true, isActive: false });
    expect((await signInAs(world, 'bob', verified('bob@example.com'))).status).to.equal(403);
  });

  it('adds the user to the provider’s tenant once, and switches to it', async () => {
    await start({ provider: { tenant: TENANT } });
    await addTenant(world);
    const { user } = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(user?.tenant).to.equal(TENANT);
    const memberships = createMemberships(world.auth.store);
    const id = user?.id as UserId;
    expect(await memberships.has(TENANT, id)).to.equal(true);
    await world.auth.store.commit({ tenant: TENANT }, [memberships.removeWrite(TENANT, id)]);
    await change(world, id, { tenant: PERSONAL_TENANT });
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).user?.tenant).to.equal(PERSONAL_TENANT);
    expect(await memberships.has(TENANT, id)).to.equal(false);
  });

  it('keeps a user with a password in the personal space, as a member of the provider’s tenant', async () => {
    await start({ provider: { tenant: TENANT } });
    await addTenant(world);
    const flags = { isVerified: true, passwordHash: '$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA' };
    const owner = await world.auth.addUser({ email: 'ada@example.com', ...flags });
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).user?.tenant).to.equal(PERSONAL_TENANT);
    expect(await createMemberships(world.auth.store).has(TENANT, owner.id)).to.equal(true);
  });

  it('answers 503 when the configured tenant does not exist', async () => {
    await start({ provider: { tenant: TENANT } });
    const { status, detail } = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(status).to.equal(503);
    expect(detail).to.include('tenant of Corp does not exist');
    await addTenant(world);
    expect((await signInAs(world, 'ada', verified('ada@example.com'))).user?.tenant).to.equal(TENANT);
  });

  for (const claimsInIdToken of [true, false]) {
    it(`assigns the roles that claims map to (${claimsInIdToken ? 'ID token' : 'user info'}), and keeps others`, async () => {
      const values = { staff: 'reader', 'staff-admins': 'admin', crew: 'reader' };
      await start({ claimsInIdToken, provider: { tenant: TENANT, roles: { claim: 'groups', values } } });
      await addTenant(world);
      const as = (groups: unknown) => signInAs(world, 'ada', verified('ada@example.com', { groups }));
      const { user } = await as(['staff', 'unmapped']);
      expect(await rolesOf(world, user?.id)).to.deep.equal(['reader']);
      const { store } = world.auth;
      const own = { id: asId<never>(randomUUID()), tenant: TENANT, name: 'by hand', createdAt: '2026-01-01T00:00:00Z' };
      const roles = [
        createRoles(store).insertWrite(own),
        createRoleMembers(store).insertWrite(own, user?.id as UserId),
      ];
      await store.commit({ tenant: TENANT }, roles);
      await as(['staff-admins', 'crew']);
      expect(await rolesOf(world, user?.id)).to.deep.equal(['admin', 'by hand', 'reader']);
      await as('staff-admins');
      expect(await rolesOf(world, user?.id)).to.deep.equal(['admin', 'by hand']);
      await as(undefined);
      expect(await rolesOf(world, user?.id)).to.deep.equal(['by hand']);
      const log = (await world.audit()).map(({ action }) => action);
      expect(log.filter((action) => action === 'role_member.added')).to.have.length(2);
      expect(log.filter((action) => action === 'role_member.removed')).to.have.length(2);
    });
  }

  it('removes the link with the account', async () => {
    await start();
    const { user } = await signInAs(world, 'ada', verified('ada@example.com'));
    const links = createLinkedIdentities(world.auth.store);
    expect(await links.ofUser(user?.id as UserId)).to.have.length(1);
    const superuser = await world.auth.addUser({ isSuperuser: true });
    await world.auth.call('DELETE', '/api/v1/users/:userId', {
      params: { userId: user?.id ?? '' },
      principal: superuser,
    });
    expect(await links.ofUser(user?.id as UserId)).to.deep.equal([]);
    const again = await signInAs(world, 'ada', verified('ada@example.com'));
    expect(again.user?.id).to.be.a('string').and.not.equal(user?.id);
  });
});
