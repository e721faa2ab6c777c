import type { Desired } from '../kube-runtime/applier.ts';
import { KINDS } from '../kube-runtime/kube-object.ts';
import { commonLabels, objectName } from './names.ts';
import type { Installation, KubeJson } from './options.ts';

const DNS = [
  { port: 53, protocol: 'UDP' },
  { port: 53, protocol: 'TCP' },
];
const HTTP = [{ port: 'http', protocol: 'TCP' }];

/**
 * Nothing may be reached or reach out but what is listed: one policy that denies everything and one that allows, so that
 * whoever reads them sees both. The operator is in none of them: it speaks to the services over the bus alone.
 */
export function networkPolicies({ tenant, options }: Installation): readonly Desired[] {
  const { policy = 'Managed', egress } = tenant.spec.network ?? {};
  if (policy === 'None') return [];
  const podSelector = { matchLabels: commonLabels(tenant) };
  const { clients, stores } = options.network;
  const made = (part: string, spec: KubeJson): Desired => ({
    kind: KINDS.networkPolicy,
    object: {
      apiVersion: KINDS.networkPolicy.apiVersion,
      kind: KINDS.networkPolicy.kind,
      metadata: {
        name: objectName(tenant, part),
        namespace: tenant.metadata.namespace ?? '',
        labels: commonLabels(tenant),
      },
      ...{ spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ...spec } },
    },
  });
  return [
    made('deny', { egress: [{ ports: DNS }] }),
    made('allow', {
      ingress: [{ ...(clients.length === 0 ? {} : { from: clients }), ports: HTTP }, { from: [{ podSelector }] }],
      egress: [{ to: [{ podSelector }] }, ...stores, ...outside(egress?.allowCIDRs)],
    }),
  ];
}

/** Models, and pages that are given as data. */
function outside(allowed: readonly string[] | undefined): readonly KubeJson[] {
  if (allowed === undefined) return [{ ports: [{ port: 443, protocol: 'TCP' }] }];
  return allowed.length === 0 ? [] : [{ to: allowed.map((cidr) => ({ ipBlock: { cidr } })) }];
}
