import type { TenantStatus } from '../api/tenant.ts';
import { receiptName } from '../erasure/receipts.ts';
import { keepFormerSigner } from '../erasure/snapshots.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { type ConfigMap, KINDS, type KubeObject, keyOf, type Secret } from '../kube-runtime/kube-object.ts';
import { done, progressing, retrying, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import { type Realm, realmOf } from '../stores/realm.ts';
import type { StoreAdministrator } from '../stores/store-administrator.ts';
import { isDedicated } from '../tenant/effective-state.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../tenant/model.ts';
import { askService } from '../tenant/service-failure.ts';
import { ownSecrets } from '../tenant/tenant-keys.ts';
import { findKeys, type InstallationKeys, noteTenantId, releaseKeys } from './keys.ts';
import type { DedicatedDependencies } from './model.ts';
import { commonLabels, objectName, REALM_OWNER, SETTINGS } from './names.ts';
import { askStore } from './provision.ts';
import { findRecord, holderOf, type RealmRecord, removeRecord } from './realm-record.ts';
import { WORKLOAD_KINDS } from './workloads.ts';

type Outcome = StepOutcome<Pick<TenantStatus, 'erasure'>>;

const AGAIN_MS = 1000;

/**
 * Stage of the deletion of a Dedicated tenant. `none`: it was never created, or is released already. `unnamed`: its services
 * never reported its id, so it has no data. `running`: its services are needed. `erased`: they have erased everything and
 * signed a receipt.
 */
type Stage = 'none' | 'unnamed' | 'running' | 'erased';

/** Runs a step only while the services of a Dedicated tenant are needed; always for Shared tenants. */
export function whileRunning(deps: DedicatedDependencies, step: TenantStep): TenantStep {
  return {
    name: step.name,
    async run(context) {
      if (isDedicated(context.object) && (await stageOf(deps, context)) !== 'running') return done();
      return step.run(context);
    },
  };
}

/** Writes the id of the tenant to the status before it is released, when the operator was killed before it did. */
export function nameTenant(deps: TenantDependencies): TenantStep {
  return {
    name: 'name-tenant',
    async run(context) {
      const { object, status, signal } = context;
      const keys = status.tenantId === undefined && isDedicated(object) ? await findKeys(deps, context) : null;
      if (keys === null) return done();
      const request = { crUid: object.metadata.uid ?? '' };
      const { managed } = await askService(deps.services, 'auth.FindManaged', { request, signal });
      if (managed === null) return done();
      const { tenantId } = managed;
      await noteTenantId(deps, { ...context, status: { ...status, tenantId } }, keys.secretName);
      return done({ status: { tenantId } });
    },
  };
}

/**
 * Removes the installation of a Dedicated tenant after its services erased or released it. Erased: removes the objects, then
 * its part of every store, which is counted, then the keys. Released: removes the objects; the stores stay, and so do the keys
 * in their Secret, for another Tenant with its id.
 */
export function removeInstallation(deps: DedicatedDependencies): TenantStep {
  return {
    name: 'remove-installation',
    async run(context): Promise<Outcome> {
      const { object, signal } = context;
      if (!isDedicated(object)) return done();
      const uid = object.metadata.uid ?? '';
      const keys = await findKeys(deps, context);
      const stage = await stageOf(deps, context);
      // A realm without keys: the Secret was deleted, which does not prevent the removal.
      if (keys === null && stage === 'none' && context.status.realm === undefined) return done();
      await deps.applier.apply(object, [], { prune: WORKLOAD_KINDS, signal });
      await removeSettings(deps, context);
      await deps.dedicated.services.forget(uid);
      deps.dedicated.provisions.forget(uid);
      if (await runs(deps, context)) {
        return progressing('Erasing', 'The services of the tenant are ending', { requeueAfterMs: AGAIN_MS });
      }
      return isKept(context, stage) ? keep(deps, context, keys) : removeStores(deps, context, keys);
    },
  };
}

/** Deletes the Secret with the settings, unless the operator did not make it. */
async function removeSettings({ client, options }: DedicatedDependencies, { object, signal }: TenantContext) {
  const place = { name: objectName(object, SETTINGS), namespace: object.metadata.namespace ?? '' };
  const held = await client.get<Secret>(KINDS.secret, place, { signal });
  const { uid, labels = {} } = held?.metadata ?? {};
  if (uid === undefined || labels[options.labels.ownerUid] !== object.metadata.uid) return;
  await client.delete(KINDS.secret, place, { signal, uid });
}

/** Whether the stores are kept. A tenant that was not adopted yet is kept; a new one without an id has nothing to keep. */
function isKept({ object }: TenantContext, stage: Stage): boolean {
  const { tenantId, deletionPolicy } = object.spec;
  return stage === 'unnamed' ? tenantId !== undefined : stage !== 'erased' && deletionPolicy === 'Retain';
}

async function keep(deps: DedicatedDependencies, context: TenantContext, keys: InstallationKeys | null) {
  if (keys === null) {
    const record = await ownRecord(deps, context);
    if (record !== null) {
      const message = `The stores of realm ${context.status.realm} are kept, and their keys in Secret ${keyOf(record.metadata)}: a Tenant of this name with its tenantId adopts them`;
      context.event({ type: 'Normal', reason: 'Retained', message });
      return done();
    }
    const lost = `The stores of realm ${context.status.realm} are kept, but the Secret with their keys is missing: they cannot be adopted without a copy of it`;
    context.event({ type: 'Warning', reason: 'KeysMissing', message: lost });
    return done();
  }
  await releaseKeys(deps, context, keys.secretName);
  const message = `The stores of realm ${keys.realm.name} are kept, and their keys in Secret ${keys.secretName}: a Tenant with this tenantId adopts them`;
  context.event({ type: 'Normal', reason: 'Retained', message });
  return done();
}

async function removeStores(deps: DedicatedDependencies, context: TenantContext, keys: InstallationKeys | null) {
  const { stores } = deps.dedicated.options;
  const { object, signal } = context;
  if (!stores.available) {
    return retrying('StoreUnreachable', stores.reason, { conditions: [incomplete('StoreUnreachable', stores.reason)] });
  }
  const record = keys === null ? await ownRecord(deps, context) : null;
  const owner = record?.metadata.annotations?.[REALM_OWNER] ?? object.metadata.uid ?? '';
  const realm = keys?.realm ?? realmOf(owner);
  const { realm: named = realm.name } = context.status;
  if (keys === null && named !== realm.name) {
    // The status alone is not enough: topics of Kafka have no mark of their owner.
    const message = `The Secret with the keys of realm ${named}, which was adopted, is missing: restore it, so that the stores can be removed`;
    return stalled('SecretMissing', message, { conditions: [incomplete('SecretMissing', message)] });
  }
  // In reverse order of provisioning: a store that refers to others is removed last.
  const administrators = stores.administrators.toReversed();
  const left: Record<string, number> = {};
  for (const administrator of administrators) left[administrator.driver] = await removed(administrator, realm, signal);
  const residue = Object.values(left).reduce((sum, count) => sum + count, 0);
  if (residue > 0) {
    const drivers = administrators.map(({ driver }) => driver).filter((driver) => (left[driver] ?? 0) > 0);
    const message = `Realm ${realm.name} is not completely removed from ${drivers.toSorted().join(', ')}: the removal is retried`;
    const erasure = { ...context.status.erasure, residue };
    return retrying('ResidueFound', message, {
      status: { erasure },
      conditions: [incomplete('ResidueFound', message)],
    });
  }
  await noteOnReceipt(deps, context, { realm, administrators, keys });
  await noteSigner(deps, context, keys);
  await removeRecord(deps, context, realm.name);
  if (keys !== null) {
    const { namespace = '' } = object.metadata;
    await deps.client.delete(KINDS.secret, { name: keys.secretName, namespace }, { signal });
  }
  const message = `Databases, indexes and users of realm ${realm.name} were removed and counted`;
  context.event({ type: 'Normal', reason: 'StoresRemoved', message });
  return done();
}

/** Returns the record of the Tenant's realm; null when there is none or it names another holder. */
async function ownRecord(deps: DedicatedDependencies, context: TenantContext): Promise<RealmRecord | null> {
  const { realm } = context.status;
  const record = realm === undefined ? null : await findRecord(deps, context, realm);
  return record !== null && holderOf(record).uid === context.object.metadata.uid ? record : null;
}

async function removed(administrator: StoreAdministrator, realm: Realm, signal: AbortSignal): Promise<number> {
  return askStore(
    administrator,
    async () => {
      await administrator.remove(realm, signal);
      return administrator.residue(realm, signal);
    },
    'ErasureComplete',
  );
}

/** Keeps the public key of the signer: snapshots in a bucket stay, and can be restored only if their signer is known. */
async function noteSigner(
  { client, options }: DedicatedDependencies,
  { object, status, signal }: TenantContext,
  keys: InstallationKeys | null,
): Promise<void> {
  const { tenantId = keys?.tenantId } = status;
  const key = keys?.receiptKey['x'];
  if (object.spec.backup?.destinationRef === undefined || tenantId === undefined || key === undefined) return;
  const labels = { [options.labels.managedBy]: options.manager };
  await keepFormerSigner({ tenantId, tenant: object.metadata, key }, labels, { client, home: options.home, signal });
}

/**
 * Adds to the signed receipt the stores that the operator removed and counted, and the public key of the signature, which no
 * service can return any more.
 */
async function noteOnReceipt(
  { client }: DedicatedDependencies,
  { object, signal }: TenantContext,
  {
    realm,
    administrators,
    keys,
  }: {
    readonly realm: Realm;
    readonly administrators: readonly StoreAdministrator[];
    readonly keys: InstallationKeys | null;
  },
): Promise<void> {
  const place = { name: receiptName(object, 'Erased'), namespace: object.metadata.namespace ?? '' };
  if ((await client.get<ConfigMap>(KINDS.configMap, place, { signal })) === null) return;
  const stores = administrators.map(({ driver }) => ({ driver, residue: 0 }));
  const data = {
    'stores.json': JSON.stringify({ realm: realm.name, stores }),
    ...(keys === null ? {} : { 'keys.json': JSON.stringify({ keys: [keys.receiptKey] }) }),
  };
  await client.patch<ConfigMap>(KINDS.configMap, place, { data }, { signal });
}

async function stageOf(deps: DedicatedDependencies, context: TenantContext): Promise<Stage> {
  const { object, status, signal } = context;
  const place = { name: receiptName(object, 'Erased'), namespace: object.metadata.namespace ?? '' };
  const isErased =
    status.erasure?.receipt !== undefined ||
    (await deps.client.get<ConfigMap>(KINDS.configMap, place, { signal })) !== null;
  if (isErased) return 'erased';
  const keys = await findKeys(deps, context);
  if (keys === null) return 'none';
  if (status.tenantId !== undefined) return 'running';
  // An adopted Secret has the id of a tenant that is not ours yet.
  if (object.spec.tenantId === undefined && keys.tenantId !== undefined) return 'running';
  // API keys and the owner's password are created once the services answer: their holders may have added data, although
  // the operator was killed before it wrote the id of the tenant.
  return (await ownSecrets(deps, context)).length === 0 ? 'unnamed' : 'running';
}

async function runs({ client }: DedicatedDependencies, { object, signal }: TenantContext): Promise<boolean> {
  const { namespace = '' } = object.metadata;
  const labelSelector = Object.entries(commonLabels(object))
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
  return (await client.list<KubeObject>(KINDS.pod, { namespace, labelSelector, signal })).items.length > 0;
}

function incomplete(reason: string, message: string): ConditionDraft {
  return { type: 'ErasureComplete', status: 'False', reason, message };
}
