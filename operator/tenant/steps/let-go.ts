import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type {
  EraseTenantRequest,
  ErasureProgress,
} from '../../../services/common/platform/messaging/methods/ingest-managed.ts';
import {
  CARRIED_OUT,
  type ErasureOutcome,
  erasureComplete,
  TAKE_THEM,
  underWay,
  withErasure,
  withoutSnapshots,
} from '../../erasure-outcome.ts';
import { KINDS, keyOf, type Secret } from '../../kube-runtime/kube-object.ts';
import { done } from '../../kube-runtime/steps.ts';
import { type FoundPlace, findPlace } from '../../snapshot-place.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../dependencies.ts';
import { writeReceipt } from '../receipts.ts';
import { askServices } from '../service-failure.ts';
import { ownSecrets } from '../tenant-keys.ts';

/**
 * Keeps or erases what the tenant has, as `deletionPolicy` says; what has begun to be erased is erased, whatever that says by
 * now. What another resource manages is not touched.
 */
export function letGo(deps: TenantDependencies): TenantStep {
  return {
    name: 'let-go',
    async run(context) {
      const { deletionPolicy, tenantId = context.status.tenantId ?? null } = context.object.spec;
      const managed = await findManaged(deps, context);
      const { isErasing = false } = managed ?? {};
      if (deletionPolicy === 'Retain' && isErasing) context.event(CARRIED_OUT);
      const named = managed?.tenantId ?? tenantId;
      if (deletionPolicy === 'Retain' && !isErasing) return retain(deps, context, named);
      return erase(deps, context, { tenantId: named, isErasing });
    },
  };
}

/**
 * What auth knows the resource to manage, also in the middle of its erasure: it may have been made just before the operator
 * was killed, so that the status says nothing of it. Null: nothing, or it never came to be.
 */
function findManaged(
  { services }: TenantDependencies,
  { object, signal }: TenantContext,
): ReturnType<TenantDependencies['services']['findManaged']> {
  return askServices('auth', () => services.findManaged({ crUid: object.metadata.uid ?? '' }, signal));
}

async function retain(
  deps: TenantDependencies,
  context: TenantContext,
  tenantId: string | null,
): Promise<ErasureOutcome> {
  const { object, signal } = context;
  if (tenantId !== null) {
    const request = { tenantId: asId<TenantId>(tenantId), crUid: object.metadata.uid ?? '' };
    const released = { ...request, resource: keyOf(object.metadata) };
    // What is kept is kept for good: nobody declares any more how long.
    await whereOurs(() => askServices('ingest', () => deps.services.setRetention(request, signal)));
    await whereOurs(() => askServices('ingest', () => deps.services.removeCanary(request, signal)));
    await whereOurs(() => askServices('auth', () => deps.services.releaseTenant(released, signal)));
  }
  for (const secret of await ownSecrets(deps, context)) await release(deps, secret, signal);
  return done();
}

/** The Secret stays, and the next Tenant that names it goes on with it. */
async function release(
  { client, options }: TenantDependencies,
  { metadata }: Secret,
  signal: AbortSignal,
): Promise<void> {
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
  // Once it has begun, ingest knows whether all that it waits for is there.
  if (fault !== null && !isErasing) return withoutSnapshots(fault);
  const wish = last === null || 'fault' in last ? {} : { finalSnapshots: last };
  const progress =
    tenantId === null ? null : await askErasure(deps, context, { tenantId: asId<TenantId>(tenantId), ...wish });
  if (progress === null) {
    // Of a tenant that is none, or another resource's: nobody takes these keys.
    await removeSecrets(deps, context);
    return done();
  }
  if (!progress.erased || progress.receipt === null) return underWay(progress, fault);
  const receipt = await writeReceipt(deps, context, { kind: 'Erased', json: progress.receipt });
  await removeSecrets(deps, context);
  const message = `Everything was erased and counted, the receipt is in ConfigMap ${receipt}`;
  context.event({ type: 'Normal', reason: 'Erased', message });
  return done({
    status: { erasure: { residue: 0, receipt } },
    conditions: [erasureComplete('True', 'Erased', message)],
  });
}

/** Null where the resource manages no such tenant. */
function askErasure(
  { services }: TenantDependencies,
  { object, signal }: TenantContext,
  wish: Pick<EraseTenantRequest, 'tenantId' | 'finalSnapshots'>,
): Promise<ErasureProgress | null> {
  const isPlain = object.spec.deletionPolicy === 'Delete';
  const request = { ...wish, crUid: object.metadata.uid ?? '', ...(isPlain ? { withoutSnapshots: true } : {}) };
  return whereOurs(() => withErasure(() => askServices('ingest', () => services.eraseTenant(request, signal))));
}

/** Where the snapshots of all datasets go; null: none are wanted. The installation's store is none: what is there goes too. */
async function findLast({ client }: TenantDependencies, { object, signal }: TenantContext): Promise<FoundPlace | null> {
  const { deletionPolicy, backup } = object.spec;
  if (deletionPolicy === 'Retain') return { fault: TAKE_THEM };
  if (deletionPolicy === 'Delete') return null;
  const secret = backup?.destinationRef?.name;
  if (secret === undefined) return { fault: 'name the Secret of a bucket in spec.backup.destinationRef' };
  return findPlace({ client }, object, secret, signal);
}

async function removeSecrets(deps: TenantDependencies, context: TenantContext): Promise<void> {
  const { signal } = context;
  for (const { metadata } of await ownSecrets(deps, context)) {
    const { uid } = metadata;
    await deps.client.delete(KINDS.secret, metadata, { signal, ...(uid === undefined ? {} : { uid }) });
  }
}

/** Null where the tenant is not there or another resource manages it: the resource is let go, the tenant is not. */
async function whereOurs<Answer>(call: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await call();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (isEngramError(cause) && NOT_OURS.includes(cause.wireName)) return null;
    throw error;
  }
}

const NOT_OURS = ['TenantNotFoundError', 'OwnedByAnother'];
