import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

const section = 'Operator';

/** Of the process that reconciles Tenant and Dataset resources; the services read none of them. */
export const operator = {
  operatorHost: setting({
    names: ['ENGRAM_OPERATOR_HOST'],
    section,
    type: type.text(),
    default: '0.0.0.0',
    meaning: 'Address that `/livez`, `/readyz` and `/metrics` listen on.',
  }),
  operatorPort: setting({
    names: ['ENGRAM_OPERATOR_PORT'],
    section,
    type: type.integer({ min: 0, max: 65_535 }),
    default: '9090',
    meaning: 'Their port; 0 is any free one.',
  }),
  operatorNamespace: setting({
    names: ['ENGRAM_OPERATOR_NAMESPACE', 'POD_NAMESPACE'],
    section,
    type: type.text(),
    default: 'default',
    meaning: 'Namespace of the operator and of the services: of its lease and of the routes of tenants.',
  }),
  operatorName: optional({
    names: ['ENGRAM_OPERATOR_NAME', 'POD_NAME'],
    section,
    type: type.text(),
    meaning: 'Name of this process in the lease and in events. Unset: the host name.',
  }),
  operatorLease: setting({
    names: ['ENGRAM_OPERATOR_LEASE'],
    section,
    type: type.text(),
    default: 'engram-operator',
    meaning: 'Name of the Lease by which one of several operators leads.',
  }),
  operatorWatchNamespaces: optional({
    names: ['ENGRAM_OPERATOR_WATCH_NAMESPACES'],
    section,
    type: type.list(),
    meaning: 'Namespaces whose resources it works on, a comma list. Unset: all.',
  }),
  operatorWorkers: setting({
    names: ['ENGRAM_OPERATOR_WORKERS'],
    section,
    type: type.integer({ min: 1, max: 100 }),
    default: '4',
    meaning: 'Resources of each kind that are worked on at the same time.',
  }),
  operatorResyncMs: setting({
    names: ['ENGRAM_OPERATOR_RESYNC_SECONDS'],
    section,
    type: type.secondsAsMs({ min: 1, max: 86_400 }),
    default: '600',
    meaning: 'How often each resource is compared with what is, in seconds.',
  }),
  operatorServices: optional({
    names: ['ENGRAM_OPERATOR_SERVICES'],
    section,
    type: type.list(),
    meaning:
      'Kubernetes Services that routes of tenants lead to, a comma list of `auth=engram-auth`. Unset: `engram-<service>`.',
  }),
  operatorServicePort: setting({
    names: ['ENGRAM_OPERATOR_SERVICE_PORT'],
    section,
    type: type.integer({ min: 1, max: 65_535 }),
    default: '80',
    meaning: 'Port of those Services.',
  }),
  operatorKubeconfig: optional({
    names: ['ENGRAM_OPERATOR_KUBECONFIG'],
    section,
    type: type.text(),
    meaning: "File that says where the API server is. Unset: the pod's service account.",
  }),
  kubernetesHost: optional({
    names: ['KUBERNETES_SERVICE_HOST'],
    section,
    type: type.text(),
    meaning: 'The API server; Kubernetes sets it in every pod.',
  }),
  kubernetesPort: setting({
    names: ['KUBERNETES_SERVICE_PORT'],
    section,
    type: type.text(),
    default: '443',
    meaning: 'Its port; Kubernetes sets it too.',
  }),
};
