import type { Tenant, TenantStatus } from '../../api/tenant.ts';
import type { ConditionDraft } from '../../kube-runtime/conditions.ts';
import { isKubeError } from '../../kube-runtime/kube-client.ts';
import { KINDS, type KubeObject, type ObjectName, type ResourceKind } from '../../kube-runtime/kube-object.ts';
import { done, progressing, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies, TenantOptions, TenantStep } from '../model.ts';
import { routeObject } from '../route-objects.ts';

type RouteOutcome = StepOutcome<Pick<TenantStatus, 'url' | 'routeObject'>>;

/** Interval of checks of the Gateway, at first and later. */
const SOON_MS = 1000;
const LATER_MS = 30_000;
/** A working Gateway answers within this time. */
const PATIENCE_MS = 30_000;

/** Applies the tenant's Ingress or HTTPRoute, removes one that is not declared, and shows its state. */
export function syncRoute(deps: TenantDependencies): TenantStep {
  const { backends } = deps.options;
  return {
    name: 'sync-route',
    async run(context): Promise<RouteOutcome> {
      const fault = tlsFault(context.object, deps.options);
      if (fault !== null) return fault;
      const wanted = routeObject(context.object, backends);
      const applied = await applyRoute(deps, context, wanted === null ? [] : [wanted]);
      if (applied === 'unknown-kind') {
        return refused('The cluster does not know HTTPRoute: install the Gateway API, or use type Ingress');
      }
      if (wanted === null) {
        const { hostname } = context.object.spec.routing ?? {};
        const message = hostname === undefined ? 'No route is declared' : `Requests for ${hostname} select the tenant`;
        return done({
          conditions: [routed('True', 'NotRequested', message)],
          status: { url: undefined, routeObject: undefined },
        });
      }
      const name = wanted.object.metadata;
      const status = { routeObject: { kind: kindOf(wanted.kind), namespace: backends.namespace, name: name.name } };
      return wanted.kind === KINDS.ingress
        ? ingressOutcome(context.object, status)
        : httpRouteOutcome(deps, context, name, status);
    },
  };
}

/**
 * Checks that the Tenant may use the TLS Secret. TLS Secrets of all namespaces are in the namespace of the services; a Tenant
 * may use those that begin with the name of its namespace and a dot, which no namespace name contains. A route that exists
 * stays.
 */
function tlsFault({ metadata, spec }: Tenant, { backends, trustedNamespaces }: TenantOptions): RouteOutcome | null {
  const { tlsSecretName: name } = spec.routing ?? {};
  const { namespace = '' } = metadata;
  const isBeside = spec.isolation === 'Dedicated' || namespace === backends.namespace;
  if (name === undefined || isBeside || trustedNamespaces.includes(namespace)) return null;
  if (name.startsWith(`${namespace}.`)) return null;
  const message = `tlsSecretName is not for this namespace: name the Secret in ${backends.namespace} ${namespace}.<anything>`;
  return stalled('TlsSecretNotAllowed', message, {
    conditions: [routed('False', 'TlsSecretNotAllowed', message)],
    continues: true,
  });
}

export function removeRoute(deps: TenantDependencies): TenantStep {
  return {
    name: 'remove-route',
    async run(context) {
      // Removes both kinds: the status may lack one, when its write was interrupted.
      await applyRoute(deps, context, [], true);
      return done({ status: { url: undefined, routeObject: undefined } });
    },
  };
}

async function applyRoute(
  { applier, options }: TenantDependencies,
  context: TenantContext,
  desired: Parameters<TenantDependencies['applier']['apply']>[1],
  anyKind = false,
): Promise<'applied' | 'unknown-kind'> {
  const { object, status, event, signal } = context;
  const isWanted = desired.some(({ kind }) => kind === KINDS.httpRoute);
  const isKnown = anyKind || isWanted || status.routeObject?.kind === 'HTTPRoute';
  // Clusters without the Gateway API do not know the kind.
  const prune = isKnown ? [KINDS.ingress, KINDS.httpRoute] : [KINDS.ingress];
  const namespaces = [options.backends.namespace];
  try {
    const { corrected } = await applier.apply(object, desired, { prune, namespaces, signal });
    for (const name of corrected) {
      event({ type: 'Warning', reason: 'DriftCorrected', message: `${name} was changed elsewhere and corrected` });
    }
    return 'applied';
  } catch (error) {
    if (isKnown && isKubeError(error, 404)) return isWanted ? 'unknown-kind' : 'applied';
    throw error;
  }
}

