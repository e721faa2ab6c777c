import { parseCron } from '../services/common/domain/cron.ts';
import { DATASET_KIND, type Dataset, type DatasetStatus } from './api/dataset.ts';
import { FRAME_ANNOTATIONS, WAKE_AT } from './api/names.ts';
import type { Tenant } from './api/tenant.ts';
import {
  createCheckMemory,
  type DatasetContext,
  type DatasetDependencies,
  type DatasetMemory,
  type DatasetParts,
  type DatasetStep,
  tenantName,
} from './dataset/model.ts';
import { translateErrors } from './dataset/service-failure.ts';
import { backUp } from './dataset/steps/back-up.ts';
import { configure, syncRetention } from './dataset/steps/configure.ts';
import { ensureDataset } from './dataset/steps/ensure-dataset.ts';
import { migrateEmbedding } from './dataset/steps/migrate-embedding.ts';
import { readStatistics, STATISTICS_MS } from './dataset/steps/read-statistics.ts';
import { releaseOrErase } from './dataset/steps/release-or-erase.ts';
import { resolveTenant } from './dataset/steps/resolve-tenant.ts';
import { restoreDataset } from './dataset/steps/restore-dataset.ts';
import { startRuns } from './dataset/steps/start-runs.ts';
import { syncAccess } from './dataset/steps/sync-access.ts';
import { syncSources } from './dataset/steps/sync-sources.ts';
import { writeReceipt } from './erasure/receipts.ts';
import type { Reconciler } from './kube-runtime/controller.ts';
import { keyOf } from './kube-runtime/kube-object.ts';
import { createReconciler, type FrameDependencies, type ReconcileDefinition } from './kube-runtime/reconcile-frame.ts';
import { progressing, type StepOutcome } from './kube-runtime/steps.ts';
import { isDedicated, isHibernated } from './tenant/effective-state.ts';

const DATASET_FINALIZER = 'engram.dev/dataset';

export function createDatasetReconciler(deps: DatasetDependencies, frame: FrameDependencies): Reconciler {
  const parts: DatasetParts = { ...deps, memory: createMemory(deps) };
  const definition: ReconcileDefinition<Dataset, DatasetStatus> = {
    kind: DATASET_KIND,
    finalizer: DATASET_FINALIZER,
    annotations: FRAME_ANNOTATIONS,
    conditionTypes: ['StoresProvisioned', 'AccessSynced', 'SchemaCurrent', 'Fresh'],
    isSuspended: ({ spec }) => spec.suspend,
    validate: scheduleFault,
    steps: [
      resolveTenant(parts),
      ...[
        restoreDataset,
        ensureDataset,
        syncAccess,
        configure,
        syncRetention,
        readStatistics,
        migrateEmbedding,
        startRuns,
        backUp,
        syncSources,
      ].map((make) => onTenantServices(parts, make)),
    ],
    deletionSteps: [onTenantServices(parts, releaseOrErase)],
    abandon: (context) => abandon(parts, context),
    summarise: () => ({ status: 'True', reason: 'Available', message: 'The dataset serves' }),
    resyncMs: deps.options.resyncMs,
  };
  return createReconciler(definition, frame);
}

/** Checks expire a little before each resync, statistics after a minute. */
function createMemory({ clock, options }: DatasetDependencies): DatasetMemory {
  const checks = () => createCheckMemory(clock, options.resyncMs * 0.8);
  return {
    identity: checks(),
    access: checks(),
    configuration: checks(),
    retention: checks(),
    embedding: checks(),
    sources: checks(),
    progress: checks(),
    statistics: createCheckMemory(clock, STATISTICS_MS),
    starts: createCheckMemory(clock, STATISTICS_MS * 0.8),
  };
}

function scheduleFault({ spec }: Dataset): { readonly reason: string; readonly message: string } | null {
  const schedules = [
    ['pipeline.cognify.schedule', spec.pipeline?.cognify?.schedule],
    ['pipeline.improve.schedule', spec.pipeline?.improve?.schedule],
    ...(spec.sources ?? []).map(({ name, schedule }) => [`sources[${name}].schedule`, schedule] as const),
  ] as const;
  for (const [field, schedule] of schedules) {
    const cron = schedule === undefined ? null : parseCron(schedule);
    if (cron === null || !('fault' in cron)) continue;
    return { reason: 'InvalidSpec', message: `spec.${field} is invalid: ${cron.fault}` };
  }
  return null;
}

async function abandon(parts: DatasetParts, context: DatasetContext): Promise<void> {
  const { name, uid } = context.object.metadata;
  const { tenantId = null, datasetId = null } = context.status;
  const json = JSON.stringify({ kind: 'Abandoned', dataset: name, resourceUid: uid, tenantId, datasetId });
  const receipt = await writeReceipt(parts, context, { kind: 'Abandoned', json });
  const message = `The dataset was abandoned with its data; ConfigMap ${receipt} records it`;
  context.event({ type: 'Warning', reason: 'Abandoned', message });
}

/** A Tenant that wakes triggers the reconcile of its Datasets. */
const LATER_MS = 300_000;

/**
 * Runs a step with the services of the dataset's tenant: those of the installation, or those of a Dedicated tenant. This is
 * the only place where they are chosen.
 */
function onTenantServices(parts: DatasetParts, make: (parts: DatasetParts) => DatasetStep): DatasetStep {
  const shared = make(parts);
  return {
    name: shared.name,
    async run(context) {
      const { dedicated } = parts;
      const tenant = dedicated?.tenantOf(tenantName(context.object));
      if (dedicated === undefined || tenant === undefined || !isDedicated(tenant)) return shared.run(context);
      if (isHibernated(tenant, tenant.status)) return hibernated(context, tenant);
      const services = await translateErrors('NATS', () => dedicated.servicesOf(tenant, context.signal));
      return make({ ...parts, services }).run(context);
    },
  };
}

function hibernated({ object }: DatasetContext, { spec }: Tenant): StepOutcome<never> {
  const how = spec.state === 'Hibernated' ? 'set its state to Active' : `give it a new annotation ${WAKE_AT}`;
  const message = `Tenant ${keyOf(tenantName(object))} is hibernated: ${how}, then this continues`;
  return progressing('TenantHibernated', message, { requeueAfterMs: LATER_MS });
}
