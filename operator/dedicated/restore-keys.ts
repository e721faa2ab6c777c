import { REALM_LABEL } from '../api/names.ts';
import { namesInMessage } from '../kube-runtime/conditions.ts';
import { isKubeError } from '../kube-runtime/kube-client.ts';
import { KINDS, keyOf, type Secret } from '../kube-runtime/kube-object.ts';
import { StepFailure, stalled } from '../kube-runtime/steps.ts';
import { realmOf } from '../stores/realm.ts';
import type { TenantContext, TenantDependencies } from '../tenant/model.ts';
import { managedSecret } from '../tenant/tenant-secrets.ts';
import { FORMER_HOLDER, keysName, REALM_OWNER, TENANT_ID_LABEL } from './names.ts';
import { findRecord, findRecordsOfTenant, holderOf, isFree, RECORD_LABEL, type RealmRecord } from './realm-record.ts';

/**
 * Restores the Secret with a realm's keys from the record when it was deleted, with its namespace or by hand. For the Tenant
 * that has the realm, and for one that adopts the tenant by the rules for Shared tenants: with the same namespace and name, or
 * in a trusted namespace. The record has no logins at stores; new ones are created. Returns null when there is no record.
 */
export async function restoreKeys(deps: TenantDependencies, context: TenantContext): Promise<Secret | null> {
  const { object, status } = context;
  const { uid = '' } = object.metadata;
  const { tenantId } = object.spec;
  const record = await recordFor(deps, context);
  if (record === null) return null;
  const { options } = deps;
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
  const restored = await createKeys(deps, context, { ...bare, data: record.data ?? {} });
  const message = `The keys of the tenant's services are in Secret ${restored.metadata.name} again, from ${keyOf(record.metadata)}`;
  context.event({ type: 'Normal', reason: 'KeysRestored', message });
  return restored;
}

/** Null when there is no record. */
async function recordFor(deps: TenantDependencies, context: TenantContext): Promise<RealmRecord | null> {
  const { metadata, spec } = context.object;
  const own = await findRecord(deps, context, context.status.realm ?? realmOf(metadata.uid ?? '').name);
  if (own !== null && holderOf(own).uid === metadata.uid) return own;
  const { tenantId } = spec;
  const ofTenant = own === null && tenantId !== undefined ? await findRecordsOfTenant(deps, context, tenantId) : [];
  const all = own === null ? ofTenant : [own];
  if (all.length === 0) return null;
  const record = theOneFor(deps, context, all);
  if (await isFree(deps, context, record)) return record;
  const message = `Another Tenant has the realm of tenant ${tenantId}: delete that one first`;
  throw new StepFailure(stalled('OwnedByAnother', message));
}

/** Chooses the record of a Tenant with the same namespace and name; in a trusted namespace the only other one. Never guesses. */
function theOneFor(
  { options }: TenantDependencies,
  { object: { metadata, spec } }: TenantContext,
  all: readonly RealmRecord[],
): RealmRecord {
  const ofSame = all.filter((record) => holderOf(record).key === keyOf(metadata));
  const isTrusted = options.trustedNamespaces.includes(metadata.namespace ?? '');
  const [record, ...others] = ofSame.length === 0 && isTrusted ? all : ofSame;
  if (record === undefined) {
    const message = `The keys of tenant ${spec.tenantId} belong to a Tenant of another namespace or name: create it there or in a trusted namespace, or restore its Secret`;
    throw new StepFailure(stalled('AdoptionNotAllowed', message));
  }
  if (others.length === 0) return record;
  const names = namesInMessage([record, ...others].map((one) => keyOf(one.metadata)));
  const message = `Several realms claim tenant ${spec.tenantId}, in Secrets ${names}: remove label ${RECORD_LABEL} from the wrong ones`;
  throw new StepFailure(stalled('AdoptionNotAllowed', message));
}

/** Creates the Secret; never overwrites one of the same name that the operator did not make. */
export async function createKeys(
  { client }: TenantDependencies,
  { signal }: TenantContext,
  secret: Secret,
): Promise<Secret> {
  try {
    return await client.create<Secret>(KINDS.secret, secret, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const message = `Secret ${secret.metadata.name} exists and is not managed for this resource: rename or delete it`;
    throw new StepFailure(stalled('ObjectExists', message));
  }
}
