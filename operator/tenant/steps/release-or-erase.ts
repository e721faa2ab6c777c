import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { ErasureProgress, RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import {
  ERASURE_CONTINUES,
  type ErasureOutcome,
  erasing,
  erasureComplete,
  ifManagedByUs,
  RESTORE_SNAPSHOT_POLICY,
  withErasureCondition,
  withoutSnapshots,
} from '../../erasure/outcome.ts';
import { writeReceipt } from '../../erasure/receipts.ts';
import { type FoundPlace, findPlace } from '../../erasure/snapshots.ts';
import { KINDS, keyOf, type Secret } from '../../kube-runtime/kube-object.ts';
import { done } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../model.ts';
import { askService } from '../service-failure.ts';
import { ownSecrets } from '../tenant-keys.ts';

/**
 * Releases or erases the tenant, as `deletionPolicy` says; an erasure that has begun continues whatever the policy is now.
 * Touches nothing that another resource manages.
 */
export function releaseOrErase(deps: TenantDependencies): TenantStep {
  return {
    name: 'release-or-erase',
    async run(context) {
      const { deletionPolicy, tenantId = context.status.tenantId ?? null } = context.object.spec;
      const managed = await managedTenant(deps, context);
      const { isErasing = false } = managed ?? {};
      if (deletionPolicy === 'Retain' && isErasing) context.event(ERASURE_CONTINUES);
      const named = managed?.tenantId ?? tenantId;
      if (deletionPolicy === 'Retain' && !isErasing) return release(deps, context, named);
      return erase(deps, context, { tenantId: named, isErasing });
    },
  };
}

/**
 * Returns the tenant that auth knows the resource to manage, also in the middle of its erasure. The status may lack it: the
 * tenant may have been created just before the operator was killed. Null when there is none.
 */
async function managedTenant({ services }: TenantDependencies, { object, signal }: TenantContext) {
  const { managed } = await askService(services, 'auth.FindManaged', {
    request: { crUid: object.metadata.uid ?? '' },
    signal,
  });
  return managed;
}

async function release(deps: TenantDependencies, context: TenantContext, tenantId: string | null) {
  const { object, signal } = context;
  if (tenantId !== null) {
    const request = { tenantId: asId<TenantId>(tenantId), crUid: object.metadata.uid ?? '' };
    const released = { ...request, resource: keyOf(object.metadata) };
    // Without a resource nobody declares a retention any more, so nothing expires.
    await ifManagedByUs(() => askService(deps.services, 'ingest.SetRetention', { request, signal }));
    await ifManagedByUs(() => askService(deps.services, 'ingest.RemoveCanary', { request, signal }));
    await ifManagedByUs(() => askService(deps.services, 'auth.ReleaseTenant', { request: released, signal }));
  }
  for (const secret of await ownSecrets(deps, context)) await releaseSecret(deps, secret, signal);
  return done();
}

/** Keeps the Secret; the next Tenant that names it adopts it. */
async function releaseSecret({ client, options }: TenantDependencies, { metadata }: Secret, signal: AbortSignal) {
  const { resourceVersion } = metadata;
  const labels = { [options.labels.ownerUid]: null };
  const annotations = { [options.labels.ownerAnnotation]: null };
  await client.patch(KINDS.secret, metadata, { metadata: { resourceVersion, labels, annotations } }, { signal });
}

async function erase(
  deps: TenantDependencies,
  context: TenantContext,
  { tenantId, isErasing }: { readonly tenantId: string | null; readonly isErasing: boolean },
): Promise<ErasureOutcome> {
  const last = tenantId === null ? null : await findLast(deps, context);
  const fault = last !== null && 'fault' in last ? last.fault : null;
  // Once the erasure has begun, ingest knows whether all its snapshots exist.
  if (fault !== null && !isErasing) return withoutSnapshots(fault);
  const snapshots = last === null || 'fault' in last ? {} : { finalSnapshots: last };
  const progress =
    tenantId === null ? null : await askErasure(deps, context, { tenantId: asId<TenantId>(tenantId), ...snapshots });
  if (progress === null) {
    // Keys of a tenant that does not exist or is another resource's are of no use.
    await removeSecrets(deps, context);
    return done();
  }
  if (!progress.erased || progress.receipt === null) return erasing(progress, fault);
  const receipt = await writeReceipt(deps, context, { kind: 'Erased', json: progress.receipt });
  await removeSecrets(deps, context);
  const message = `Everything was erased and counted, the receipt is in ConfigMap ${receipt}`;
  context.event({ type: 'Normal', reason: 'Erased', message });
  return done({
    status: { erasure: { residue: 0, receipt } },
    conditions: [erasureComplete('True', 'Erased', message)],
  });
}

/** Null when the resource does not manage the tenant. */
async function askErasure(
  { services }: TenantDependencies,
  { object, signal }: TenantContext,
  erasure: Pick<RequestOf<'ingest.EraseTenant'>, 'tenantId' | 'finalSnapshots'>,
): Promise<ErasureProgress | null> {
  const isPlain = object.spec.deletionPolicy === 'Delete';
  const request = { ...erasure, crUid: object.metadata.uid ?? '', ...(isPlain ? { withoutSnapshots: true } : {}) };
  const answer = await ifManagedByUs(() =>
    withErasureCondition(() => askService(services, 'ingest.EraseTenant', { request, signal })),
  );
  return answer?.progress ?? null;
}

/** Returns where the final snapshots of all datasets go; null when none are wanted. They need a bucket: the installation's own store is erased too. */
async function findLast({ client }: TenantDependencies, { object, signal }: TenantContext): Promise<FoundPlace | null> {
  const { deletionPolicy, backup } = object.spec;
  if (deletionPolicy === 'Retain') return { fault: RESTORE_SNAPSHOT_POLICY };
  if (deletionPolicy === 'Delete') return null;
  const secret = backup?.destinationRef?.name;
  if (secret === undefined) return { fault: 'name the Secret of a bucket in spec.backup.destinationRef' };
  return findPlace(client, object, secret, signal);
}

async function removeSecrets(deps: TenantDependencies, context: TenantContext): Promise<void> {
  const { signal } = context;
  for (const { metadata } of await ownSecrets(deps, context)) {
    const { uid } = metadata;
    await deps.client.delete(KINDS.secret, metadata, { signal, ...(uid === undefined ? {} : { uid }) });
  }
}
