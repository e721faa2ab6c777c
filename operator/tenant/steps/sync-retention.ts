import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { done } from '../../kube-runtime/steps.ts';
import type { TenantDependencies, TenantStep } from '../model.ts';
import { askService } from '../service-failure.ts';

const DAY_MS = 86_400_000;

/** Sets the retention of the tenant; the services decide where none is declared. */
export function syncRetention({ services }: TenantDependencies): TenantStep {
  return {
    name: 'sync-retention',
    async run({ object, status, signal }) {
      const { sessionsDays, eventsDays } = object.spec.retention ?? {};
      const request = {
        tenantId: asId<TenantId>(status.tenantId ?? ''),
        crUid: object.metadata.uid ?? '',
        ...(sessionsDays === undefined ? {} : { sessionsMs: sessionsDays * DAY_MS }),
        ...(eventsDays === undefined ? {} : { eventsMs: eventsDays * DAY_MS }),
      };
      await askService(services, 'ingest.SetRetention', { request, signal });
      return done();
    },
  };
}
