import { FINALIZER, FRAME_ANNOTATIONS, ROTATE_AT } from './api/names.ts';
import { TENANT_KIND, type Tenant, type TenantStatus } from './api/tenant.ts';
import { reserveHostName } from './dedicated/host-names.ts';
import { install, releaseFormerHolder } from './dedicated/install.ts';
import { type DedicatedDependencies, onTenantInstallation } from './dedicated/model.ts';
import { nameTenant, removeInstallation, whileRunning } from './dedicated/remove-installation.ts';
import { rotateStoreLogins } from './dedicated/rotate-store-logins.ts';
import { writeReceipt } from './erasure/receipts.ts';
import type { Reconciler } from './kube-runtime/controller.ts';
import { createReconciler, type FrameDependencies, type ReconcileDefinition } from './kube-runtime/reconcile-frame.ts';
import { readyOf } from './tenant/effective-state.ts';
import type { TenantStep } from './tenant/model.ts';
import { checkBackup, checkIsolation } from './tenant/steps/check-spec.ts';
import { ensureIdentity } from './tenant/steps/ensure-identity.ts';
import { releaseOrErase } from './tenant/steps/release-or-erase.ts';
import { removeDatasets } from './tenant/steps/remove-datasets.ts';
import { syncKeys } from './tenant/steps/sync-keys.ts';
import { syncEmbedding, syncModel } from './tenant/steps/sync-models.ts';
import { syncQuota, syncRetention } from './tenant/steps/sync-quota.ts';
import { removeRoute, syncRoute } from './tenant/steps/sync-route.ts';
import { forgetIsolation, verifyIsolation } from './tenant/steps/verify-isolation.ts';

export function createTenantReconciler(deps: DedicatedDependencies, frame: FrameDependencies): Reconciler {
  const definition: ReconcileDefinition<Tenant, TenantStatus> = {
    kind: TENANT_KIND,
    finalizer: FINALIZER,
    annotations: FRAME_ANNOTATIONS,
    conditionTypes: ['StoresProvisioned', 'CredentialsReady', 'Routed', 'IsolationVerified'],
    isSuspended: ({ spec }) => spec.suspend,
    validate: () => null,
    steps: [
      install(deps),
      rotateStoreLogins(deps),
      onTenantInstallation(deps, ({ options }) => checkIsolation(options), NO_SERVICES),
      onTenantInstallation(deps, releaseFormerHolder),
      onTenantInstallation(deps, ensureIdentity),
      onTenantInstallation(deps, syncKeys),
      onTenantInstallation(deps, syncQuota),
      onTenantInstallation(deps, syncRetention),
      reserveHostName(deps),
      onTenantInstallation(deps, syncRoute, NO_SERVICES),
      verifyIsolation(deps),
      onTenantInstallation(deps, syncModel),
      onTenantInstallation(deps, syncEmbedding),
      onTenantInstallation(deps, () => noteRotation),
      checkBackup(deps),
    ],
    deletionSteps: [
      forgetIsolation(deps),
      whileRunning(deps, install(deps)),
      whileRunning(deps, onTenantInstallation(deps, nameTenant)),
      removeDatasets(deps),
      onTenantInstallation(deps, removeRoute, NO_SERVICES),
      whileRunning(deps, onTenantInstallation(deps, releaseOrErase)),
      removeInstallation(deps),
    ],
    async abandon(context) {
      // The route of an abandoned tenant would conflict with the next resource of the same name.
      await onTenantInstallation(deps, removeRoute, NO_SERVICES).run(context);
      await forgetIsolation(deps).run(context);
      const { name, uid } = context.object.metadata;
      const { tenantId } = context.status;
      const json = JSON.stringify({ kind: 'Abandoned', tenant: name, resourceUid: uid, tenantId: tenantId ?? null });
      const receipt = await writeReceipt(deps, context, { kind: 'Abandoned', json });
      const message = `The tenant was abandoned with its data; ConfigMap ${receipt} records it`;
      context.event({ type: 'Warning', reason: 'Abandoned', message });
    },
    summarise: readyOf,
    resyncMs: deps.options.resyncMs,
  };
  return createReconciler(definition, frame);
}

const NO_SERVICES = { needsServices: false };

/** Shows the handled rotation to users; the Secrets of the keys have the truth. */
const noteRotation: TenantStep = {
  name: 'note-rotation',
  async run({ object }) {
    const lastHandledRotateAt = object.metadata.annotations?.[ROTATE_AT];
    return { state: 'done', status: { lastHandledRotateAt } };
  },
};
