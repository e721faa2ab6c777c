import type { Tenant } from '../api/tenant.ts';
import { matchesSelector } from '../kube-runtime/kube-object.ts';

export interface NamespaceLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a tenant takes Datasets from a namespace. */
export function allowsNamespace(
  { metadata, spec }: Pick<Tenant, 'metadata' | 'spec'>,
  namespace: NamespaceLabels,
): boolean {
  const { from, selector } = spec.datasets.allowedNamespaces;
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return namespace.name === metadata.namespace;
    case 'Selector':
      return selector !== undefined && matchesSelector(selector, namespace.labels);
  }
}
