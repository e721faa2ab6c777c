import { TENANT_KIND, type Tenant, type TenantStatus } from '../api/tenant.ts';
import type { Reconciler } from '../kube-runtime/controller.ts';
import { createReconciler, type FrameDependencies, type ReconcileDefinition } from '../kube-runtime/reconcile-frame.ts';
import { onOwn } from './dedicated/dedicated.ts';
import { reserveHostName } from './dedicated/host-names.ts';
import { install } from './dedicated/install.ts';
import { releaseFormerHolder } from './dedicated/release-former-holder.ts';
import { nameTenant, removeInstallation, whileRunning } from './dedicated/remove-installation.ts';
import { rotateStoreLogins } from './dedicated/rotate-store-logins.ts';
import type { TenantDependencies, TenantStep } from './dependencies.ts';
import { readyOf } from './effective-state.ts';
import { FINALIZER, FRAME_ANNOTATIONS, ROTATE_AT } from './names.ts';
import { writeReceipt } from './receipts.ts';
import { checkBackup } from './steps/check-backup.ts';
import { checkIsolation } from './steps/check-isolation.ts';
import { ensureIdentity } from './steps/ensure-identity.ts';
import { letGo } from './steps/let-go.ts';
import { removeDatasets } from './steps/remove-datasets.ts';
import { syncEmbedding } from './steps/sync-embedding.ts';
import { syncKeys } from './steps/sync-keys.ts';
import { syncModel } from './steps/sync-model.ts';
import { syncQuota } from './steps/sync-quota.ts';
import { syncRetention } from './steps/sync-retention.ts';
import { removeRoute, syncRoute } from './steps/sync-route.ts';
import { forgetIsolation, verifyIsolation } from './steps/verify-isolation.ts';

/** Makes tenants what their resources say, and keeps them so. */
export function createTenantReconciler(deps: TenantDependencies, frame: FrameDependencies): Reconciler {
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
      onOwn(deps, ({ options }) => checkIsolation(options), NO_SERVICES),
      onOwn(deps, releaseFormerHolder),
      onOwn(deps, ensureIdentity),
      onOwn(deps, syncKeys),
      onOwn(deps, syncQuota),
      onOwn(deps, syncRetention),
      reserveHostName(deps),
      onOwn(deps, syncRoute, NO_SERVICES),
      verifyIsolation(deps),
      onOwn(deps, syncModel),
      onOwn(deps, syncEmbedding),
      onOwn(deps, () => noteRotation),
      checkBackup(deps),
    ],
    deletionSteps: [
      forgetIsolation(deps),
      whileRunning(deps, install(deps)),
      whileRunning(deps, onOwn(deps, nameTenant)),
      removeDatasets(deps),
      onOwn(deps, removeRoute, NO_SERVICES),
      whileRunning(deps, onOwn(deps, letGo)),
      removeInstallation(deps),
    ],
    async abandon(context) {
      // It leads to a tenant that nobody keeps, and would be in the way of the next resource of the name.
      await onOwn(deps, removeRoute, NO_SERVICES).run(context);
      await forgetIsolation(deps).run(context);
      const { name, uid } = context.object.metadata;
      const { tenantId } = context.status;
      const json = JSON.stringify({ kind: 'Abandoned', tenant: name, resourceUid: uid, tenantId: tenantId ?? null });
      const receipt = await writeReceipt(deps, context, { kind: 'Abandoned', json });
      const message = `The tenant was let go with everything it has; ConfigMap ${receipt} names it`;
      context.event({ type: 'Warning', reason: 'Abandoned', message });
    },
    summarise: readyOf,
    resyncMs: deps.options.resyncMs,
  };
  return createReconciler(definition, frame);
}

const NO_SERVICES = { needsServices: false };

/** The keys' Secrets hold what was done; this is for people. */
const noteRotation: TenantStep = {
  name: 'note-rotation',
  async run({ object }) {
    const lastHandledRotateAt = object.metadata.annotations?.[ROTATE_AT];
    return { state: 'done', status: { lastHandledRotateAt } };
  },
};
