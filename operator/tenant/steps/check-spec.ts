import { parseCron } from '../../../services/common/domain/cron.ts';
import type { TenantStatusStore } from '../../api/tenant.ts';
import { findPlace } from '../../erasure/snapshots.ts';
import { done, retrying, stalled } from '../../kube-runtime/steps.ts';
import type { TenantDependencies, TenantOptions, TenantStep } from '../model.ts';

const STRENGTH: Readonly<Record<TenantStatusStore['isolation'], number>> = {
  Label: 0,
  Index: 1,
  Database: 2,
  Cluster: 3,
};

/** Reports the isolation of each store, and stops the reconcile when it is weaker than declared. */
export function checkIsolation({ stores }: TenantOptions): TenantStep {
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

/** Message about stores with less isolation than declared; null when there are none. */
export function isolationProblem(
  stores: readonly TenantStatusStore[],
  minimum: TenantStatusStore['isolation'],
): string | null {
  const weak = stores.filter(({ isolation }) => STRENGTH[isolation] < STRENGTH[minimum]);
  if (weak.length === 0) return null;
  const named = weak.map(({ role, driver, isolation }) => `${role} (${driver}: ${isolation})`).toSorted();
  return `Less isolation than ${minimum}: ${named.join(', ')}; lower minimumIsolation or use a separate installation`;
}

/**
 * Checks `spec.backup` before the first snapshot is due or the tenant is deleted. Holds up no other step. Whether the bucket
 * can be written shows with the first snapshot (`BackupHealthy` of the Datasets).
 */
export function checkBackup({ client }: TenantDependencies): TenantStep {
  return {
    name: 'check-backup',
    async run({ object, signal }) {
      const { backup } = object.spec;
      if (backup === undefined) return done();
      const cron = parseCron(backup.schedule);
      if ('fault' in cron) {
        return stalled('InvalidSpec', `spec.backup.schedule is invalid: ${cron.fault}`, { continues: true });
      }
      const found = await findPlace(client, object, backup.destinationRef?.name, signal);
      return 'fault' in found ? retrying('SecretMissing', found.fault, { continues: true }) : done();
    },
  };
}
