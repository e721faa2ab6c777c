import type { TenantStatusStore } from '../../api/tenant.ts';
import { done, stalled } from '../../kube-runtime/steps.ts';
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
      const message = isolationProblem(stores, object.spec.minimumIsolation);
      if (message === null) return done({ status: { stores } });
      return stalled('IsolationUnsupported', message, {
        status: { stores },
        conditions: [{ type: 'StoresProvisioned', status: 'False', reason: 'IsolationUnsupported', message }],
      });
    },
  };
}

/** What a person reads where a store offers less than is asked for. */
export function isolationProblem(
  stores: readonly TenantStatusStore[],
  minimum: TenantStatusStore['isolation'],
): string | null {
  const weak = stores.filter(({ isolation }) => STRENGTH[isolation] < STRENGTH[minimum]);
  if (weak.length === 0) return null;
  const named = weak.map(({ role, driver, isolation }) => `${role} (${driver}: ${isolation})`).toSorted();
  return `Less isolation than ${minimum}: ${named.join(', ')}; lower minimumIsolation or use an installation of its own`;
}
