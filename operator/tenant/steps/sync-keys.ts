import { asId } from '../../../services/common/kernel/ids.ts';
import { API_KEY_LABEL } from '../../api/names.ts';
import type { TenantStatusSecret } from '../../api/tenant.ts';
import type { ConditionDraft } from '../../kube-runtime/conditions.ts';
import { KINDS } from '../../kube-runtime/kube-object.ts';
import { done, stalled } from '../../kube-runtime/steps.ts';
import type { TenantDependencies, TenantStep } from '../model.ts';
import { type KeyWork, ownSecrets, type SyncedKey, setKeys, syncKey } from '../tenant-keys.ts';

/** Syncs the keys of `spec.apiKeys` with their Secrets, rotates those that are due and revokes those that were removed. */
export function syncKeys(deps: TenantDependencies): TenantStep {
  return {
    name: 'sync-keys',
    async run(context) {
      const { object, status, now } = context;
      const own = await ownSecrets(deps, context);
      const work: KeyWork = { deps, context, tenantId: asId(status.tenantId ?? ''), own };
      const synced: SyncedKey[] = [];
      for (const entry of object.spec.apiKeys ?? []) {
        const key = await syncKey(work, entry);
        // Keeps the status of a key that cannot be read now: it must be revoked when it is removed.
        const before = status.secrets?.find(({ apiKey }) => apiKey === entry.name);
        synced.push(key.secret === undefined && before !== undefined ? { ...key, secret: before } : key);
      }
      await revokeUnlisted(work);
      const secrets = [
        ...(status.secrets ?? []).filter(({ purpose }) => purpose !== 'ApiKey'),
        ...synced.flatMap(({ secret }) => secret ?? []),
      ];
      const nextAt = Math.min(...synced.map((key) => key.nextAt ?? Number.POSITIVE_INFINITY));
      const requeue = Number.isFinite(nextAt) ? { requeueAfterMs: Math.max(1000, nextAt - now.getTime()) } : {};
      return outcome(synced, secrets, requeue);
    },
  };
}

function outcome(
  synced: readonly SyncedKey[],
  secrets: readonly TenantStatusSecret[],
  requeue: { readonly requeueAfterMs?: number },
) {
  const problem = synced.find((key) => key.problem !== undefined)?.problem;
  if (problem !== undefined) {
    const conditions = [credentials('False', 'SecretInvalid', problem)];
    return stalled<{ secrets: readonly TenantStatusSecret[] }>('SecretInvalid', problem, {
      conditions,
      status: { secrets },
      continues: true,
      ...requeue,
    });
  }
  const rotating = synced.filter(({ isRotating }) => isRotating).flatMap(({ secret }) => secret?.name ?? []);
  const condition =
    rotating.length > 0
      ? credentials('True', 'Rotating', `Two keys are valid, use the new one: ${rotating.toSorted().join(', ')}`)
      : credentials('True', 'Issued', 'All keys are valid');
  return done<{ secrets: readonly TenantStatusSecret[] }>({ conditions: [condition], status: { secrets }, ...requeue });
}

function credentials(status: 'True' | 'False', reason: string, message: string): ConditionDraft {
  return { type: 'CredentialsReady', status, reason, message };
}

/** Revokes keys that are no longer in the list, and deletes Secrets that keys have moved out of. */
async function revokeUnlisted(work: KeyWork): Promise<void> {
  const { context, deps, own } = work;
  const { apiKeys = [] } = context.object.spec;
  const listed = new Set(apiKeys.map(({ name }) => name));
  const known = [
    ...(context.status.secrets ?? []).flatMap(({ apiKey }) => apiKey ?? []),
    ...own.flatMap(({ metadata }) => metadata.labels?.[API_KEY_LABEL] ?? []),
  ];
  for (const name of new Set(known.filter((name) => !listed.has(name)))) {
    await setKeys(work, name, []);
    context.event({
      type: 'Normal',
      reason: 'KeyRevoked',
      message: `API key ${name} was removed from the list and revoked`,
    });
  }
  const places = new Map(apiKeys.map(({ name, secretName }) => [name, secretName]));
  for (const { metadata } of own) {
    const keyName = metadata.labels?.[API_KEY_LABEL];
    if (keyName === undefined || places.get(keyName) === metadata.name) continue;
    const { uid } = metadata;
    await deps.client.delete(KINDS.secret, metadata, { signal: context.signal, ...(uid === undefined ? {} : { uid }) });
  }
}
