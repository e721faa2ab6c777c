import { randomUUID } from 'node:crypto';
import { asDatasetOwner } from '../../services/common/platform/messaging/dataset-owner.ts';
import type { CallContext, Messenger } from '../../services/common/platform/messaging/messenger.ts';
import {
  ensureDataset,
  findManaged,
  releaseDataset,
  syncGrants,
} from '../../services/common/platform/messaging/methods/auth-managed.ts';
import { startRun } from '../../services/common/platform/messaging/methods/cognify.ts';
import {
  migrateEmbedding,
  setDatasetConfiguration,
} from '../../services/common/platform/messaging/methods/cognify-managed.ts';
import { improve } from '../../services/common/platform/messaging/methods/improve.ts';
import {
  datasetStatistics,
  eraseDataset,
  setRetention,
} from '../../services/common/platform/messaging/methods/ingest-managed.ts';
import {
  listSnapshots,
  pruneSnapshots,
  restoreDataset,
  takeSnapshot,
} from '../../services/common/platform/messaging/methods/snapshots.ts';
import type { DatasetServices } from './services.ts';

export interface BusServicesOptions {
  readonly messenger: Pick<Messenger, 'call'>;
}

/** The services over the bus. */
export function createBusServices({ messenger }: BusServicesOptions): DatasetServices {
  return {
    ensureDataset: (request, signal) => messenger.call(ensureDataset, request, contextOf(signal)),
    syncGrants: (request, signal) => messenger.call(syncGrants, request, contextOf(signal)),
    setConfiguration: (request, signal) => messenger.call(setDatasetConfiguration, request, contextOf(signal)),
    migrateEmbedding: (request, signal) => messenger.call(migrateEmbedding, request, contextOf(signal)),
    async setRetention(request, signal) {
      await messenger.call(setRetention, request, contextOf(signal));
    },
    statistics: (dataset, signal) => messenger.call(datasetStatistics, dataset, contextOf(signal)),
    async start({ pipeline, tenantId, datasetId, name, crUid, dueAt }, signal) {
      const context = contextOf(signal);
      const { dataset } = await messenger.call(ensureDataset, { crUid, tenantId, name, datasetId }, context);
      const owner = await asDatasetOwner(messenger, dataset, context);
      const due = dueAt === undefined ? {} : { dueAt };
      if (pipeline === 'improve') await messenger.call(improve, { dataset, sessions: [], ...due }, owner);
      else await messenger.call(startRun, { dataset, options: {}, background: true, ...due }, owner);
    },
    takeSnapshot: (request, signal) => messenger.call(takeSnapshot, request, contextOf(signal)),
    listSnapshots: (request, signal) => messenger.call(listSnapshots, request, contextOf(signal)),
    pruneSnapshots: (request, signal) => messenger.call(pruneSnapshots, request, contextOf(signal)),
    restoreDataset: (request, signal) => messenger.call(restoreDataset, request, contextOf(signal)),
    eraseDataset: async (request, signal) => (await messenger.call(eraseDataset, request, contextOf(signal))).progress,
    findManaged: async (request, signal) => (await messenger.call(findManaged, request, contextOf(signal))).managed,
    releaseDataset: (request, signal) => messenger.call(releaseDataset, request, contextOf(signal)),
  };
}

function contextOf(signal: AbortSignal): CallContext {
  return { requestId: randomUUID(), signal };
}
