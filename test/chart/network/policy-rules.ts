import { type LabelSelector, matchesSelector } from '../../../operator/kube-runtime/kube-object.ts';

/** What of the cluster decides who may reach whom. */
interface NetworkState {
  readonly namespaces: readonly Labelled[];
  readonly pods: readonly NetworkedPod[];
  readonly policies: readonly NetworkPolicy[];
}

export interface Labelled {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
}

type Labels = Readonly<Record<string, string>>;

export interface NetworkedPod extends Labelled {
  readonly spec: { readonly containers: readonly { readonly ports?: readonly ContainerPort[] }[] };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

export interface NetworkPolicy extends Labelled {
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly PolicyPort[] }[];
  };
}

interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface PolicyPort {
  readonly port?: number | string;
  readonly endPort?: number;
  readonly protocol?: string;
}

type Direction = 'ingress' | 'egress';

export const TABLE = 'engram_test_policies';

/**
 * The rules of a firewall between pods, as a script of nftables that replaces the one before. As Kubernetes says it: a pod
 * that a policy chooses for a direction takes part in nothing there but what some policy of it lists; answers always pass;
 * what the node itself sends is not asked. Addresses of Services are those of pods by the time these rules see them.
 */
export function policyRules(state: NetworkState): string {
  const pods = state.pods.filter(isNetworked);
  const chains: string[] = [];
  const jumps: string[] = [];
  for (const direction of ['egress', 'ingress'] as const) {
    for (const [index, pod] of pods.entries()) {
      const policies = state.policies.filter((policy) => isChosen(policy, pod, direction));
      if (policies.length === 0) continue;
      const name = `${direction}_${index}`;
      const rules = policies.flatMap((policy) => allowances(policy, pod, direction, { ...state, pods }));
      chains.push(`chain ${name} {\n${[...rules.map((rule) => `${rule} return`), 'reject'].join('\n')}\n}`);
      jumps.push(`ip ${direction === 'egress' ? 'saddr' : 'daddr'} ${pod.status.podIP} jump ${name}`);
    }
  }
  const base = (hook: string) =>
    `chain ${hook} {\ntype filter hook ${hook} priority 10; policy accept;\nct state established,related accept\n${jumps.join('\n')}\n}`;
  // What pods send to the node itself is no forwarding.
  const table = [...chains, base('forward'), base('input')].join('\n');
  return `add table inet ${TABLE}\ndelete table inet ${TABLE}\ntable inet ${TABLE} {\n${table}\n}\n`;
}

type Addressed = NetworkedPod & { readonly status: { readonly podIP: string } };

function isNetworked(pod: NetworkedPod): pod is Addressed {
  return pod.status.podIP !== undefined && pod.status.phase === 'Running';
}

function isChosen({ metadata, spec }: NetworkPolicy, pod: NetworkedPod, direction: Direction): boolean {
  const types = spec.policyTypes ?? ['Ingress', ...(spec.egress === undefined ? [] : ['Egress'])];
  const isOf = types.some((type) => type.toLowerCase() === direction);
  return (
    isOf &&
    metadata.namespace === pod.metadata.namespace &&
    matchesSelector(spec.podSelector, pod.metadata.labels ?? {})
  );
}

/** What lets a packet pass: conditions on its other end and on the port it is sent to. */
function allowances(
  policy: NetworkPolicy,
  pod: Addressed,
  direction: Direction,
  state: NetworkState & { readonly pods: readonly Addressed[] },
): readonly string[] {
  const rules =
    direction === 'ingress'
      ? (policy.spec.ingress ?? []).map(({ from, ports }) => ({ peers: from ?? [], ports: ports ?? [] }))
      : (policy.spec.egress ?? []).map(({ to, ports }) => ({ peers: to ?? [], ports: ports ?? [] }));
  const side = direction === 'ingress' ? 'saddr' : 'daddr';
  return rules.flatMap(({ peers, ports }) => {
    const ends = peers.length === 0 ? [''] : peers.flatMap((peer) => endsOf(peer, policy, side, state));
    const receivers = direction === 'ingress' ? [pod] : state.pods;
    const passing = ports.length === 0 ? [''] : ports.flatMap((port) => portsOf(port, receivers));
    return ends.flatMap((end) => passing.map((port) => `${end} ${port}`.trim()));
  });
}

function endsOf(
  { podSelector, namespaceSelector, ipBlock }: Peer,
  { metadata }: NetworkPolicy,
  side: string,
  { pods, namespaces }: NetworkState & { readonly pods: readonly Addressed[] },
): readonly string[] {
  if (ipBlock !== undefined) {
    const { cidr, except = [] } = ipBlock;
    return [`ip ${side} ${cidr}${except.length === 0 ? '' : ` ip ${side} != { ${except.join(', ')} }`}`];
  }
  const spaces = namespaces
    .filter(({ metadata: { name, labels } }) =>
      namespaceSelector === undefined ? name === metadata.namespace : matchesSelector(namespaceSelector, labels ?? {}),
    )
    .map(({ metadata: { name } }) => name);
  const chosen = pods.filter(
    ({ metadata: { namespace, labels } }) =>
      spaces.includes(namespace ?? '') && matchesSelector(podSelector ?? {}, labels ?? {}),
  );
  return chosen.length === 0 ? [] : [`ip ${side} { ${chosen.map(({ status }) => status.podIP).join(', ')} }`];
}

/** A port by name is whatever the receiving pod calls so. */
function portsOf({ port, endPort, protocol = 'TCP' }: PolicyPort, receivers: readonly Addressed[]): readonly string[] {
  const transport = protocol.toLowerCase();
  if (port === undefined) return [`meta l4proto ${transport}`];
  if (typeof port === 'number') return [`${transport} dport ${endPort === undefined ? port : `${port}-${endPort}`}`];
  return receivers.flatMap(({ spec, status }) =>
    spec.containers
      .flatMap(({ ports = [] }) => ports)
      .filter((each) => each.name === port && (each.protocol ?? 'TCP') === protocol)
      .map(({ containerPort }) => `ip daddr ${status.podIP} ${transport} dport ${containerPort}`),
  );
}
