import { SERVICE_NAMES, SERVICE_PATHS, type ServiceName } from '../../services/common/domain/service-paths.ts';
import { boundedName } from '../api/names.ts';
import type { Tenant, TenantRouting } from '../api/tenant.ts';
import type { Backends } from '../installation/installation.ts';
import type { Desired } from '../kube-runtime/applier.ts';
import { KINDS, type KubeObject } from '../kube-runtime/kube-object.ts';

/** Limit of the Gateway API before 1.2. */
const MATCHES_PER_RULE = 8;

/**
 * Makes the route of a tenant, in the namespace of the services: an Ingress cannot name a Service of another namespace, and
 * an HTTPRoute only with a grant. Null when no route is declared.
 */
export function routeObject(tenant: Tenant, backends: Backends): Desired | null {
  const { routing } = tenant.spec;
  if (routing === undefined || routing.type === 'None') return null;
  const metadata = {
    name: routeName(tenant),
    namespace: backends.namespace,
    ...(routing.annotations === undefined ? {} : { annotations: routing.annotations }),
  };
  return routing.type === 'Ingress'
    ? { kind: KINDS.ingress, object: ingress(metadata, routing, backends) }
    : { kind: KINDS.httpRoute, object: httpRoute(metadata, tenant, backends) };
}

/**
 * Name of a route. Routes of all namespaces are in one, so the name contains the namespace, with doubled hyphens: a Tenant
 * `b-c` in namespace `a` must not get the name of the Tenant `c` in `a-b`.
 */
export function routeName({ metadata }: Pick<Tenant, 'metadata'>): string {
  return boundedName('tenant', (metadata.namespace ?? '').replaceAll('-', '--'), metadata.name);
}

function ingress(metadata: KubeObject['metadata'], routing: TenantRouting, backends: Backends): KubeObject {
  const { hostname = '', ingressClassName, tlsSecretName } = routing;
  const paths = SERVICE_NAMES.flatMap((service) =>
    SERVICE_PATHS[service].map((path) => ({
      path,
      pathType: 'Prefix',
      backend: { service: { name: backends.services[service], port: { number: backends.port } } },
    })),
  );
  const spec = {
    ...(ingressClassName === undefined ? {} : { ingressClassName }),
    ...(tlsSecretName === undefined ? {} : { tls: [{ hosts: [hostname], secretName: tlsSecretName }] }),
    rules: [{ host: hostname, http: { paths } }],
  };
  const { apiVersion, kind } = KINDS.ingress;
  return withSpec({ apiVersion, kind, metadata }, spec);
}

/** The longest matching path wins, whatever the order of the rules. */
function httpRoute(metadata: KubeObject['metadata'], tenant: Tenant, backends: Backends): KubeObject {
  const { hostname = '', parentRefs = [] } = tenant.spec.routing ?? {};
  const rules = (service: ServiceName) =>
    chunks(SERVICE_PATHS[service], MATCHES_PER_RULE).map((paths) => ({
      matches: paths.map((value) => ({ path: { type: 'PathPrefix', value } })),
      backendRefs: [{ name: backends.services[service], port: backends.port }],
    }));
  const spec = {
    hostnames: [hostname],
    parentRefs: parentRefs.map(({ name, namespace, sectionName }) => ({
      name,
      namespace: namespace ?? tenant.metadata.namespace ?? '',
      ...(sectionName === undefined ? {} : { sectionName }),
    })),
    rules: SERVICE_NAMES.flatMap(rules),
  };
  const { apiVersion, kind } = KINDS.httpRoute;
  return withSpec({ apiVersion, kind, metadata }, spec);
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

function withSpec(object: KubeObject, spec: object): KubeObject & { readonly spec: object } {
  return { ...object, spec };
}
