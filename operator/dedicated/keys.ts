import { randomBytes } from 'node:crypto';
import { SIGNING_PURPOSE } from '../../services/common/domain/audit-record.ts';
import { deriveSigningKey } from '../../services/common/kernel/derived-key.ts';
import { sha256 } from '../../services/common/kernel/hashes.ts';
import { keyId } from '../../services/common/platform/messaging/token-text.ts';
import { KEY_ANNOTATIONS, REALM_LABEL, ROTATE_STORES_AT } from '../api/names.ts';
import type { TenantStatusSecret } from '../api/tenant.ts';
import { namesInMessage, toSeconds } from '../kube-runtime/conditions.ts';
import { isKubeError } from '../kube-runtime/kube-client.ts';
import { KINDS, keyOf, type Secret, secretText } from '../kube-runtime/kube-object.ts';
import { StepFailure, stalled } from '../kube-runtime/steps.ts';
import { type Realm, realmOf } from '../stores/realm.ts';
import { type RealmCredentials, STORE_DRIVERS, type StoreDriver } from '../stores/store-administrator.ts';
import type { TenantContext, TenantDependencies } from '../tenant/model.ts';
import { managedSecret, ownSecretsSelector } from '../tenant/tenant-secrets.ts';
import { FORMER_HOLDER, keysName, REALM_OWNER, TENANT_ID_LABEL } from './names.ts';
import {
  findRecord,
  findRecordsOfTenant,
  holderOf,
  isFree,
  PROOF,
  RECORD_LABEL,
  type RealmRecord,
  requireRealm,
} from './realm-record.ts';
import {
  credentialsIn,
  type LoginsPatch,
  newPassword,
  passwordKey,
  type StoreLogins,
  storeLoginsOf,
} from './store-logins.ts';

/** Keys of a Dedicated tenant's services: generated once, in a Secret that outlives all other objects. */
export interface InstallationKeys {
  readonly secretName: string;
  readonly realm: Realm;
  /** Id that `noteTenantId` wrote. */
  readonly tenantId: string | undefined;
  /** Hash of the values that pods read: pods are replaced when it changes. */
  readonly hash: string;
  /** Hash of all values: the stores are provisioned again when it changes. */
  readonly version: string;
  readonly status: TenantStatusSecret;
  readonly logins: StoreLogins;
  /** Uid of the Tenant that had the realm before, when the Secret was restored for another Tenant. */
  readonly formerHolder: string | undefined;
  credentials(driver: StoreDriver): RealmCredentials;
  /** Writes the Secret by compare-and-set. */
  write(patch: (secret: Secret) => LoginsPatch): Promise<void>;
  /** Public key that verifies signatures of the tenant's auth, as in `GET /api/v1/audit/keys`. */
  readonly receiptKey: Readonly<Record<string, string>>;
}

/** Keys of the Secret that are variables of the services. */
const KEY_VARIABLES = ['ENGRAM_ROOT_KEYS', 'FASTAPI_USERS_JWT_SECRET'] as const;

/** Finds the Secret with the keys: the tenant's own, or one that a former Tenant left for adoption. */
export async function findKeys(deps: TenantDependencies, context: TenantContext): Promise<InstallationKeys | null> {
  const held = (await ownKeys(deps, context)) ?? (await leftBehind(deps, context));
  return held === null ? null : keysOf(deps, context, held);
}

/** Finds the Secret, restores it from the record, or creates it. */
export async function ensureKeys(deps: TenantDependencies, context: TenantContext): Promise<InstallationKeys> {
  const held = await findKeys(deps, context);
  if (held !== null) return held;
  const restored = await restoreKeys(deps, context);
  if (restored !== null) return keysOf(deps, context, restored);
  const { status, object } = context;
  const lost = status.secrets?.find(({ purpose }) => purpose === 'InstallationKeys')?.name;
  if (status.tenantId !== undefined && lost !== undefined) {
    const message = `Secret ${lost} with the keys of the tenant's services is missing: restore it with its labels and annotations, nothing else decrypts its data`;
    throw new StepFailure(stalled('SecretMissing', message));
  }
  const { tenantId } = object.spec;
  if (tenantId !== undefined) {
    const message = `No Secret of a Dedicated tenant ${tenantId} is in this namespace: restore the one of its former Tenant, or remove tenantId`;
    throw new StepFailure(stalled('TenantNotFound', message));
  }
  return keysOf(deps, context, await generate(deps, context));
}

