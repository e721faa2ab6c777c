import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { tenantsCollection } from '../../common/records/auth/tenants.ts';
import { findAll } from '../../common/records/base/find-all.ts';

async function create(auth: TestAuth, principal: Principal): Promise<unknown> {
  const request = { principal, query: { tenant_name: 'acme' } };
  return auth.call('POST', '/api/v1/permissions/tenants', request).then(
    ({ json }) => (json as { readonly message: string }).message,
    (error: unknown) => error,
  );
}

describe('creation of tenants', () => {
  it('is open to every account', async () => {
    await using auth = await startAuth();
    expect(await create(auth, await auth.addUser())).to.equal('Tenant created.');
  });

  it('is refused without effect to others than superusers where that is configured', async () => {
    await using auth = await startAuth({ settings: { tenantCreation: 'superusers' } });
    const user = await auth.addUser();
    expect(await create(auth, user)).to.include({ wireName: 'PermissionDeniedError', status: 403 });
    expect(await findAll(auth.store, SYSTEM_SCOPE, tenantsCollection)).to.be.empty;
    expect(await auth.events()).to.not.include('tenant.created');
    expect(await create(auth, await auth.addUser({ isSuperuser: true }))).to.equal('Tenant created.');
  });
});
