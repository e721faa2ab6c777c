import { expect } from 'chai';
import { type AuthHttp, type Person, startAuthHttp } from '../../../test/support/auth-http.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createAuditLog } from '../repositories/audit-log.ts';
import { createCapabilityGrants } from '../repositories/capability-grants.ts';

interface Listed {
  readonly names: Readonly<Record<string, string>>;
  readonly records: readonly Record<string, unknown>[];
  readonly next: string | null;
}

describe('audit routes', () => {
  let http: AuthHttp;
  beforeEach(async () => {
    http = await startAuthHttp();
  });
  afterEach(() => http[Symbol.asyncDispose]());

  const record = (tenant: TenantId, subject: string, action = 'grant.given') =>
    createAuditLog(http.auth.store, http.auth.clock).record({
      tenant,
      action,
      actor: null,
      subject,
      details: { n: 1 },
    });

  it('name accounts of the tenant and datasets that the reader may read, as long as they are there', async () => {
    const { tenant, ...owner } = await http.addTenant();
    const member = await http.addPerson({ tenant });
    await http.join(tenant, member);
    const stranger = await http.addPerson();
    const made = async ({ principal }: Person, name: string) =>
      (await http.auth.messenger.call('auth.CreateDataset', { name }, { requestId: 'test', principal })).dataset;
    const [own, foreign] = [await made(owner, 'plans'), await made(member, 'secrets')];
    for (const subject of [own.id, foreign.id, stranger.principal.id, 's1']) await record(tenant, subject);
    const ids = { owner: member.principal.id };
    const log = createAuditLog(http.auth.store, http.auth.clock);
    await log.record({ tenant, action: 'grant.given', actor: owner.principal.id, subject: own.id, details: ids });
    const named = async () => ((await (await http.request(owner, 'GET', '/api/v1/audit')).json()) as Listed).names;
    const both = { [owner.principal.id]: owner.principal.email, [own.id]: 'plans' };
    expect(await named()).to.deep.equal({ ...both, [member.principal.id]: member.principal.email });
    const root = await http.addPerson({ isSuperuser: true });
    expect((await http.request(root, 'DELETE', `/api/v1/users/${member.principal.id}`)).status).to.equal(204);
    // Her datasets are the owner's now.
    expect(await named()).to.deep.equal({ ...both, [foreign.id]: 'secrets' });
  });

  it('allow holders of manage_users, and superusers for the log of accounts', async () => {
    const { tenant, principal } = await http.addTenant();
    const manager = await http.addPerson({ tenant });
    await http.join(tenant, manager);
    const grant = { holder: manager.principal.id, capability: 'manage_users' } as const;
    const grants = createCapabilityGrants(http.auth.store);
    const write = grants.insertWrite(grant, principal.id, '2026-01-01T00:00:00.000Z');
    await http.auth.store.commit({ tenant }, [write]);
    expect((await http.request(manager, 'GET', '/api/v1/audit')).status).to.equal(200);
    const root = await http.addPerson({ isSuperuser: true });
    await record(PERSONAL_TENANT, 'somebody', 'user.registered');
    const response = await http.request(root, 'GET', '/api/v1/audit?tenant_id=personal&action=user.registered');
    const { records } = (await response.json()) as Listed;
    expect(records[0]).to.include({ tenant_id: null, subject: 'somebody' });
  });

  it('refuse invalid times and cursors', async () => {
    const { tenant: _, ...owner } = await http.addTenant();
    for (const query of ['since=yesterday', 'limit=0', 'limit=1001', 'after=nonsense', 'tenant_id=acme']) {
      expect((await http.request(owner, 'GET', `/api/v1/audit?${query}`)).status, query).to.equal(400);
    }
    const zoned = '/api/v1/audit?since=2026-01-02T05:04:05%2B02:00&until=2026-01-02T03:04:06';
    expect((await http.request(owner, 'GET', zoned)).status).to.equal(200);
  });

  it('record every export, in the export itself', async () => {
    const { tenant, ...owner } = await http.addTenant();
    await record(tenant, 's1');
    const response = await http.request(owner, 'GET', '/api/v1/audit/export');
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    const lines = (await response.text()).trimEnd().split('\n');
    const [first, second, end] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).to.have.length(3);
    expect(first).to.include({ tenant, number: 1, subject: 's1', details: '{"n":1}' });
    expect(second).to.include({ number: 2, action: 'export.made', actor: owner.principal.id });
    expect(end?.['head']).to.include({ tenant, number: 2, hash: second?.['hash'] });
    expect((await http.request(null, 'GET', '/api/v1/audit/keys')).status).to.equal(200);
  });

  it('export a long log without holding it in memory', async () => {
    const { tenant, ...owner } = await http.addTenant();
    const log = createAuditLog(http.auth.store, http.auth.clock);
    const many = Array.from({ length: 1300 }, (_, index) => `s${index}`);
    await Promise.all(many.map((subject) => log.record({ tenant, action: 'a.b', actor: null, subject })));
    const lines = (await (await http.request(owner, 'GET', '/api/v1/audit/export')).text()).trimEnd().split('\n');
    expect(lines).to.have.length(1302);
  });
});
