import type { TenantStatusStore } from '../../api/tenant.ts';
import { done, stalled } from '../../runtime/step.ts';
import type { TenantOptions, TenantStep } from '../dependencies.ts';

const STRENGTH: Readonly<Record<TenantStatusStore['isolation'], number>> = {
  Label: 0,
  Index: 1,
  Database: 2,
  Cluster: 3,
};

/** Says how each store keeps the tenant apart, and goes no further when one of them does less than is asked for. */
export function checkIsolation({ stores }: Pick<TenantOptions, 'stores'>): TenantStep {
  return {
    name: 'check-isolation',
    async run({ object }) {
      const { minimumIsolation } = object.spec;
      const weak = stores.filter(({ isolation }) => STRENGTH[isolation] < STRENGTH[minimumIsolation]);
      if (weak.length === 0) return done({ status: { stores } });
      const named = weak.map(({ role, driver, isolation }) => `${role} (${driver}: ${isolation})`).toSorted();
      const message = `Less isolation than ${minimumIsolation}: ${named.join(', ')}; lower minimumIsolation or use an installation of its own`;
      return stalled('IsolationUnsupported', message, {
        status: { stores },
        conditions: [{ type: 'StoresProvisioned', status: 'False', reason: 'IsolationUnsupported', message }],
      });
    },
  };
}