/** Labels the Secret with the id of the tenant, by which an adopting Tenant finds it. */
export async function noteTenantId(
  { client }: TenantDependencies,
  { object, status, signal }: TenantContext,
  name: string,
): Promise<void> {
  const place = { name, namespace: object.metadata.namespace ?? '' };
  const labels = { [TENANT_ID_LABEL]: status.tenantId ?? null };
  await client.patch<Secret>(KINDS.secret, place, { metadata: { labels } }, { signal });
}

/** Removes the owner from the Secret, so that another Tenant can adopt it. */
export async function releaseKeys(
  { client, options }: TenantDependencies,
  { object, signal }: TenantContext,
  name: string,
): Promise<void> {
  const place = { name, namespace: object.metadata.namespace ?? '' };
  const labels = { [options.labels.ownerUid]: null };
  const annotations = { [options.labels.ownerAnnotation]: null };
  await client.patch<Secret>(KINDS.secret, place, { metadata: { labels, annotations } }, { signal });
}

async function ownKeys({ client, options }: TenantDependencies, { object, signal }: TenantContext) {
  const { namespace = '' } = object.metadata;
  const labelSelector = `${ownSecretsSelector(options, object)},${REALM_LABEL}`;
  return (await client.list<Secret>(KINDS.secret, { namespace, labelSelector, signal })).items[0] ?? null;
}

/** Adopts a Secret without an owner by compare-and-set, so that only one of two resources gets it. */
async function leftBehind({ client, options }: TenantDependencies, { object, event, signal }: TenantContext) {
  const { tenantId } = object.spec;
  if (tenantId === undefined) return null;
  const { name, namespace = '', uid = '' } = object.metadata;
  const { managedBy, ownerUid, ownerAnnotation } = options.labels;
  const labelSelector = `${managedBy}=${options.manager},${TENANT_ID_LABEL}=${tenantId},${REALM_LABEL}`;
  const { items } = await client.list<Secret>(KINDS.secret, { namespace, labelSelector, signal });
  const free = items.find(({ metadata }) => metadata.labels?.[ownerUid] === undefined);
  if (free === undefined) return null;
  const { resourceVersion } = free.metadata;
  const annotations = { [ownerAnnotation]: `Tenant/${namespace}/${name}` };
  const metadata = { resourceVersion, labels: { [ownerUid]: uid }, annotations };
  const taken = await client.patch<Secret>(KINDS.secret, free.metadata, { metadata }, { signal });
  const message = `The stores of tenant ${tenantId} were adopted, with the keys in Secret ${free.metadata.name}`;
  event({ type: 'Normal', reason: 'StoresAdopted', message });
  return taken;
}

async function generate(deps: TenantDependencies, context: TenantContext): Promise<Secret> {
  const { object, event, now } = context;
  const realm = realmOf(object.metadata.uid ?? '');
  const name = keysName(object);
  const secret = managedSecret(deps.options, object, {
    name,
    data: newValues(),
    labels: { [REALM_LABEL]: realm.name },
    annotations: {
      [REALM_OWNER]: realm.ownerUid,
      [KEY_ANNOTATIONS.issuedAt]: toSeconds(now),
      [KEY_ANNOTATIONS.rotatedAt]: object.metadata.annotations?.[ROTATE_STORES_AT] ?? '',
    },
  });
  const made = await createKeys(deps, context, secret);
  const message = `The keys of the tenant's services are in Secret ${name}: nothing else decrypts their data`;
  event({ type: 'Normal', reason: 'SecretCreated', message });
  return made;
}

