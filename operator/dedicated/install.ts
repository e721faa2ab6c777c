import type { TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Tenant, TenantStatus } from '../api/tenant.ts';
import { ifManagedByUs } from '../erasure/outcome.ts';
import { type ConditionDraft, toSeconds } from '../kube-runtime/conditions.ts';
import { KINDS, type KubeObject, keyOf } from '../kube-runtime/kube-object.ts';
import { done, progressing, retrying, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import { isDedicated, isHibernated } from '../tenant/effective-state.ts';
import {
  isNewGeneration,
  isWakeRequested,
  type TenantContext,
  type TenantDependencies,
  type TenantStep,
} from '../tenant/model.ts';
import { askService } from '../tenant/service-failure.ts';
import { isolationProblem } from '../tenant/steps/check-spec.ts';
import { ensureKeys, findKeys, type InstallationKeys, noteTenantId } from './keys.ts';
import type { DedicatedDependencies } from './model.ts';
import type { Installation, Mode } from './options.ts';
import { provisionStores, storesStatus } from './provision.ts';
import { type Readiness, readMigrationProblem, readReadiness } from './readiness.ts';
import { migration, WORKLOAD_KINDS, workloads } from './workloads.ts';

type InstallOutcome = StepOutcome<Pick<TenantStatus, 'stores' | 'realm' | 'secrets' | 'state' | 'waking'>>;

/** Interval for changes that no watch of the Deployments reports. */
const AGAIN_MS = 2000;

/**
 * Installs the services of a Dedicated tenant: provisions its stores, applies its objects and waits for its pods. Does nothing
 * for Shared tenants. While the resource is being deleted the services run whatever `state` is: they erase or release.
 */
export function install(deps: DedicatedDependencies): TenantStep {
  return {
    name: 'install',
    async run(context): Promise<InstallOutcome> {
      const { object, signal } = context;
      if (!isDedicated(object)) return done();
      const unsupported = whyUnsupported(deps);
      if (unsupported !== null) return refused('IsolationUnsupported', unsupported);
      const keys = await ensureKeys(deps, context);
      const provision = await provisioned(deps, context, keys);
      const status = { stores: storesStatus(provision), realm: keys.realm.name, secrets: withKeys(context, keys) };
      const tooWeak = isolationProblem(status.stores, object.spec.minimumIsolation);
      // Weak isolation does not hold up a deletion.
      if (tooWeak !== null && object.metadata.deletionTimestamp === undefined)
        return { ...refused('IsolationUnsupported', tooWeak), status };
      if (context.status.tenantId !== undefined) await noteTenantId(deps, context, keys.secretName);
      const before = await readReadiness(deps.client, object, signal);
      const sleeps = isHibernated(object, context.status);
      const waking = sleeps ? wakingOf(context, before) : null;
      const mode = modeOf(sleeps && waking === null, before);
      const installation = installationOf(deps, object, { keys, provision, mode });
      const awake = waking === null ? status : { ...status, state: 'Active' as const, waking };
      const migration = await migrate(deps, context, { installation, readiness: before });
      if (migration !== null) return { ...migrating(migration, before), status: awake };
      await apply(deps, context, installation);
      if (mode === 'hibernated')
        return done({
          status: { ...status, state: 'Hibernated', waking: undefined },
          conditions: [PROVISIONED, workloadsReady('False', 'Hibernated', SLEEPS)],
        });
      if (mode === 'draining') {
        const message = 'The services stop as soon as the activator runs';
        return progressing('Hibernating', message, { status, requeueAfterMs: AGAIN_MS, continues: true });
      }
      return { ...outcomeOf(context, before, mode), status: awake };
    },
  };
}

const SLEEPS = 'The services are scaled to zero while the tenant is hibernated';

/** Returns why an unused tenant wakes: a change of the Tenant, which only the services can apply, or a request. Null: it does not. */
function wakingOf(context: TenantContext, { hasWakeRequest }: Readiness): TenantStatus['waking'] | null {
  const { object, event, now } = context;
  const { hibernation, state } = object.spec;
  if (state !== 'Active' || hibernation === undefined) return null;
  const isDeclared = isNewGeneration(context) || isWakeRequested(context);
  if (!isDeclared && !(hasWakeRequest && hibernation.wake === 'OnRequest')) return null;
  const by = isDeclared ? 'Declaration' : 'Request';
  const who = isDeclared ? 'The Tenant was changed' : 'A request came';
  event({ type: 'Normal', reason: 'Waking', message: `${who}, so the services of the tenant start` });
  return { since: toSeconds(now), by };
}

const PROVISIONED: ConditionDraft = {
  type: 'StoresProvisioned',
  status: 'True',
  reason: 'Provisioned',
  message: 'The tenant has its own part of every store',
};

/** Returns what the cluster's administrator must set up first; null when Dedicated tenants are supported. */
function whyUnsupported({ dedicated }: DedicatedDependencies): string | null {
  const { image, stores } = dedicated.options;
  if (image === null) {
    return 'Dedicated tenants are not enabled: set operator.dedicated.enabled of the chart (ENGRAM_OPERATOR_DEDICATED_IMAGE)';
  }
  return stores.available ? null : stores.reason;
}

function refused(reason: string, message: string): InstallOutcome {
  return stalled(reason, message, {
    conditions: [{ type: 'StoresProvisioned', status: 'False', reason, message }],
  });
}

/** Provisions the stores with each resync and each change, not with each pod that becomes ready. */
async function provisioned({ dedicated }: DedicatedDependencies, context: TenantContext, keys: InstallationKeys) {
  const { stores } = dedicated.options;
  const { uid = '', generation, annotations = {} } = context.object.metadata;
  const state = JSON.stringify([generation, annotations, keys.version]);
  const held = dedicated.provisions.get(uid, state);
  if (held !== undefined) return held;
  const made = await provisionStores(stores.available ? stores.administrators : [], keys, context.signal);
  dedicated.provisions.set(uid, state, made);
  await dedicated.services.use(uid, made);
  return made;
}

/** Requests are answered at any time: services stop once the activator runs, and get requests again once all of them answer. */
function modeOf(sleeps: boolean, { available, hasActivator, isActivatorAvailable }: Readiness): Mode {
  if (sleeps) return available && !isActivatorAvailable ? 'draining' : 'hibernated';
  return hasActivator && !available ? 'waking' : 'serving';
}

function installationOf(
  { dedicated, options }: DedicatedDependencies,
  tenant: Tenant,
  made: Pick<Installation, 'keys' | 'provision' | 'mode'>,
): Installation {
  const image = dedicated.options.image ?? '';
  return { ...made, tenant, port: options.backends.port, options: { ...dedicated.options, image } };
}

/** Outcome while the stores are migrated; the former release serves meanwhile. */
function migrating({ job, hasFailed, problem }: Migration, { available }: Readiness): InstallOutcome {
  if (hasFailed) {
    const message = `Job ${job} failed, the former release stays: see its log, then delete it to try again`;
    return stalled('MigrationFailed', message, { requeueAfterMs: FAILED_AGAIN_MS, continues: available });
  }
  const message = `Job ${job} migrates the stores to the layout of the new release, which then replaces the former one`;
  const conditions = available ? [workloadsReady('True', 'Migrating', message)] : [];
  if (problem !== null) {
    return retrying(problem.reason, problem.message, { conditions, requeueAfterMs: AGAIN_MS, continues: available });
  }
  return available
    ? done({ conditions, requeueAfterMs: AGAIN_MS })
    : progressing('Migrating', message, { requeueAfterMs: AGAIN_MS });
}

/** A deleted Job triggers no reconcile. */
const FAILED_AGAIN_MS = 60_000;

async function apply({ applier }: DedicatedDependencies, context: TenantContext, installation: Installation) {
  const { object, event, signal } = context;
  const { corrected } = await applier.apply(object, workloads(installation), { prune: WORKLOAD_KINDS, signal });
  // A new image or setting of the operator changes objects, too: only undeclared changes are drift.
  if (isNewGeneration(context)) return;
  for (const name of corrected) {
    event({ type: 'Normal', reason: 'WorkloadChanged', message: `${name} was corrected` });
  }
}

function outcomeOf({ status }: TenantContext, readiness: Readiness, mode: Mode): InstallOutcome {
  const { available, problem } = readiness;
  if (problem !== null) {
    const conditions = [PROVISIONED, workloadsReady('False', problem.reason, problem.message)];
    // While the activator answers, no later step waits for the services.
    return retrying(problem.reason, problem.message, { conditions, requeueAfterMs: AGAIN_MS, continues: available });
  }
  if (available && mode === 'serving') {
    const message = 'Every service of the tenant has a pod that answers';
    return done({ conditions: [PROVISIONED, workloadsReady('True', 'Available', message)] });
  }
  const isNew = status.tenantId === undefined;
  const message = 'The services of the tenant are starting';
  return progressing(isNew ? 'ProvisioningStores' : 'WorkloadsStarting', message, {
    conditions: [PROVISIONED, workloadsReady('False', 'Starting', message)],
    requeueAfterMs: AGAIN_MS,
  });
}

function workloadsReady(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'WorkloadsReady', status, reason, message };
}

