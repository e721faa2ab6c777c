import type { DatasetStatus } from '../../api/dataset.ts';
import type { Tenant } from '../../api/tenant.ts';
import { KINDS, type KubeObject, keyOf, matchesSelector } from '../../kube-runtime/kube-object.ts';
import { done, progressing, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import { type DatasetContext, type DatasetDependencies, type DatasetStep, readTenant, tenantName } from '../model.ts';
import { condition } from '../service-failure.ts';

/** A change of a namespace's labels triggers no reconcile. */
const NAMESPACE_AGAIN_MS = 60_000;

/** Finds the Tenant, and checks that it accepts Datasets from this namespace. A change of the Tenant triggers a reconcile. */
export function resolveTenant(deps: DatasetDependencies): DatasetStep {
  return {
    name: 'resolve-tenant',
    async run(context) {
      const { object, signal } = context;
      const tenant = await readTenant(deps.client, object, signal);
      const named = keyOf(tenantName(object));
      if (tenant === null) {
        return waiting('TenantMissing', `There is no Tenant ${named}: create it, or correct spec.tenantRef`);
      }
      if (!(await takesFrom(deps, tenant, context))) {
        const message = `Tenant ${named} accepts no Datasets from this namespace: see its spec.datasets.allowedNamespaces`;
        const conditions = [condition('StoresProvisioned', 'NamespaceNotAllowed', message)];
        return stalled('NamespaceNotAllowed', message, { conditions, requeueAfterMs: NAMESPACE_AGAIN_MS });
      }
      const { tenantId } = tenant.status ?? {};
      if (tenant.metadata.deletionTimestamp !== undefined) {
        return waiting('TenantDeleting', `Tenant ${named} is being deleted: delete this Dataset too`);
      }
      if (tenantId === undefined) {
        return waiting('TenantNotReady', `Tenant ${named} is not provisioned yet: see its conditions`);
      }
      return done({ status: { tenantId } });
    },
  };
}

function waiting(reason: string, message: string): StepOutcome<DatasetStatus> {
  return progressing(reason, message, { conditions: [condition('StoresProvisioned', reason, message)] });
}

async function takesFrom({ client }: DatasetDependencies, tenant: Tenant, { object, signal }: DatasetContext) {
  const { namespace = '' } = object.metadata;
  // Only a selector needs the labels of the namespace, and the right to read it.
  const needsLabels = tenant.spec.datasets.allowedNamespaces.from === 'Selector';
  const held = needsLabels ? await client.get<KubeObject>(KINDS.namespace, { name: namespace }, { signal }) : null;
  return allowsNamespace(tenant, { name: namespace, labels: held?.metadata.labels ?? {} });
}

interface NamespaceLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a tenant accepts Datasets from a namespace. */
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
      return selector !== undefined && matchesSelector(selector, namespace.labels);
  }
}
