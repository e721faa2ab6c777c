import { setTimeout as pause } from 'node:timers/promises';
import { nullIf } from '../../services/common/platform/async/null-if.ts';
import { DATASET_KIND } from '../api/dataset.ts';
import { TENANT_KIND } from '../api/tenant.ts';
import { isKubeError, type KubeClient } from '../kube-runtime/kube-client.ts';
import { type KubeObject, keyOf, type ResourceKind } from '../kube-runtime/kube-object.ts';

export interface UninstallGuardOptions {
  readonly client: KubeClient;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** `engram.dev/abandon` */
  readonly abandonAnnotation: string;
  /** Abandons the resources that wait for the operator. */
  readonly force: boolean;
  /** Command that a user runs to force the uninstall. */
  readonly forceCommand: string;
  /** Time that the operator has to release abandoned resources. */
  readonly timeoutMs: number;
  readonly pollMs?: number;
  readonly say: (line: string) => void;
}

/** Datasets first, because their tenants may wait for them. */
const KINDS: readonly ResourceKind[] = [DATASET_KIND, TENANT_KIND];
/** Maximum number of names in the output. */
const MOST_NAMES = 20;

/**
 * Whether the operator may be uninstalled: no Tenant or Dataset has its finalizer. With `force` they are abandoned first
 * (annotated and deleted while the operator still runs): their data stays and is not erased. Prints what waits.
 */
export async function mayUninstall(options: UninstallGuardOptions): Promise<boolean> {
  const { force, forceCommand, timeoutMs, pollMs = 1000, say } = options;
  let waiting = await waitingResources(options);
  if (waiting.length > 0 && force) {
    say(`Abandoning ${waiting.length} resources. Their data stays in the stores.`);
    await Promise.all(waiting.map((each) => abandon(options, each)));
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      waiting = await waitingResources(options);
      if (waiting.length === 0 || performance.now() > deadline) break;
      await pause(pollMs);
    }
  }
  if (waiting.length === 0) {
    say('No Tenant and no Dataset waits for the operator.');
    return true;
  }
  say(
    force
      ? 'The operator has not released these in time. See its log; without an operator remove their finalizers by hand:'
      : 'The operator must not be uninstalled while these wait for it: deleting them would hang for ever, and nothing would be erased.',
  );
  for (const { kind, object } of waiting.slice(0, MOST_NAMES)) say(`  ${kind.kind} ${keyOf(object.metadata)}`);
  if (waiting.length > MOST_NAMES) say(`  and ${waiting.length - MOST_NAMES} more`);
  if (!force) {
    say('Delete them first, which follows their deletion policy. Or give them up with their data left as it is:');
    say(`  ${forceCommand}, and uninstall again`);
  }
  return false;
}

interface Waiting {
  readonly kind: ResourceKind;
  readonly object: KubeObject;
}

async function waitingResources({ client, namespaces }: UninstallGuardOptions): Promise<readonly Waiting[]> {
  const places = namespaces.length === 0 ? [undefined] : namespaces;
  const found: Waiting[] = [];
  for (const kind of KINDS) {
    for (const namespace of places) {
      const objects = await list(client, kind, namespace);
      found.push(...objects.filter(hasFinalizer).map((object) => ({ kind, object })));
    }
  }
  return found;
}

/** Empty when the kind itself is gone. */
async function list(client: UninstallGuardOptions['client'], kind: ResourceKind, namespace: string | undefined) {
  const listing = client.list(kind, namespace === undefined ? {} : { namespace });
  return (await nullIf((error) => isKubeError(error, 404), listing))?.items ?? [];
}

function hasFinalizer({ metadata, apiVersion }: KubeObject): boolean {
  const group = apiVersion.slice(0, apiVersion.indexOf('/'));
  return (metadata.finalizers ?? []).some((finalizer) => finalizer.startsWith(`${group}/`));
}

async function abandon({ client, abandonAnnotation }: UninstallGuardOptions, { kind, object }: Waiting): Promise<void> {
  const { uid = '' } = object.metadata;
  try {
    await client.patch(kind, object.metadata, { metadata: { annotations: { [abandonAnnotation]: uid } } });
    await client.delete(kind, object.metadata, { uid });
  } catch (error) {
    if (!isKubeError(error, 404)) throw error;
  }
}
