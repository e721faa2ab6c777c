import { sha256 } from '../../services/common/kernel/hashes.ts';
import { GROUP } from '../api/names.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import { isKubeError } from '../kube-runtime/kube-client.ts';
import { type ConfigMap, KINDS, keyOf, nameOfKey, type Secret, secretText } from '../kube-runtime/kube-object.ts';
import { StepFailure, stalled } from '../kube-runtime/steps.ts';
import type { Realm } from '../stores/realm.ts';
import type { TenantContext, TenantDependencies } from '../tenant/model.ts';
import { REALM_OWNER } from './names.ts';

/** Key of the Secret: a random value that is created with the realm and never rotated. It proves that the Secret is genuine. */
export const PROOF = 'realm-proof';

/** Keys that decrypt the data of the realm, and the proof: none of them ever changes. */
const KEPT_KEYS = ['ENGRAM_ROOT_KEYS', 'FASTAPI_USERS_JWT_SECRET', PROOF];

/** Label of the record: id of the tenant. Not the label of the Secret, which may be in the same namespace. */
export const RECORD_LABEL = `${GROUP}/realm-of-tenant`;

/** Annotations of the record: uid, namespace and name of the Tenant that has the realm or had it last. */
const HOLDER_UID = `${GROUP}/realm-holder-uid`;
const HOLDER = `${GROUP}/realm-holder`;

/**
 * Copy of the irreplaceable values of a realm's Secret, in the operator's namespace. It outlives the namespace of the tenant,
 * and users of that namespace, who can write a Secret that names another realm, cannot write the record.
 */
export type RealmRecord = Secret;

export function holderOf({ metadata: { annotations = {} } }: RealmRecord): {
  readonly uid: string;
  readonly key: string;
} {
  return { uid: annotations[HOLDER_UID] ?? '', key: annotations[HOLDER] ?? '' };
}

function recordName(realm: string): string {
  return `engram-realm-${realm}`;
}

export async function findRecord(
  { client, options }: TenantDependencies,
  { signal }: TenantContext,
  realm: string,
): Promise<RealmRecord | null> {
  return client.get<Secret>(KINDS.secret, { name: recordName(realm), namespace: options.home }, { signal });
}

/** Finds the records of a tenant. There are several when services of a realm falsely reported the id of another tenant. */
export async function findRecordsOfTenant(
  { client, options }: TenantDependencies,
  { signal }: TenantContext,
  tenantId: string,
): Promise<readonly RealmRecord[]> {
  const labelSelector = `${options.labels.managedBy}=${options.manager},${RECORD_LABEL}=${tenantId}`;
  return (await client.list<Secret>(KINDS.secret, { namespace: options.home, labelSelector, signal })).items;
}

/**
 * Checks that the Secret is the genuine one of its realm and that no other Tenant has the realm, and keeps the record up to
 * date. Throws a `StepFailure` otherwise.
 */
export async function requireRealm(
  deps: TenantDependencies,
  context: TenantContext,
  { realm, secret }: { readonly realm: Realm; readonly secret: Secret },
): Promise<void> {
  const { uid } = context.object.metadata;
  const record = await findRecord(deps, context, realm.name);
  const isFirst = realm.ownerUid === uid;
  const isKnown =
    record === null ? isFirst || (await isNoted(deps, context, realm, secret)) : isSame(record, realm, secret);
  if (!isKnown) {
    const known = `Secret ${deps.options.home}/${recordName(realm.name)}`;
    const message = `Secret ${secret.metadata.name} does not match ${known}, the record of its realm: restore the Secret of its former Tenant`;
    throw new StepFailure(stalled('OwnedByAnother', message));
  }
  if (record !== null && !(await isFree(deps, context, record))) {
    const message = `The realm that Secret ${secret.metadata.name} names is another Tenant's: delete that one first`;
    throw new StepFailure(stalled('OwnedByAnother', message));
  }
  await keepRecord(deps, context, { record, realm, secret });
}

/** Whether no other existing Tenant has the realm. */
export async function isFree(
  { client }: TenantDependencies,
  { object, signal }: TenantContext,
  record: RealmRecord,
): Promise<boolean> {
  const { uid, key } = holderOf(record);
  if (uid === object.metadata.uid || uid === '') return true;
  const holder = await client.get<Tenant>(TENANT_KIND, nameOfKey(key), { signal });
  return holder?.metadata.uid !== uid;
}

export async function removeRecord({ client, options }: TenantDependencies, { signal }: TenantContext, realm: string) {
  await client.delete(KINDS.secret, { name: recordName(realm), namespace: options.home }, { signal });
}

function isSame(record: RealmRecord, realm: Realm, secret: Secret): boolean {
  return (
    record.metadata.annotations?.[REALM_OWNER] === realm.ownerUid &&
    secretText(record, PROOF) === secretText(secret, PROOF)
  );
}

/** Whether the Secret matches the record of former releases: a hash in a ConfigMap. */
async function isNoted(
  { client, options }: TenantDependencies,
  { signal }: TenantContext,
  realm: Realm,
  secret: Secret,
): Promise<boolean> {
  const place = { name: recordName(realm.name), namespace: options.home };
  const noted = (await client.get<ConfigMap>(KINDS.configMap, place, { signal }))?.data ?? {};
  const proof = sha256(secretText(secret, PROOF) ?? '');
  return noted['ownerUid'] === realm.ownerUid && noted['proof'] === proof;
}

/** Creates the record before anything is encrypted; updates it when the tenant gets its id or the realm another Tenant. */
async function keepRecord(
  { client, options }: TenantDependencies,
  { object, status, signal }: TenantContext,
  held: { readonly record: RealmRecord | null; readonly realm: Realm; readonly secret: Secret },
): Promise<void> {
  const { record, realm, secret } = held;
  const place = { name: recordName(realm.name), namespace: options.home };
  // Not from the label of the Secret, which users of the tenant's namespace can write.
  const { tenantId } = status;
  const labels = {
    [options.labels.managedBy]: options.manager,
    ...(tenantId === undefined ? {} : { [RECORD_LABEL]: tenantId }),
  };
  const annotations = {
    [REALM_OWNER]: realm.ownerUid,
    [HOLDER_UID]: object.metadata.uid ?? '',
    [HOLDER]: keyOf(object.metadata),
  };
  if (record !== null) {
    const { resourceVersion } = record.metadata;
    const isCurrent = includes(record.metadata.labels, labels) && includes(record.metadata.annotations, annotations);
    if (isCurrent) return;
    await client.patch<Secret>(KINDS.secret, place, { metadata: { resourceVersion, labels, annotations } }, { signal });
    return;
  }
  const data = Object.fromEntries(KEPT_KEYS.map((key) => [key, secret.data?.[key] ?? '']));
  const { kind, apiVersion } = KINDS.secret;
  const made: Secret = { apiVersion, kind, type: 'Opaque', metadata: { ...place, labels, annotations }, data };
  try {
    await client.create<Secret>(KINDS.secret, made, { signal });
  } catch (error) {
    // Another process created the same record.
    if (!isKubeError(error, 409)) throw error;
  }
}

function includes(all: Readonly<Record<string, string>> = {}, some: Readonly<Record<string, string>>): boolean {
  return Object.entries(some).every(([key, value]) => all[key] === value);
}
