import type { Tenant } from '../api/tenant.ts';
import type { Secret } from '../kube-runtime/kube-object.ts';
import type { TenantOptions } from './model.ts';

type Ownership = Pick<TenantOptions, 'labels' | 'manager'>;

interface SecretContent {
  readonly name: string;
  /** Plain texts. */
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Makes a Secret of a tenant. It has no owner reference: `deletionPolicy` decides whether it is deleted with the Tenant, not
 * the garbage collector.
 */
export function managedSecret({ labels, manager }: Ownership, tenant: Tenant, content: SecretContent): Secret {
  const { name, namespace = '', uid = '' } = tenant.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: content.name,
      namespace,
      labels: { ...content.labels, [labels.managedBy]: manager, [labels.ownerUid]: uid },
      annotations: { ...content.annotations, [labels.ownerAnnotation]: `Tenant/${namespace}/${name}` },
    },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(content.data).map(([key, text]) => [key, encoded(text)])),
  };
}

/** Whether the operator made the Secret for this Tenant, or for one that released it (`Retain`). Others are only read. */
export function isManaged({ labels, manager }: Ownership, tenant: Tenant, { metadata }: Secret): boolean {
  const held = metadata.labels ?? {};
  if (held[labels.managedBy] !== manager) return false;
  const owner = held[labels.ownerUid];
  return owner === undefined || owner === tenant.metadata.uid;
}

/** Label selector of the Secrets of a tenant. */
export function ownSecretsSelector({ labels, manager }: Ownership, tenant: Tenant): string {
  return `${labels.managedBy}=${manager},${labels.ownerUid}=${tenant.metadata.uid ?? ''}`;
}

function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
