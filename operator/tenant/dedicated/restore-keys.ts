import { KINDS, keyOf, type Secret } from '../../runtime/kube-object.ts';
import { StepFailure, stalled } from '../../runtime/step.ts';
import { realmOf } from '../../stores/realm.ts';
import type { TenantContext, TenantDependencies } from '../dependencies.ts';
import { managedSecret } from '../tenant-secrets.ts';
import { FORMER_HOLDER, keysName, REALM_LABEL, REALM_OWNER, TENANT_ID_LABEL } from './names.ts';
import { findRecord, findRecordOfTenant, holderOf, isFree, type RealmRecord } from './realm-record.ts';

/**
 * The Secret of a realm's keys from the record beside the operator, where it is gone: with its namespace, or by hand. For the
 * Tenant that has the realm; and for one that takes the tenant over, by the rules for tenants of shared services: of the same
 * namespace and name, or of a namespace that is trusted. Logins at stores are not in the record: new ones are made.
 */
export async function restoreKeys(deps: TenantDependencies, context: TenantContext): Promise<Secret | null> {
  const { object, status } = context;
  const { uid = '' } = object.metadata;
  const { tenantId } = object.spec;
  const record =
    (await findRecord(deps, context, status.realm ?? realmOf(uid).name)) ??
    (tenantId === undefined ? null : await findRecordOfTenant(deps, context, tenantId));
  if (record === null) return null;
  await requireRightTo(deps, context, record);
  const { client, options } = deps;
  const { annotations = {} } = record.metadata;
  const realm = realmOf(annotations[REALM_OWNER] ?? '');
  const id = status.tenantId ?? tenantId;
  const bare = managedSecret(options, object, {
    name: keysName(object),
    data: {},
    labels: { [REALM_LABEL]: realm.name, ...(id === undefined ? {} : { [TENANT_ID_LABEL]: id }) },
    annotations: {
      [REALM_OWNER]: realm.ownerUid,
      ...(holderOf(record).uid === uid ? {} : { [FORMER_HOLDER]: holderOf(record).uid }),
    },
  });
  const restored = await client.create<Secret>(
    KINDS.secret,
    { ...bare, data: record.data ?? {} },
    { signal: context.signal },
  );
  const message = `The keys of the tenant's services are in Secret ${restored.metadata.name} again, from ${keyOf(record.metadata)}`;
  context.event({ type: 'Normal', reason: 'KeysRestored', message });
  return restored;
}

async function requireRightTo(deps: TenantDependencies, context: TenantContext, record: RealmRecord): Promise<void> {
  const { metadata, spec } = context.object;
  const holder = holderOf(record);
  if (holder.uid === metadata.uid) return;
  const isSame = holder.key === keyOf(metadata);
  const isTrusted = deps.options.trustedNamespaces.includes(metadata.namespace ?? '');
  if (!isSame && !isTrusted) {
    const message = `The keys of tenant ${spec.tenantId} are kept for a Tenant of another namespace or name: make it there or in a trusted namespace, or bring the Secret that it left`;
    throw new StepFailure(stalled('AdoptionNotAllowed', message));
  }
  if (await isFree(deps, context, record)) return;
  const message = `Another Tenant has the realm of tenant ${spec.tenantId}: delete that one first`;
  throw new StepFailure(stalled('OwnedByAnother', message));
}
