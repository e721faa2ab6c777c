import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { done, progressing } from '../../kube-runtime/steps.ts';
import { type DatasetParts, type DatasetStep, stateOf, uidOf, wireName } from '../model.ts';
import { askService } from '../service-failure.ts';

/** Creates the dataset in the registry, or adopts the one of `datasetId`. */
export function ensureDataset({ services, memory }: DatasetParts): DatasetStep {
  return {
    name: 'ensure-dataset',
    async run({ object, status, event, signal }) {
      const uid = uidOf(object);
      const { tenantId, datasetId: known } = status;
      if (tenantId === undefined) return progressing('TenantNotReady', 'The Tenant is not provisioned yet');
      const state = `${stateOf(object)} ${tenantId} ${known}`;
      if (known !== undefined && memory.identity.holds(uid, state)) return done();
      // Only the id of the spec is sent; auth finds a known dataset by its resource.
      const { datasetId } = object.spec;
      const request = {
        crUid: uid,
        tenantId: asId<TenantId>(tenantId),
        name: wireName(object),
        ...(datasetId === undefined ? {} : { datasetId }),
      };
      const { dataset, created } = await askService(services, 'auth.EnsureDataset', { request, signal });
      if (known !== undefined && known !== dataset.id) {
        const message = 'The dataset was removed behind the resource and is created again, without its data';
        event({ type: 'Warning', reason: 'DatasetRecreated', message });
      }
      if (known === undefined && datasetId !== undefined && !created) {
        event({
          type: 'Normal',
          reason: 'Adopted',
          message: `The dataset ${dataset.name} existed and is managed now`,
        });
      }
      memory.identity.remember(uid, `${stateOf(object)} ${tenantId} ${dataset.id}`);
      return done({
        status: { datasetId: dataset.id },
        conditions: [
          { type: 'StoresProvisioned', status: 'True', reason: 'Provisioned', message: 'The dataset is registered' },
        ],
        removed: ['QuotaExceeded'],
      });
    },
  };
}
