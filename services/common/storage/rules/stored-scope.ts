import type { TenantId } from '../../kernel/brand.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import type { DatasetScope } from '../../kernel/scope.ts';

/** Between the namespace and the tenant; no namespace holds it. */
const SEPARATOR = ':';

/**
 * The scope under which a graph database that several installations share keeps what belongs to one of them. Their ids are
 * not apart by themselves: the personal space, and datasets named after what they hold, have the same in each.
 */
export function storedScope(namespace: string, { tenant, dataset }: DatasetScope): DatasetScope {
  return { tenant: `${namespacePrefix(namespace)}${tenant}` as TenantId, dataset };
}

/** Prefix of the stored tenants of a namespace, and of no other. */
export function namespacePrefix(namespace: string): string {
  return `${namespace}${SEPARATOR}`;
}

/** The label of the dataset's view, of the scope as it is stored. The JSON separates tenant and dataset. */
export function datasetLabel({ tenant, dataset }: DatasetScope): string {
  return `D_${sha256OfJson([tenant, dataset]).slice(0, 32)}`;
}
