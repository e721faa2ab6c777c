import { expect } from 'chai';
import { startAuth } from '../../../test/support/auth-service.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { createTenants } from '../../common/records/auth/tenants.ts';
import { createCapabilityGrants } from '../repositories/capability-grants.ts';
import { createMemberships } from '../repositories/memberships.ts';
import { createRoleMembers } from '../repositories/role-members.ts';
import { createRoles } from '../repositories/roles.ts';
import { directoryOf } from './directory.ts';

describe('the directory of a tenant', () => {
  it('is not refused to anybody because the store is away', async () => {
    await using auth = await startAuth();
    const { store } = auth;
    const away = engramError('ServiceUnavailableError', 'The store is away.', { retryable: true });
    const deps = {
      tenants: { ...createTenants(store), get: () => Promise.reject(away) },
      memberships: createMemberships(store),
      ...{ roles: createRoles(store), roleMembers: createRoleMembers(store) },
      ...{ capabilities: createCapabilityGrants(store), oidc: null },
    };
    const refused = await directoryOf(deps, await auth.addUser()).catch((error: unknown) => error);
    expect(refused).to.equal(away);
  });
});