function newValues(): Record<string, string> {
  return {
    ENGRAM_ROOT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    FASTAPI_USERS_JWT_SECRET: randomBytes(36).toString('base64url'),
    [PROOF]: randomBytes(36).toString('base64url'),
    ...Object.fromEntries(STORE_DRIVERS.map((driver) => [passwordKey(driver), newPassword()])),
  };
}

/** Adds values that an older release did not write or that were removed. Existing values stay. */
async function completed({ client }: TenantDependencies, { signal }: TenantContext, held: Secret): Promise<Secret> {
  const missing = Object.entries(newValues()).filter(([key]) => (secretText(held, key) ?? '') === '');
  if (missing.length === 0) return held;
  const lost = missing.map(([key]) => key).filter((key) => (KEY_VARIABLES as readonly string[]).includes(key));
  if (lost.length > 0) {
    const message = `Secret ${held.metadata.name} lacks ${lost.toSorted().join(' and ')}: restore it, nothing else decrypts its data`;
    throw new StepFailure(stalled('SecretInvalid', message));
  }
  const data = Object.fromEntries(missing.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  const { resourceVersion } = held.metadata;
  return client.patch<Secret>(KINDS.secret, held.metadata, { metadata: { resourceVersion }, data }, { signal });
}

async function keysOf(deps: TenantDependencies, context: TenantContext, held: Secret): Promise<InstallationKeys> {
  const { uid = '' } = context.object.metadata;
  const { name, annotations = {}, labels = {} } = held.metadata;
  // Not from the label, which users may copy.
  const realm = realmOf(annotations[REALM_OWNER] ?? uid);
  const { status } = context;
  if (status.realm !== undefined && status.realm !== realm.name) {
    const message = `Secret ${name} names another realm than ${status.realm}, which the tenant has: restore its annotation ${REALM_OWNER}`;
    throw new StepFailure(stalled('SecretInvalid', message));
  }
  const secret = await completed(deps, context, held);
  await requireRealm(deps, context, { realm, secret });
  return {
    secretName: name,
    realm,
    tenantId: labels[TENANT_ID_LABEL],
    hash: hashOf(JSON.stringify(KEY_VARIABLES.map((variable) => secret.data?.[variable]))),
    version: hashOf(JSON.stringify(Object.entries(secret.data ?? {}).toSorted())),
    status: { name, purpose: 'InstallationKeys', managed: true },
    logins: storeLoginsOf(secret),
    formerHolder: annotations[FORMER_HOLDER],
    credentials: (driver) => credentialsIn(secret, driver),
    async write(patch) {
      const { resourceVersion } = secret.metadata;
      const { data, annotations: noted } = patch(secret);
      const metadata = { resourceVersion, annotations: noted };
      await deps.client.patch<Secret>(KINDS.secret, secret.metadata, { metadata, data }, { signal: context.signal });
    },
    receiptKey: receiptKeyOf(secretText(secret, 'FASTAPI_USERS_JWT_SECRET') ?? ''),
  };
}

function receiptKeyOf(secret: string): Readonly<Record<string, string>> {
  const { x } = deriveSigningKey(secret, SIGNING_PURPOSE).publicJwk;
  return { kty: 'OKP', crv: 'Ed25519', x, kid: keyId(x), alg: 'EdDSA', use: 'sig' };
}

export function hashOf(text: string): string {
  return sha256(text).slice(0, 32);
}

/**
 * Restores the Secret with a realm's keys from the record when it was deleted, with its namespace or by hand. For the Tenant
 * that has the realm, and for one that adopts the tenant by the rules for Shared tenants: with the same namespace and name, or
 * in a trusted namespace. The record has no logins at stores; new ones are created. Returns null when there is no record.
 */
async function restoreKeys(deps: TenantDependencies, context: TenantContext): Promise<Secret | null> {
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
async function createKeys({ client }: TenantDependencies, { signal }: TenantContext, secret: Secret): Promise<Secret> {
  try {
    return await client.create<Secret>(KINDS.secret, secret, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const message = `Secret ${secret.metadata.name} exists and is not managed for this resource: rename or delete it`;
    throw new StepFailure(stalled('ObjectExists', message));
  }
}
