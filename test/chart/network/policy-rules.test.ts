import { expect } from 'chai';
import { type NetworkedPod, type NetworkPolicy, policyRules } from './policy-rules.ts';

const pod = (name: string, podIP: string, labels = {}): NetworkedPod => ({
  metadata: { name, namespace: 'a', labels },
  spec: { containers: [{ ports: [{ name: 'http', containerPort: 8000 }] }] },
  status: { phase: 'Running', podIP },
});
const policy = (spec: NetworkPolicy['spec']): NetworkPolicy => ({ metadata: { name: 'p', namespace: 'a' }, spec });
const namespaces = ['a', 'b'].map((name) => ({ metadata: { name, labels: { team: name } } }));
const pods = [
  pod('web', '10.0.0.1', { app: 'web' }),
  pod('client', '10.0.0.2', { app: 'client' }),
  {
    ...pod('far', '10.0.0.3', { app: 'client' }),
    metadata: { name: 'far', namespace: 'b', labels: { app: 'client' } },
  },
];
const rulesOf = (spec: NetworkPolicy['spec']) => policyRules({ namespaces, pods, policies: [policy(spec)] });
/** Of the one chain that the policy makes. */
const allowed = (spec: NetworkPolicy['spec']) =>
  /^chain (?:in|e)gress_\d+ \{\n(?<body>[^}]*(?:\{[^}]*\}[^}]*)*?)\nreject\n\}/m
    .exec(rulesOf(spec))
    ?.groups?.['body']?.split('\n')
    .map((rule) => rule.trim());

describe('rules of NetworkPolicies', () => {
  const web = { podSelector: { matchLabels: { app: 'web' } } };
  const client = { podSelector: { matchLabels: { app: 'client' } } };

  it('allow all traffic of pods without a policy', () => {
    const rules = rulesOf({ podSelector: { matchLabels: { app: 'nobody' } }, policyTypes: ['Ingress', 'Egress'] });
    expect(rules).to.not.include('reject').and.not.include('jump');
  });

  it('allow pods of the namespace to a named port', () => {
    const rules = allowed({ ...web, ingress: [{ from: [client], ports: [{ port: 'http' }] }] });
    expect(rules).to.deep.equal(['ip saddr { 10.0.0.2 } ip daddr 10.0.0.1 tcp dport 8000 return']);
  });

  it('allow pods of selected namespaces only', () => {
    const from = [{ namespaceSelector: { matchLabels: { team: 'b' } }, ...client }];
    expect(allowed({ ...web, ingress: [{ from }] })).to.deep.equal(['ip saddr { 10.0.0.3 } return']);
    const rules = rulesOf({ ...web, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'c' } } }] }] });
    expect(rules).to.match(/chain ingress_0 \{\nreject\n\}/);
  });

  it('allow egress to address ranges without the exceptions', () => {
    const to = [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.1.2.0/24'] } }];
    const egress = [
      {
        to,
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 1, endPort: 9 },
        ],
      },
    ];
    expect(allowed({ ...web, policyTypes: ['Egress'], egress })).to.deep.equal([
      'ip daddr 10.1.0.0/16 ip daddr != { 10.1.2.0/24 } udp dport 53 return',
      'ip daddr 10.1.0.0/16 ip daddr != { 10.1.2.0/24 } tcp dport 1-9 return',
    ]);
  });
});
