import { isKubeError, type KubeClient } from './kube-runtime/kube-client.ts';
import { type ConfigMap, KINDS, keyOf } from './kube-runtime/kube-object.ts';

/**
 * Public keys by which the services of Dedicated tenants signed that are gone: nobody else would know that the snapshots which
 * they left in a bucket are theirs. Kept beside the operator, where who writes in a tenant's namespace writes nothing.
 */
export interface FormerSigner {
  readonly tenantId: string;
  /** Namespace and name of its Tenant. */
  readonly tenant: { readonly name: string; readonly namespace?: string };
  /** `x` of an Ed25519 key in JWK, base64url. */
  readonly key: string;
}

interface Place {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  /** The operator's namespace. */
  readonly home: string;
  readonly signal: AbortSignal;
}

const nameOf = (tenantId: string): string => `engram-signer-${tenantId}`;

export async function keepFormerSigner(
  { tenantId, tenant, key }: FormerSigner,
  labels: Readonly<Record<string, string>>,
  { client, home, signal }: Place,
): Promise<void> {
  const { apiVersion, kind } = KINDS.configMap;
  const metadata = { name: nameOf(tenantId), namespace: home, labels };
  const data = { tenantId, tenant: keyOf(tenant), key };
  try {
    await client.create<ConfigMap>(KINDS.configMap, { apiVersion, kind, metadata, data }, { signal });
  } catch (error) {
    // An operator that was killed afterwards has written it.
    if (!isKubeError(error, 409)) throw error;
  }
}

/** Of a tenant whose Tenant was in the namespace: empty where it shared services with others, or was elsewhere. */
export async function findFormerSigners(
  tenantId: string,
  namespace: string,
  { client, home, signal }: Omit<Place, 'client'> & { readonly client: Pick<KubeClient, 'get'> },
): Promise<readonly string[]> {
  const place = { name: nameOf(tenantId), namespace: home };
  const {
    tenantId: noted,
    tenant,
    key,
  } = (await client.get<ConfigMap>(KINDS.configMap, place, { signal }))?.data ?? {};
  const isIts = noted === tenantId && tenant?.startsWith(`${namespace}/`) === true;
  return isIts && key !== undefined ? [key] : [];
}
