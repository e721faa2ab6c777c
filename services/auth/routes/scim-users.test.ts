import { expect } from 'chai';
import { type AuthHttp, accountOf, type Person, startAuthHttp } from '../../../test/support/auth-http.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { NO_PASSWORD } from '../../common/records/auth/users.ts';
import { createAuditRecords } from '../repositories/audit-records.ts';

type Body = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: Body;
}

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** As Okta provisions somebody. */
const okta = (userName: string, more: Body = {}) => ({
  schemas: [USER],
  userName,
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  displayName: 'Ada Lovelace',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
  ...more,
});

/** As Entra does. */
const entra = (userName: string) => ({
  schemas: [USER, ENTERPRISE],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName,
  active: true,
  displayName: 'Bob Stone',
  emails: [{ primary: true, type: 'work', value: userName }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Bob Stone', familyName: 'Stone', givenName: 'Bob' },
  roles: [],
  [ENTERPRISE]: { department: 'Quarry', manager: 'some-id' },
});

const patchOf = (...Operations: readonly unknown[]) => ({ schemas: [PATCH_OP], Operations });

describe('SCIM users', () => {
  let http: AuthHttp;
  let owner: Person;
  let tenant: TenantId;

  beforeEach(async () => {
    http = await startAuthHttp();
    ({ tenant, ...owner } = await http.addTenant());
  });
  afterEach(() => http[Symbol.asyncDispose]());

  async function scim(method: string, path: string, body?: unknown, by: Person | null = owner): Promise<Answer> {
    const response = await http.request(by, method, `/scim/v2${path}`, body, 'application/scim+json; charset=utf-8');
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as Body);
    return { status: response.status, type: response.headers.get('content-type'), body: parsed };
  }
  const create = async (body: Body): Promise<string> => {
    const answer = await scim('POST', '/Users', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return String(answer.body['id']);
  };
  const search = async (filter: string, by: Person = owner) => {
    const { body } = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`, undefined, by);
    return body as unknown as { totalResults: number; Resources: readonly Body[] };
  };
  const audited = async (of: TenantId) =>
    (await createAuditRecords(http.auth.store).page(of, {}, { limit: 100, after: null })).items;
  const isLetIn = async (key: string): Promise<boolean> => {
    const response = await fetch(`${http.app.url}/api/v1/users/me`, { headers: { 'x-api-key': key } });
    return response.status === 200;
  };

  it('are provisioned as Okta does it: look up, create, look up again', async () => {
    const nobody = await search('userName eq "ada@example.com"');
    expect(nobody).to.deep.include({ totalResults: 0, Resources: [] });
    const created = await scim('POST', '/Users', okta('ada@example.com'));
    expect(created).to.include({ status: 201, type: 'application/scim+json' });
    expect(created.body).to.deep.include({
      schemas: [USER],
      userName: 'ada@example.com',
      active: true,
      displayName: 'Ada Lovelace',
      externalId: '00ujl29u0le5T6Aj10h7',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      groups: [],
    });
    expect(created.body).not.to.have.property('password');
    const account = await accountOf(http, String(created.body['id']));
    expect(account).to.include({ email: 'ada@example.com', passwordHash: NO_PASSWORD, isVerified: false, tenant });
    for (const filter of [
      'userName eq "ADA@example.com"',
      'externalId eq "00ujl29u0le5T6Aj10h7"',
      'emails.value eq "ada@example.com"',
      'emails[type eq "work" and value sw "ada"] and active eq true',
    ]) {
      const found = await search(filter);
      expect(
        found.Resources.map(({ id }) => id),
        filter,
      ).to.deep.equal([created.body['id']]);
    }
    const put = await scim('PUT', `/Users/${String(created.body['id'])}`, okta('ada@example.com', { active: false }));
    expect(put.body).to.include({ active: false, id: created.body['id'] });
    expect((await search('active eq false')).totalResults).to.equal(1);
  });

  it('are changed and deactivated as Entra does it', async () => {
    const id = await create(entra('bob@example.com'));
    const replaced = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf(
        { op: 'Replace', path: 'displayName', value: 'Bobby' },
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'bobby@example.com' },
        { op: 'Add', path: 'name.familyName', value: 'Rock' },
        { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Mine' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+47 1' },
      ),
    );
    expect(replaced.status, JSON.stringify(replaced.body)).to.equal(200);
    expect(replaced.body).to.deep.include({
      displayName: 'Bobby',
      name: { formatted: 'Bob Stone', familyName: 'Rock', givenName: 'Bob' },
      phoneNumbers: [{ type: 'mobile', value: '+47 1' }],
      [ENTERPRISE]: { department: 'Mine', manager: { value: 'some-id' } },
    });
    expect(await accountOf(http, id)).to.include({ email: 'bobby@example.com', isVerified: false });
    const key = await http.keyFor(id);
    expect(await isLetIn(key)).to.equal(true);
    const off = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'active', value: 'False' }));
    expect(off.body).to.include({ active: false });
    expect(await isLetIn(key)).to.equal(false);
    const on = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', value: { active: 'True' } }));
    expect(on.body).to.include({ active: true });
    expect(await isLetIn(key)).to.equal(true);
  });

  it('are deactivated together with their agents', async () => {
    const id = await create(okta('ada@example.com'));
    const account = await accountOf(http, id);
    const agent = await http.addPerson({ parentId: account?.id ?? null, tenant });
    expect(await isLetIn(agent.key)).to.equal(true);
    await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }));
    expect(await isLetIn(agent.key)).to.equal(false);
    await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }));
    expect(await isLetIn(agent.key)).to.equal(true);
  });

  it('have verified addresses on the word of a superuser, or by verifying them', async () => {
    await http.changeAccount(owner.principal.id, { isSuperuser: true });
    const moved = patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: 'moved@example.com' });
    const id = await create(okta('ada@example.com'));
    expect(await accountOf(http, id)).to.include({ isVerified: true });
    expect((await scim('PATCH', `/Users/${id}`, moved)).status).to.equal(200);
    expect(await accountOf(http, id)).to.include({ email: 'moved@example.com', isVerified: true });
    await http.changeAccount(owner.principal.id, { isSuperuser: false });
    http.auth.clock.advance(1_001);
    // From here on the account is its person's: the directory has its membership.
    const off = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } }));
    expect(off.body).to.include({ active: false });
    expect(await accountOf(http, id)).to.include({ email: 'moved@example.com', isActive: true });
    expect((await scim('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect(await accountOf(http, id)).to.include({ isActive: true });
  });

  it('of one name are created once by concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        scim(
          'POST',
          '/Users',
          okta('ada@example.com', { emails: [{ value: `ada${index}@example.com`, primary: true }] }),
        ),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, ...Array<number>(7).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).to.include({ status: '409', scimType: 'uniqueness' });
    expect((await search('userName eq "ada@example.com"')).totalResults).to.equal(1);
    expect((await scim('GET', '/Users')).body['totalResults'], 'the owner and one more').to.equal(2);
  });

  it('are not taken over from outside the tenant', async () => {
    const stranger = await http.addPerson({ email: 'eve@example.com' });
    const { status, body } = await scim('POST', '/Users', okta('eve@example.com'));
    expect([status, body['scimType']]).to.deep.equal([409, 'uniqueness']);
    expect((await scim('GET', `/Users/${stranger.principal.id}`)).status).to.equal(404);
    const byOtherName = okta('eve', { emails: [{ value: 'EVE@example.com', primary: true }] });
    expect((await scim('POST', '/Users', byOtherName)).status).to.equal(409);
    expect((await scim('POST', '/Users', okta('default_user@example.com'))).status).to.equal(409);
    expect((await scim('POST', '/Users', okta('x@cognee.agent'))).status).to.equal(409);
  });

  it('are linked when they are members already; active is their membership then', async () => {
    const member = await http.addPerson({ email: 'mia@example.com', tenant });
    await http.join(tenant, member);
    const id = await create(okta('mia@example.com', { externalId: 'ext-mia' }));
    expect(id).to.equal(member.principal.id);
    expect((await scim('POST', '/Users', okta('mia@example.com'))).status).to.equal(409);
    const { email: ownersAddress } = owner.principal;
    const name = patchOf({ op: 'replace', path: 'userName', value: ownersAddress });
    expect((await scim('PATCH', `/Users/${id}`, name)).body, 'a name of somebody else').to.include({ status: '409' });
    const other = { op: 'replace', path: 'emails', value: [{ value: 'other@example.com', primary: true }] };
    expect((await scim('PATCH', `/Users/${id}`, patchOf(other))).status).to.equal(200);
    expect(await accountOf(http, id)).to.include({ email: 'mia@example.com' });
    const off = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }));
    expect(off.body).to.include({ active: false });
    expect(await isLetIn(member.key), 'the account is not the directory’s').to.equal(true);
    expect((await scim('GET', `/Users/${id}`)).body).to.include({ active: false, externalId: 'ext-mia' });
    const on = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }));
    expect(on.body).to.include({ active: true });
    expect((await scim('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect((await scim('GET', `/Users/${id}`)).status).to.equal(404);
    expect(await isLetIn(member.key)).to.equal(true);
  });

  it('are deleted with their keys if the directory created them and no other tenant has them', async () => {
    const alone = await create(okta('ada@example.com'));
    const shared = await create(entra('bob@example.com'));
    const [aloneKey, sharedKey] = [await http.keyFor(alone), await http.keyFor(shared)];
    const other = await http.addTenant('other');
    const bob = await accountOf(http, shared);
    if (bob === null) throw new Error('no account');
    await http.join(other.tenant, { principal: { ...owner.principal, id: bob.id }, key: sharedKey });
    const moved = { op: 'replace', path: 'emails', value: [{ value: 'thief@example.com', primary: true }] };
    expect((await scim('PATCH', `/Users/${shared}`, patchOf(moved))).status).to.equal(403);
    for (const id of [alone, shared]) expect((await scim('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect(await accountOf(http, alone)).to.equal(null);
    expect(await isLetIn(aloneKey)).to.equal(false);
    expect(await accountOf(http, shared)).to.include({ email: 'bob@example.com', isActive: true });
    expect(await isLetIn(sharedKey)).to.equal(true);
    expect((await scim('DELETE', `/Users/${alone}`)).status).to.equal(404);
    expect(await create(okta('ada@example.com')), 'the address is free again').not.to.equal(alone);
  });

  it('are not changed while they own the tenant or are superusers', async () => {
    const ownerPath = `/Users/${owner.principal.id}`;
    expect((await scim('DELETE', ownerPath)).status).to.equal(403);
    const off = patchOf({ op: 'replace', path: 'active', value: false });
    expect((await scim('PATCH', ownerPath, off)).body).to.include({ status: '403', scimType: 'mutability' });
    const id = await create(okta('root@example.com'));
    await http.changeAccount(id, { isSuperuser: true });
    const key = await http.keyFor(id);
    expect((await scim('PATCH', `/Users/${id}`, off)).body).to.include({ active: false });
    expect(await accountOf(http, id), 'shut out of the tenant alone').to.include({ isActive: true });
    expect(await isLetIn(key)).to.equal(true);
  });

  it('stay deactivated if somebody else did it, and are released when they leave', async () => {
    const on = patchOf({ op: 'replace', path: 'active', value: true });
    const shut = await create(okta('ada@example.com'));
    await http.changeAccount(shut, { isActive: false });
    expect((await scim('PATCH', `/Users/${shut}`, on)).body).to.include({ status: '403', scimType: 'mutability' });
    const left = await create(entra('bob@example.com'));
    await http.leave(tenant, left);
    const moved = patchOf({ op: 'replace', path: 'emails', value: [{ value: 'thief@example.com', primary: true }] });
    await scim('PATCH', `/Users/${left}`, moved);
    expect(await accountOf(http, left)).to.include({ email: 'bob@example.com' });
    expect((await scim('DELETE', `/Users/${left}`)).status).to.equal(204);
    expect(await accountOf(http, left)).to.include({ email: 'bob@example.com', isActive: true });
  });

  it('do not exist for the directory of another tenant, for any method', async () => {
    const other = await http.addTenant('other');
    const id = await create(okta('ada@example.com'));
    const look = await search('userName eq "ada@example.com"', other);
    expect(look.totalResults).to.equal(0);
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', okta('ada@example.com')],
      ['PATCH', patchOf({ op: 'replace', path: 'active', value: false })],
      ['DELETE', undefined],
    ] as const) {
      const theirs = await scim(method, `/Users/${id}`, body, other);
      const missing = await scim(method, '/Users/00000000-0000-4000-8000-0000000000ff', body, other);
      expect(theirs.status, method).to.equal(404);
      expect(JSON.stringify(theirs.body).replace(id, '…')).to.equal(
        JSON.stringify(missing.body).replace('00000000-0000-4000-8000-0000000000ff', '…'),
      );
    }
    const same = await scim('POST', '/Users', okta('ada2@example.com', { externalId: '00ujl29u0le5T6Aj10h7' }), other);
    expect(same.status).to.equal(201);
    expect((await search('externalId eq "00ujl29u0le5T6Aj10h7"')).Resources.map((each) => each['id'])).to.deep.equal([
      id,
    ]);
    expect(await accountOf(http, id)).to.include({ isActive: true });
  });

  it('need manage_users, and errors have the SCIM format', async () => {
    const member = await http.addPerson({ tenant });
    await http.join(tenant, member);
    const nowhere = await http.addPerson();
    for (const [person, status] of [
      [null, 401],
      [member, 403],
      [nowhere, 403],
    ] as const) {
      const answer = await scim('GET', '/Users', undefined, person);
      expect(answer).to.include({ status, type: 'application/scim+json' });
      expect(answer.body['schemas']).to.deep.equal(['urn:ietf:params:scim:api:messages:2.0:Error']);
    }
    const bearer = await fetch(`${http.app.url}/scim/v2/Users`, { headers: { authorization: `Bearer ${owner.key}` } });
    expect(bearer.status).to.equal(200);
    const broken = await fetch(`${http.app.url}/scim/v2/Users`, {
      method: 'POST',
      body: '{',
      headers: { 'x-api-key': owner.key, 'content-type': 'application/scim+json' },
    });
    expect([broken.status, ((await broken.json()) as Body)['scimType']]).to.deep.equal([400, 'invalidSyntax']);
    for (const [body, scimType] of [
      [{ schemas: [USER] }, 'invalidValue'],
      [okta('no address', { emails: [] }), 'invalidValue'],
      [okta('ada@example.com', { active: 'maybe' }), 'invalidValue'],
    ] as const) {
      expect((await scim('POST', '/Users', body)).body).to.include({ status: '400', scimType });
    }
    const filter = await scim('GET', `/Users?filter=${encodeURIComponent('userName eq')}`);
    expect(filter.body).to.include({ status: '400', scimType: 'invalidFilter' });
  });

  it('are paged, sorted, and reduced to the selected attributes', async () => {
    for (const name of ['c', 'a', 'b']) await create(okta(`${name}@example.com`));
    const page = (
      await scim('GET', '/Users?startIndex=2&count=2&sortBy=userName&filter=userName%20co%20%22@example.com%22')
    ).body as unknown as { totalResults: number; itemsPerPage: number; startIndex: number; Resources: readonly Body[] };
    expect(page).to.include({ totalResults: 4, itemsPerPage: 2, startIndex: 2 });
    const named = (await scim('GET', '/Users?count=0')).body;
    expect(named).to.deep.include({ totalResults: 4, Resources: [] });
    const cut = (await scim('GET', '/Users?attributes=userName&sortBy=userName&sortOrder=descending&count=1')).body;
    expect(Object.keys((cut['Resources'] as readonly Body[])[0] ?? {}).toSorted()).to.deep.equal([
      ...['id', 'schemas', 'userName'],
    ]);
  });

  it('are audited in the logs of the tenant and of accounts', async () => {
    const id = await create(okta('ada@example.com'));
    await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }));
    await scim('DELETE', `/Users/${id}`);
    const ofTenant = (await audited(tenant)).map(({ action, actor, subject }) => [action, actor, subject]);
    expect(ofTenant).to.deep.include.members([
      ['user.deleted', owner.principal.id, id],
      ['user.changed', owner.principal.id, id],
      ['membership.added', owner.principal.id, id],
    ]);
  });

  it('are described by schemas and the service provider configuration', async () => {
    for (const path of [
      '/ServiceProviderConfig',
      '/ResourceTypes',
      '/ResourceTypes/User',
      '/Schemas',
      `/Schemas/${USER}`,
    ]) {
      expect((await scim('GET', path, undefined, null)).status, path).to.equal(200);
    }
    expect((await scim('GET', '/Schemas/urn:unknown', undefined, null)).status).to.equal(404);
    const { body } = await scim('GET', '/Schemas');
    expect(body['totalResults']).to.equal(3);
  });
});