function withKeys({ status }: TenantContext, keys: InstallationKeys): TenantStatus['secrets'] {
  return [keys.status, ...(status.secrets ?? []).filter(({ purpose }) => purpose !== 'InstallationKeys')];
}

interface Job extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A migration that must end before the services of the new release are applied. */
interface Migration {
  /** Name of the Job. */
  readonly job: string;
  readonly hasFailed: boolean;
  /** Problem of the pod. */
  readonly problem: Readiness['problem'];
}

/**
 * Migrates the stores to the layout of the new image by a Job; the former release can still read that layout. Returns null
 * when the migration is done or not needed. Until then the services of the former release serve unchanged. After a restart of
 * the operator the migration continues: the Job stays until every service has the image.
 */
async function migrate(
  { client, applier }: DedicatedDependencies,
  { object, event, signal }: TenantContext,
  { installation, readiness }: { readonly installation: Installation; readonly readiness: Readiness },
): Promise<Migration | null> {
  const { image } = installation.options;
  if (readiness.images.every((held) => held === image)) return null;
  const desired = migration(installation);
  const { created } = await applier.apply(object, desired, { prune: [KINDS.job], signal });
  const place = desired.find(({ kind }) => kind === KINDS.job)?.object.metadata;
  if (place === undefined) return null;
  if (created.some((name) => name.startsWith('Job '))) {
    const message = `The stores are migrated to the layout of ${image} by Job ${place.name}`;
    event({ type: 'Normal', reason: 'MigrationStarted', message });
  }
  const { status } = (await client.get<Job>(KINDS.job, place, { signal })) ?? {};
  const has = (wanted: string) => status?.conditions?.some(({ type, status: so }) => type === wanted && so === 'True');
  if (has('Complete')) return null;
  const problem = await readMigrationProblem(client, object, { job: place.name, signal });
  return { job: place.name, hasFailed: has('Failed') ?? false, problem };
}

/** Releases the tenant from its former Tenant, which could not do so itself when it was deleted with its namespace. */
export function releaseFormerHolder(deps: TenantDependencies): TenantStep {
  return {
    name: 'release-former-holder',
    async run(context) {
      const { object, status, signal } = context;
      const { tenantId } = object.spec;
      if (!isDedicated(object) || tenantId === undefined || status.tenantId !== undefined) return done();
      const crUid = (await findKeys(deps, context))?.formerHolder;
      if (crUid === undefined) return done();
      const request = { tenantId: asId<TenantId>(tenantId), crUid, resource: keyOf(object.metadata) };
      await ifManagedByUs(() => askService(deps.services, 'auth.ReleaseTenant', { request, signal }));
      return done();
    },
  };
}
