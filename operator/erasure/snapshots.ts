import type { SnapshotPlace } from '../../services/common/storage/ports/snapshot-places.ts';
import type { Tenant } from '../api/tenant.ts';
import { isKubeError, type KubeClient } from '../kube-runtime/kube-client.ts';
import { type ConfigMap, KINDS, keyOf, type Secret, secretText } from '../kube-runtime/kube-object.ts';

/** Where snapshots are, or a sentence that says what is missing. */
export type FoundPlace = { readonly place: SnapshotPlace } | { readonly fault: string };

const NEEDED = ['bucket', 'accessKey', 'secretKey'] as const;

/** Reads the bucket and its credentials from the Secret, each time again: credentials are kept nowhere. */
export async function findPlace(
  client: KubeClient,
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
      bucket: text('bucket'),
      prefix: text('prefix'),
      region: text('region') || 'us-east-1',
      accessKey: text('accessKey'),
      secretKey: text('secretKey'),
    },
  };
}

/**
 * Public key with which the services of a Dedicated tenant signed snapshots before they were removed. Without it nobody could
 * tell that snapshots in a bucket are theirs. Kept in the operator's namespace, where users of tenant namespaces cannot write.
 */
interface FormerSigner {
  readonly tenantId: string;
  /** Namespace and name of its Tenant. */
  readonly tenant: { readonly name: string; readonly namespace?: string };
  /** `x` of an Ed25519 key in JWK, base64url. */
  readonly key: string;
}

const signerName = (tenantId: string): string => `engram-signer-${tenantId}`;

export async function keepFormerSigner(
  { tenantId, tenant, key }: FormerSigner,
  labels: Readonly<Record<string, string>>,
  { client, home, signal }: { readonly client: KubeClient; readonly home: string; readonly signal: AbortSignal },
): Promise<void> {
  const { apiVersion, kind } = KINDS.configMap;
  const metadata = { name: signerName(tenantId), namespace: home, labels };
  const data = { tenantId, tenant: keyOf(tenant), key };
  try {
    await client.create<ConfigMap>(KINDS.configMap, { apiVersion, kind, metadata, data }, { signal });
  } catch (error) {
    // Written before, by an operator that was killed afterwards.
    if (!isKubeError(error, 409)) throw error;
  }
}

/** Returns the keys of a former Dedicated tenant whose Tenant was in the namespace; empty for any other tenant. */
export async function findFormerSigners(
  tenantId: string,
  namespace: string,
  { client, home, signal }: { readonly client: KubeClient; readonly home: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const place = { name: signerName(tenantId), namespace: home };
  const configMap = await client.get<ConfigMap>(KINDS.configMap, place, { signal });
  const { tenantId: noted, tenant, key } = configMap?.data ?? {};
  const isIts = noted === tenantId && tenant?.startsWith(`${namespace}/`) === true;
  return isIts && key !== undefined ? [key] : [];
}
