import { randomUUID, hash as sha } from 'node:crypto';
import { expect } from 'chai';
import { type AuthHttp, startAuthHttp } from '../../../test/support/auth-http.ts';
import { open } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import type { DeclaredTenantState, RequestOf } from '../../common/platform/messaging/messages.ts';
import { newApiKeyText } from '../credentials/api-key-text.ts';

const HASH = `$2b$04$${'a'.repeat(53)}`;

interface Hosted {
  readonly id: TenantId;
  readonly key: string;
  readonly ownerId: string;
}

describe('keys and host names of tenants', () => {
  let http: AuthHttp;
  afterEach(() => http[Symbol.asyncDispose]());

  const start = async (options: { readonly hosted?: boolean; readonly isOpen?: boolean } = {}) => {
    const settings = options.isOpen ? { settings: { posture: open } } : {};
    http = await startAuthHttp({ http: { selectsTenantByHost: options.hosted ?? true }, ...settings });
  };
  const declare = async (name: string, change: Partial<RequestOf<'auth.EnsureTenant'>> = {}): Promise<Hosted> => {
    const { messenger } = http.auth;
    const request = { crUid: `cr-${name}`, displayName: name, ownerEmail: `owner@${name}.example.com` };
    const hostNames = [`${name}.example.com`];
    const rest = { ownerPasswordHash: HASH, hostNames, state: 'Active' as const, ...change };
    const { tenantId: id, ownerId } = await messenger.call('auth.EnsureTenant', { ...request, ...rest }, CALL);
    const key = newApiKeyText();
    const keySha256 = [sha('sha256', key)];
    await messenger.call('auth.SetTenantKeys', { tenantId: id, crUid: request.crUid, name, keySha256 }, CALL);
    return { id, key, ownerId };
  };
  const ask = async (host: string, key: string | null, path = '/api/v1/auth/me', method = 'GET') => {
    const answer = await http.app.raw(path, { host, ...(key === null ? {} : { 'x-api-key': key }) }, method);
    const detail = answer.text === '' ? '' : String((JSON.parse(answer.text) as { detail?: unknown }).detail ?? '');
    return { status: answer.status, detail, retryAfter: answer.headers['retry-after'] };
  };
  const statuses = async (hosts: readonly string[], key: string | null) =>
    Promise.all(hosts.map((host) => ask(host, key).then(({ status }) => status)));

  const HOSTS = ['acme.example.com', 'ACME.example.com.:8443', 'globex.example.com', 'else.example.com', '127.0.0.1'];

  it('accept a tenant’s key only under the host names of the tenant', async () => {
    await start();
    const [acme, globex] = [await declare('acme'), await declare('globex')];
    expect(await statuses(HOSTS, acme.key)).to.deep.equal([200, 200, 401, 401, 401]);
    expect(await statuses(HOSTS, globex.key)).to.deep.equal([401, 401, 200, 401, 401]);
    expect(await statuses(HOSTS, null)).to.deep.equal([401, 401, 401, 401, 401]);
  });

  it('accept the key of a tenant without host names under host names of no tenant', async () => {
    await start();
    await declare('globex');
    const acme = await declare('acme', { hostNames: [] });
    expect(await statuses(HOSTS, acme.key)).to.deep.equal([200, 200, 401, 200, 200]);
    await declare('acme');
    expect((await ask('127.0.0.1', acme.key)).status).to.equal(401);
  });

  it('set the tenant of a member’s request, and refuse non-members', async () => {
    await start();
    const [acme, globex] = [await declare('acme'), await declare('globex')];
    const member = await http.addPerson({ tenant: globex.id });
    await http.join(acme.id, member);
    await http.join(globex.id, member);
    const members = `/api/v1/permissions/tenants/${acme.id}/users`;
    expect(await statuses(HOSTS, member.key)).to.deep.equal([200, 200, 200, 200, 200]);
    expect((await ask('acme.example.com', member.key, members)).status).to.equal(403);
    const [stranger, admin] = [await http.addPerson(), await http.addPerson({ isSuperuser: true })];
    for (const { key } of [stranger, admin]) {
      expect(await statuses(HOSTS, key)).to.deep.equal([403, 403, 403, 200, 200]);
      expect((await ask('acme.example.com', key)).detail).to.include('does not belong to the tenant of this host name');
    }
    await http.leave(acme.id, member.principal.id);
    http.auth.clock.advance(1000);
    expect((await ask('acme.example.com', member.key)).status).to.equal(403);
  });

  it('take effect at once when they are added and removed', async () => {
    await start();
    const acme = await declare('acme');
    const member = await http.addPerson();
    expect((await ask('new.example.com', member.key)).status).to.equal(200);
    await declare('acme', { hostNames: ['new.example.com'] });
    expect((await ask('new.example.com', member.key)).status).to.equal(403);
    expect((await ask('acme.example.com', member.key)).status).to.equal(200);
    expect((await ask('acme.example.com', acme.key)).status).to.equal(401);
  });

  it('have no effect unless they are switched on', async () => {
    await start({ hosted: false });
    const acme = await declare('acme');
    const stranger = await http.addPerson();
    expect(await statuses(HOSTS, acme.key)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(await statuses(HOSTS, stranger.key)).to.deep.equal([200, 200, 200, 200, 200]);
  });

  it('require a credential under a tenant’s host name in open mode', async () => {
    await start({ isOpen: true });
    const acme = await declare('acme');
    expect(await statuses(HOSTS, null)).to.deep.equal([401, 401, 200, 200, 200]);
    expect((await ask('acme.example.com', acme.key)).status).to.equal(200);
  });

  it('limit a tenant’s key to its tenant', async () => {
    await start({ hosted: false });
    const boss = await http.addPerson({ email: 'owner@acme.example.com', isVerified: true, isSuperuser: true });
    const acme = await declare('acme');
    const globex = await declare('globex', { ownerEmail: 'owner@acme.example.com' });
    expect(acme.ownerId).to.equal(boss.principal.id);
    const status = async (method: string, path: string) => (await ask('localhost', acme.key, path, method)).status;
    for (const [method, path] of [
      ['PATCH', '/api/v1/users/me'],
      ['GET', '/api/v1/auth/api-keys'],
      ['POST', '/api/v1/auth/api-keys'],
      ['GET', '/api/v1/permissions/tenants/me'],
      ['POST', '/api/v1/permissions/tenants/select'],
      ['GET', '/api/v1/agents/list'],
      ['GET', `/api/v1/users/${boss.principal.id}`],
      ['DELETE', `/api/v1/users/${boss.principal.id}`],
    ] as const) {
      expect(await status(method, path), `${method} ${path}`).to.equal(403);
    }
    expect(await status('GET', `/api/v1/permissions/tenants/${acme.id}/users`)).to.equal(200);
    expect(await status('GET', `/api/v1/permissions/tenants/${globex.id}/users`)).to.equal(403);
    expect(await status('GET', `/api/v1/permissions/tenants/${globex.id}/roles`)).to.equal(404);
  });

  it('are refused while the tenant is disabled, and retryable while it is hibernated', async () => {
    await start({ hosted: false });
    const acme = await declare('acme');
    const member = await http.addPerson({ tenant: acme.id });
    await http.join(acme.id, member);
    const path = `/api/v1/permissions/tenants/${acme.id}/roles`;
    expect((await ask('localhost', member.key, path)).status).to.equal(200);
    await http.auth.messenger.call('auth.EnsureTenant', declared('Disabled'), CALL);
    for (const key of [acme.key, member.key]) {
      const refused = await ask('localhost', key, path);
      expect([refused.status, refused.detail]).to.deep.equal([403, 'This tenant is disabled. [PermissionDeniedError]']);
    }
    await http.auth.messenger.call('auth.EnsureTenant', declared('Hibernated'), CALL);
    for (const key of [acme.key, member.key]) {
      const asleep = await ask('localhost', key, path);
      expect([asleep.status, asleep.retryAfter]).to.deep.equal([503, '30']);
      expect(asleep.detail).to.include('hibernated');
    }
    await http.auth.messenger.call('auth.EnsureTenant', declared('Active'), CALL);
    for (const key of [acme.key, member.key]) expect((await ask('localhost', key, path)).status).to.equal(200);
  });

  it('let members leave a tenant that does not serve', async () => {
    await start({ hosted: false });
    const acme = await declare('acme', { state: 'Disabled' });
    const member = await http.addPerson({ tenant: acme.id });
    await http.join(acme.id, member);
    expect((await ask('localhost', member.key)).status).to.equal(200);
    expect((await ask('localhost', acme.key)).status).to.equal(403);
    const select = '/api/v1/permissions/tenants/select';
    expect((await http.request(member, 'POST', select, { tenant_id: null })).status).to.equal(200);
    expect((await ask('localhost', member.key, '/api/v1/activity/usage')).status).to.equal(200);
  });

  const declared = (state: DeclaredTenantState): RequestOf<'auth.EnsureTenant'> => ({
    crUid: 'cr-acme',
    displayName: 'acme',
    ownerEmail: 'owner@acme.example.com',
    ownerPasswordHash: HASH,
    hostNames: ['acme.example.com'],
    state,
  });

  it('are refused for invalid ids and tenants that are gone', async () => {
    await start();
    await declare('acme');
    expect((await ask('acme.example.com', newApiKeyText())).status).to.equal(401);
    expect((await ask('acme.example.com', randomUUID())).status).to.equal(401);
  });
});
