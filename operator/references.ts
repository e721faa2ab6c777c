import type { Dataset } from './api/dataset.ts';
import type { Tenant } from './api/tenant.ts';
import type { Cache } from './kube-runtime/informer.ts';
import { type KubeObject, keyOf, type ObjectName } from './kube-runtime/kube-object.ts';

/**
 * Secrets that people make for a Tenant: a change of one is seen at once. `own`: those that the operator made, which are
 * watched together.
 */
export function secretsOf({ metadata, spec, status }: Tenant, own: Pick<Cache<KubeObject>, 'get'>): ObjectName[] {
  const { namespace } = metadata;
  if (namespace === undefined || metadata.deletionTimestamp !== undefined) return [];
  const { owner, llm, embedding, backup } = spec;
  const references = [
    owner.passwordSecretRef,
    llm?.apiKeySecretRef,
    embedding?.apiKeySecretRef,
    backup?.destinationRef,
  ];
  const given = references.map((reference) => reference?.name);
  // Before the first look at the resource nobody knows whose these are.
  const keys = status?.observedGeneration === undefined ? [] : (spec.apiKeys ?? []).map(({ secretName }) => secretName);
  const foreign = keys.filter((name) => own.get(keyOf({ name, namespace })) === undefined);
  return [...given, ...foreign].flatMap((name) => (name === undefined ? [] : [{ name, namespace }]));
}

/** ConfigMaps with the graph model and the prompt of a Dataset. */
export function configMapsOf({ metadata, spec }: Dataset): ObjectName[] {
  const { namespace } = metadata;
  if (namespace === undefined || metadata.deletionTimestamp !== undefined) return [];
  const names = [spec.graphModel?.configMapRef?.name, spec.prompt?.configMapRef?.name];
  return names.flatMap((name) => (name === undefined ? [] : [{ name, namespace }]));
}
