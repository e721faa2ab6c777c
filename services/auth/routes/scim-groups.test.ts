import { expect } from 'chai';
import { type AuthHttp, type Person, startAuthHttp } from '../../../test/support/auth-http.ts';
import type { RoleId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { createAuditRecords } from '../repositories/audit-records.ts';
import { createCapabilityGrants } from '../repositories/capability-grants.ts';
import { createRoles } from '../repositories/roles.ts';

type Body = Readonly<Record<string, unknown>>;

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchOf = (...Operations: readonly unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});

describe('SCIM groups', () => {
  let http: AuthHttp;
  let owner: Person;
  let tenant: TenantId;
  let [ada, bob]: readonly string[] = [];

  beforeEach(async () => {
    http = await startAuthHttp();
    ({ tenant, ...owner } = await http.addTenant());
    [ada, bob] = await Promise.all([addMember('ada@example.com'), addMember('bob@example.com')]);
  });
  afterEach(() => http[Symbol.asyncDispose]());

  async function addMember(email: string): Promise<string> {
    const { body } = await scim('POST', '/Users', { userName: email });
    return String(body['id']);
  }
  async function scim(method: string, path: string, body?: unknown, by: Person = owner) {
    const response = await http.request(by, method, `/scim/v2${path}`, body, 'application/scim+json');
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Body) };
  }
  const create = async (displayName: string, ...members: readonly (string | undefined)[]): Promise<string> => {
    const sent = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) };
    const { status, body } = await scim('POST', '/Groups', sent);
    expect(status, JSON.stringify(body)).to.equal(201);
    return String(body['id']);
  };
  const membersOf = ({ members }: Body) =>
    (members as readonly { value: string }[]).map(({ value }) => value).toSorted();
  const sorted = (...ids: readonly (string | undefined)[]) => ids.map(String).toSorted();

  it('are roles of the tenant with their members', async () => {
    const sent = { schemas: [GROUP], externalId: '8aa1a0c0', displayName: 'Engineers', members: [{ value: ada }] };
    const { status, body } = await scim('POST', '/Groups', sent);
    expect(status).to.equal(201);
    expect(body).to.deep.include({ schemas: [GROUP], displayName: 'Engineers', externalId: '8aa1a0c0' });
    expect(body['members']).to.deep.equal([
      { value: ada, display: 'ada@example.com', type: 'User', $ref: `/scim/v2/Users/${ada}` },
    ]);
    const role = await createRoles(http.auth.store).findByName(tenant, 'Engineers');
    expect(role?.id).to.equal(body['id']);
    const person = (await scim('GET', `/Users/${ada}`)).body;
    expect(person['groups']).to.deep.equal([
      { value: body['id'], display: 'Engineers', $ref: `/scim/v2/Groups/${String(body['id'])}` },
    ]);
    const found = await scim(
      'GET',
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "engineers"')}`,
    );
    expect(found.body['totalResults']).to.equal(1);
    expect((found.body['Resources'] as readonly Body[])[0])
      .to.include({ id: body['id'] })
      .and.not.to.have.property('members');
    const byMember = await scim('GET', `/Groups?filter=${encodeURIComponent(`members[value eq "${ada}"]`)}`);
    expect(byMember.body['totalResults']).to.equal(1);
  });

  it('change their members as Entra and Okta do it', async () => {
    const id = await create('Engineers');
    const path = `/Groups/${id}`;
    const entraAdd = patchOf({ op: 'Add', path: 'members', value: [{ value: ada }] });
    expect(membersOf((await scim('PATCH', path, entraAdd)).body)).to.deep.equal(sorted(ada));
    expect((await scim('PATCH', path, entraAdd)).status, 'once more').to.equal(200);
    const oktaAdd = patchOf({ op: 'add', path: 'members', value: [{ value: bob, display: 'bob@example.com' }] });
    expect(membersOf((await scim('PATCH', path, oktaAdd)).body)).to.deep.equal(sorted(ada, bob));
    const oktaRemove = patchOf({ op: 'remove', path: `members[value eq "${ada}"]` });
    expect(membersOf((await scim('PATCH', path, oktaRemove)).body)).to.deep.equal(sorted(bob));
    const entraRemove = patchOf({ op: 'Remove', path: 'members', value: [{ value: bob }] });
    expect(membersOf((await scim('PATCH', path, entraRemove)).body)).to.deep.equal([]);
    const oktaReplace = patchOf({ op: 'replace', path: 'members', value: [{ value: bob }, { value: ada }] });
    expect(membersOf((await scim('PATCH', path, oktaReplace)).body)).to.deep.equal(sorted(ada, bob));
    const put = { schemas: [GROUP], id, displayName: 'Engineers', members: [{ value: ada, display: 'ada' }] };
    expect(membersOf((await scim('PUT', path, put)).body)).to.deep.equal(sorted(ada));
    const rename = patchOf({ op: 'replace', value: { id, displayName: 'Builders' } });
    const renamed = (await scim('PATCH', path, rename)).body;
    expect(renamed).to.include({ displayName: 'Builders' });
    expect(membersOf(renamed)).to.deep.equal(sorted(ada));
  });

  it('refuse members from outside the tenant, without effect', async () => {
    const stranger = await http.addPerson();
    const id = await create('Engineers', ada);
    for (const value of [stranger.principal.id, 'nonsense', id]) {
      const change = patchOf(
        { op: 'replace', path: 'displayName', value: 'Others' },
        { op: 'add', path: 'members', value: [{ value }] },
      );
      expect((await scim('PATCH', `/Groups/${id}`, change)).body).to.include({
        status: '400',
        scimType: 'invalidValue',
      });
      const sent = { displayName: `With ${value}`, members: [{ value }] };
      expect((await scim('POST', '/Groups', sent)).status).to.equal(400);
    }
    const { body } = await scim('GET', '/Groups');
    expect((body['Resources'] as readonly Body[]).map(({ displayName }) => displayName)).to.deep.equal(['Engineers']);
  });

  it('have unique names, also for concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => scim('POST', '/Groups', { displayName: 'Engineers' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).to.include({ scimType: 'uniqueness' });
    const other = await create('Others');
    const rename = patchOf({ op: 'replace', path: 'displayName', value: 'Engineers' });
    expect((await scim('PATCH', `/Groups/${other}`, rename)).status).to.equal(409);
  });

  it('named admin cannot be created or changed', async () => {
    expect((await scim('POST', '/Groups', { displayName: ' admin ' })).body).to.include({ status: '403' });
    const id = await create('Engineers');
    const rename = patchOf({ op: 'replace', path: 'displayName', value: 'admin' });
    expect((await scim('PATCH', `/Groups/${id}`, rename)).status).to.equal(403);
    const role = asId<RoleId>('00000000-0000-4000-8000-00000000000a');
    const createdAt = '2026-01-01T00:00:00.000Z';
    await http.auth.store.commit({ tenant }, [
      createRoles(http.auth.store).insertWrite({ id: role, tenant, name: 'admin', createdAt }),
    ]);
    const join = patchOf({ op: 'add', path: 'members', value: [{ value: ada }] });
    expect((await scim('PATCH', `/Groups/${role}`, join)).status).to.equal(403);
    expect((await scim('DELETE', `/Groups/${role}`)).status).to.equal(403);
  });

  it('give no capabilities that the caller lacks', async () => {
    const capabilities = createCapabilityGrants(http.auth.store);
    const id = await create('Granters');
    const manager = await http.addPerson({ tenant });
    await http.join(tenant, manager);
    const createdAt = '2026-01-01T00:00:00.000Z';
    const by = owner.principal.id;
    await http.auth.store.commit({ tenant }, [
      capabilities.insertWrite({ holder: asId<RoleId>(id), capability: 'grant_capabilities' }, by, createdAt),
      capabilities.insertWrite({ holder: manager.principal.id, capability: 'manage_users' }, by, createdAt),
    ]);
    const join = patchOf({ op: 'add', path: 'members', value: [{ value: manager.principal.id }] });
    expect((await scim('PATCH', `/Groups/${id}`, join, manager)).status).to.equal(403);
    expect((await scim('PATCH', `/Groups/${id}`, join)).status).to.equal(200);
  });

  it('do not exist for another tenant, and lose their members when they are deleted', async () => {
    const other = await http.addTenant('other');
    const id = await create('Engineers', ada);
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { displayName: 'x' }],
      ['PATCH', patchOf({ op: 'replace', path: 'displayName', value: 'x' })],
      ['DELETE', undefined],
    ] as const) {
      expect((await scim(method, `/Groups/${id}`, body, other)).status, method).to.equal(404);
    }
    expect((await scim('GET', '/Groups', undefined, other)).body['totalResults']).to.equal(0);
    expect((await scim('DELETE', `/Groups/${id}`)).status).to.equal(204);
    expect((await scim('DELETE', `/Groups/${id}`)).status).to.equal(404);
    expect((await scim('GET', `/Users/${ada}`)).body['groups']).to.deep.equal([]);
  });

  it('are audited in the log of the tenant', async () => {
    const id = await create('Engineers', ada);
    await scim('PATCH', `/Groups/${id}`, patchOf({ op: 'replace', path: 'displayName', value: 'Builders' }));
    await scim('DELETE', `/Groups/${id}`);
    const page = await createAuditRecords(http.auth.store).page(tenant, {}, { limit: 100, after: null });
    const actions = page.items.map(({ action }) => action);
    expect(actions).to.include.members(['role.created', 'role_member.added', 'role.changed', 'role.deleted']);
  });
});
