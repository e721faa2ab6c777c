import { done } from '../../kube-runtime/steps.ts';
import { durationMs } from '../../tenant/durations.ts';
import type { DatasetParts, DatasetStep } from '../dependencies.ts';
import { idsOf, stateOf, uidOf } from '../resource.ts';
import { askAbout } from '../service-failure.ts';

/** Tells the services how long they keep items of the dataset. */
export function syncRetention(parts: DatasetParts): DatasetStep {
  const { services, memory } = parts;
  return {
    name: 'sync-retention',
    async run(context) {
      const { object, signal } = context;
      const ids = idsOf(context);
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId}`];
      if (memory.retention.holds(uid, state)) return done();
      const { itemTTL } = object.spec.retention ?? {};
      const times = itemTTL === undefined ? {} : { itemsMs: durationMs(itemTTL) };
      await askAbout(parts, context, {
        service: 'ingest',
        call: () => services.setRetention({ ...ids, crUid: uid, ...times }, signal),
      });
      memory.retention.remember(uid, state);
      return done();
    },
  };
}
