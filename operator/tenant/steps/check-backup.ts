import { parseCron } from '../../dataset/cron.ts';
import { done, retrying, stalled } from '../../kube-runtime/steps.ts';
import { findPlace } from '../../snapshot-place.ts';
import type { TenantDependencies, TenantStep } from '../dependencies.ts';

/**
 * Says at once what would be found out when the first snapshot is due, or when the tenant is deleted. Holds up nothing else;
 * whether the bucket takes anything is seen with the first snapshot (`BackupHealthy` of the Datasets).
 */
export function checkBackup({ client }: TenantDependencies): TenantStep {
  return {
    name: 'check-backup',
    async run({ object, signal }) {
      const { backup } = object.spec;
      if (backup === undefined) return done();
      const cron = parseCron(backup.schedule);
      if ('fault' in cron) {
        return stalled('InvalidSpec', `spec.backup.schedule is no schedule: ${cron.fault}`, { continues: true });
      }
      const found = await findPlace({ client }, object, backup.destinationRef?.name, signal);
      return 'fault' in found ? retrying('SecretMissing', found.fault, { continues: true }) : done();
    },
  };
}
