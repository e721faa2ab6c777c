import { managedTenantCases } from '../behaviour/managed-tenants.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('tenants of resources, embedded', () => {
  managedTenantCases(() => startManagedApp());
});
