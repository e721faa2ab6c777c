import type { Tenant, TenantDatasetsAllowedNamespacesSelector } from '../api/tenant.ts';

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
      return selector !== undefined && matches(selector, namespace.labels);
  }
}

/** As Kubernetes matches: everything must hold; a selector without conditions matches all. */
function matches(
  { matchLabels = {}, matchExpressions = [] }: TenantDatasetsAllowedNamespacesSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

type Expression = NonNullable<TenantDatasetsAllowedNamespacesSelector['matchExpressions']>[number];

function holds({ key, operator, values = [] }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
