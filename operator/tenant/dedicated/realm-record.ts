import { createHash } from 'node:crypto';
import { isKubeError } from '../../runtime/kube-error.ts';
import { type ConfigMap, KINDS, type Secret } from '../../runtime/kube-object.ts';
import { StepFailure, stalled } from '../../runtime/step.ts';
import type { Realm } from '../../stores/realm.ts';
import type { TenantContext, TenantDependencies } from '../dependencies.ts';
import { secretText } from '../tenant-secrets.ts';

/** Key of the Secret: random, made once with the realm, and never rotated. Who has it has what the realm was left with. */
export const PROOF = 'realm-proof';

/**
 * Whoever may write Secrets in a namespace can write one that names the realm of somebody else, whose uid is no secret. So
 * the operator keeps beside itself, where they write nothing, what the Secret of each realm holds: with the Tenant that the
 * realm was made for it is noted, and of any other one it is asked.
 */
export async function requireRealm(
  deps: TenantDependencies,
  context: TenantContext,
  { realm, secret }: { readonly realm: Realm; readonly secret: Secret },
): Promise<void> {
  const { client, options } = deps;
  const { object, signal } = context;
  const place = { name: `engram-realm-${realm.name}`, namespace: options.home };
  const proof = createHash('sha256')
    .update(secretText(secret, PROOF) ?? '')
    .digest('hex');
  const record = await client.get<ConfigMap>(KINDS.configMap, place, { signal });
  if (realm.ownerUid === object.metadata.uid) {
    if (record === null) await note(deps, context, { place, data: { ownerUid: realm.ownerUid, proof } });
    return;
  }
  if (record?.data?.['ownerUid'] === realm.ownerUid && record.data['proof'] === proof) return;
  const known = `ConfigMap ${place.namespace}/${place.name}`;
  const message = `Secret ${secret.metadata.name} is not the one that ${known} knows for its realm: bring the one that its former Tenant left`;
  throw new StepFailure(stalled('OwnedByAnother', message));
}

async function note(
  { client, options }: TenantDependencies,
  { signal }: TenantContext,
  { place, data }: { readonly place: ConfigMap['metadata']; readonly data: Readonly<Record<string, string>> },
): Promise<void> {
  const { kind, apiVersion } = KINDS.configMap;
  const metadata = { ...place, labels: { [options.labels.managedBy]: options.manager } };
  try {
    await client.create<ConfigMap>(KINDS.configMap, { apiVersion, kind, metadata, data }, { signal });
  } catch (error) {
    // Another process noted the same.
    if (!isKubeError(error, 409)) throw error;
  }
}