/** An Ingress has no status that tells whether it is accepted. */
function ingressOutcome({ spec }: Tenant, status: TenantStatus): RouteOutcome {
  const { hostname = '', tlsSecretName } = spec.routing ?? {};
  const url = `${tlsSecretName === undefined ? 'http' : 'https'}://${hostname}`;
  const message = 'The Ingress exists; its status does not tell whether its controller serves it';
  return done({ conditions: [routed('True', 'Accepted', message)], status: { ...status, url } });
}

async function httpRouteOutcome(
  { client }: TenantDependencies,
  { object, now, signal }: TenantContext,
  name: ObjectName,
  status: TenantStatus,
): Promise<RouteOutcome> {
  const route = await client.get<HttpRoute>(KINDS.httpRoute, name, { signal });
  const verdict = route === null ? { verdict: 'waiting' as const, gateways: [] } : routeVerdict(route);
  if (verdict.verdict === 'waiting') {
    const gateways = verdict.gateways.join(', ');
    const message = `No answer yet from Gateway ${gateways}: check that it exists and that a controller serves it`;
    const age = now.getTime() - Date.parse(route?.metadata.creationTimestamp ?? now.toISOString());
    return progressing('GatewayPending', message, {
      conditions: [routed('Unknown', 'GatewayPending', message)],
      status,
      requeueAfterMs: age < PATIENCE_MS ? SOON_MS : LATER_MS,
      continues: true,
    });
  }
  if (verdict.verdict === 'rejected') {
    return refused(`Gateway ${verdict.gateway} rejects the route: ${verdict.message}`, status);
  }
  const url = await urlOf(client, object, signal);
  return done({
    conditions: [routed('True', 'Accepted', 'All Gateways accept the route')],
    status: { ...status, url },
  });
}

function refused(message: string, status: TenantStatus = {}): RouteOutcome {
  return stalled('GatewayRejected', message, {
    conditions: [routed('False', 'GatewayRejected', message)],
    status: { ...status, url: undefined },
    requeueAfterMs: LATER_MS,
    continues: true,
  });
}

interface Gateway extends KubeObject {
  readonly spec: { readonly listeners: readonly { readonly name: string; readonly protocol: string }[] };
}

const GATEWAY: ResourceKind = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

/** Returns the URL, with the protocol of the first Gateway's listeners; undefined when the Gateway may not be read. */
async function urlOf(client: TenantDependencies['client'], { metadata, spec }: Tenant, signal: AbortSignal) {
  const { hostname = '', parentRefs: [parent] = [] } = spec.routing ?? {};
  const place = { name: parent?.name ?? '', namespace: parent?.namespace ?? metadata.namespace ?? '' };
  const gateway = await client.get<Gateway>(GATEWAY, place, { signal }).catch((error: unknown) => {
    if (isKubeError(error, 403)) return null;
    throw error;
  });
  if (gateway === null) return undefined;
  const listeners = gateway.spec.listeners.filter(
    ({ name }) => parent?.sectionName === undefined || parent.sectionName === name,
  );
  return `${listeners.some(({ protocol }) => protocol === 'HTTPS') ? 'https' : 'http'}://${hostname}`;
}

function kindOf(kind: ResourceKind): 'Ingress' | 'HTTPRoute' {
  return kind === KINDS.ingress ? 'Ingress' : 'HTTPRoute';
}

function routed(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'Routed', status, reason, message };
}

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

/** An HTTPRoute with the status that its Gateways wrote. */
export interface HttpRoute extends KubeObject {
  readonly spec: { readonly parentRefs: readonly ParentStatus['parentRef'][] };
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

type RouteVerdict =
  | { readonly verdict: 'accepted' }
  /** Gateways that have not answered for this generation of the route, sorted. */
  | { readonly verdict: 'waiting'; readonly gateways: readonly string[] }
  | { readonly verdict: 'rejected'; readonly gateway: string; readonly message: string };

/** Summarises the status of all Gateways of a route; the first refusal wins. */
function routeVerdict({ metadata, spec, status }: HttpRoute): RouteVerdict {
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

function isSame(one: ParentStatus['parentRef'], other: ParentStatus['parentRef'], namespace: string | undefined) {
  return (
    one.name === other.name &&
    (one.namespace ?? namespace) === (other.namespace ?? namespace) &&
    one.sectionName === other.sectionName
  );
}
