import type { SnapshotPlace } from '../services/common/storage/ports/snapshot-places.ts';
import type { Tenant } from './api/tenant.ts';
import type { KubeClient } from './kube-runtime/kube-client.ts';
import { KINDS, type Secret } from './kube-runtime/kube-object.ts';
import { secretText } from './tenant/tenant-secrets.ts';

/** Where snapshots are, or a sentence on what is missing. */
export type FoundPlace = { readonly place: SnapshotPlace } | { readonly fault: string };

const NEEDED = ['bucket', 'accessKey', 'secretKey'] as const;

/** Reads the Secret anew each time: what opens the bucket is remembered nowhere. */
export async function findPlace(
  { client }: { readonly client: Pick<KubeClient, 'get'> },
  tenant: Tenant | null,
  secretName: string | undefined,
  signal: AbortSignal,
): Promise<FoundPlace> {
  if (secretName === undefined) return { place: null };
  const { namespace = '' } = tenant?.metadata ?? {};
  const secret = await client.get<Secret>(KINDS.secret, { name: secretName, namespace }, { signal });
  const where = `Secret ${namespace}/${secretName} of the snapshots`;
  if (secret === null) return { fault: `${where} is missing: create it with the keys ${NEEDED.join(', ')}` };
  const missing = NEEDED.filter((key) => (secretText(secret, key) ?? '') === '');
  if (missing.length > 0) return { fault: `${where} has no ${missing.join(', ')}: add what is missing` };
  const text = (key: string): string => secretText(secret, key)?.trim() ?? '';
  return {
    place: {
      endpoint: text('endpoint') || null,
      ...{ bucket: text('bucket'), prefix: text('prefix'), region: text('region') || 'us-east-1' },
      ...{ accessKey: text('accessKey'), secretKey: text('secretKey') },
    },
  };
}
