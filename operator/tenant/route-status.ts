import type { KubeObject } from '../kube-runtime/kube-object.ts';

interface ParentStatus {
  readonly parentRef: { readonly name: string; readonly namespace?: string; readonly sectionName?: string };
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
    readonly observedGeneration?: number;
  }[];
}

/** An HTTPRoute as its Gateways answered. */
export interface HttpRoute extends KubeObject {
  readonly spec: { readonly parentRefs: readonly ParentStatus['parentRef'][] };
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

export type RouteVerdict =
  | { readonly verdict: 'accepted' }
  /** Gateways that have not answered for this generation of the route, sorted. */
  | { readonly verdict: 'waiting'; readonly gateways: readonly string[] }
  | { readonly verdict: 'rejected'; readonly gateway: string; readonly message: string };

/** What all Gateways of a route say of it; the first refusal counts. */
export function routeVerdict({ metadata, spec, status }: HttpRoute): RouteVerdict {
  const waiting: string[] = [];
  for (const ref of spec.parentRefs) {
    const gateway = `${ref.namespace ?? metadata.namespace ?? ''}/${ref.name}`;
    const answer = status?.parents?.find(({ parentRef }) => isSame(parentRef, ref, metadata.namespace));
    const current = (answer?.conditions ?? []).filter(
      ({ observedGeneration }) => observedGeneration === undefined || observedGeneration === metadata.generation,
    );
    const refusal = current.find(
      ({ type, status: holds }) => (type === 'Accepted' || type === 'ResolvedRefs') && holds === 'False',
    );
    if (refusal !== undefined) {
      return { verdict: 'rejected', gateway, message: refusal.message || refusal.reason || 'no reason given' };
    }
    if (!current.some(({ type, status: holds }) => type === 'Accepted' && holds === 'True')) waiting.push(gateway);
  }
  return waiting.length === 0 ? { verdict: 'accepted' } : { verdict: 'waiting', gateways: waiting.toSorted() };
}

function isSame(
  one: ParentStatus['parentRef'],
  other: ParentStatus['parentRef'],
  namespace: string | undefined,
): boolean {
  return (
    one.name === other.name &&
    (one.namespace ?? namespace) === (other.namespace ?? namespace) &&
    one.sectionName === other.sectionName
  );
}
