import { durationMs } from '../../api/values.ts';
import { done } from '../../kube-runtime/steps.ts';
import { type DatasetParts, type DatasetStep, idsOf, stateOf, uidOf } from '../model.ts';
import { askAbout } from '../service-failure.ts';

/** Sets the retention of the dataset's items. */
export function syncRetention(parts: DatasetParts): DatasetStep {
  const { memory } = parts;
  return {
    name: 'sync-retention',
    async run(context) {
      const { object } = context;
      const ids = idsOf(context);
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId}`];
      if (memory.retention.holds(uid, state)) return done();
      const { itemTTL } = object.spec.retention ?? {};
      const times = itemTTL === undefined ? {} : { itemsMs: durationMs(itemTTL) };
      await askAbout(parts, context, 'ingest.SetRetention', { ...ids, crUid: uid, ...times });
      memory.retention.remember(uid, state);
      return done();
    },
  };
}
