import type { TenantId } from '../../services/common/kernel/brand.ts';
import { isEngramError } from '../../services/common/kernel/errors.ts';
import { API_KEY_LABEL, isOfInstallation, KEY_ANNOTATIONS, ROTATE_AT } from '../api/names.ts';
import type { Tenant, TenantApiKey, TenantStatusSecret } from '../api/tenant.ts';
import { durationMs } from '../api/values.ts';
import type { EventNote } from '../kube-runtime/events.ts';
import { KINDS, type Secret, secretText } from '../kube-runtime/kube-object.ts';
import { StepFailure } from '../kube-runtime/steps.ts';
import { isApiKey, type KeyPlan, type KeyState, keySha256, nextKeyTime, planKey, validHashes } from './key-plan.ts';
import type { TenantContext, TenantDependencies } from './model.ts';
import { askService } from './service-failure.ts';
import { isManaged, managedSecret, ownSecretsSelector } from './tenant-secrets.ts';

/** Overlap when the rotation names none, and for keys that are rotated on demand. */
const DEFAULT_OVERLAP = '24h';

export interface SyncedKey {
  readonly secret?: TenantStatusSecret;
  /** Problem that a person must solve. */
  readonly problem?: string;
  readonly isRotating: boolean;
  /** Time of the next sync. */
  readonly nextAt?: number;
}

export interface KeyWork {
  readonly deps: TenantDependencies;
  readonly context: TenantContext;
  readonly tenantId: TenantId;
  /** Secrets that the operator made for this tenant. */
  readonly own: readonly Secret[];
}

/** Lists the Secrets of API keys and of the owner's password, without those of a Dedicated tenant's installation. */
export async function ownSecrets(
  deps: TenantDependencies,
  { object, signal }: TenantContext,
): Promise<readonly Secret[]> {
  const labelSelector = ownSecretsSelector(deps.options, object);
  const { namespace = '' } = object.metadata;
  const { items } = await deps.client.list<Secret>(KINDS.secret, { namespace, labelSelector, signal });
  return items.filter((secret) => !isOfInstallation(secret));
}

/**
 * Syncs one entry of `spec.apiKeys`. The services accept a key before its Secret has it, and the former key for the overlap:
 * a reader of the Secret always finds a valid key.
 */
export async function syncKey(work: KeyWork, entry: TenantApiKey): Promise<SyncedKey> {
  try {
    return await makeTrue(work, entry);
  } catch (error) {
    const { cause } = error instanceof StepFailure ? error : {};
    if (!isEngramError(cause) || cause.wireName !== 'ConflictError' || cause.retryable) throw error;
    // The conflict is about the key that a user wrote into this Secret: the other keys are not affected.
    const { name, secretName } = entry;
    const problem = `The key for ${name} in Secret ${secretName} is in use elsewhere: write another one to apiKey`;
    return { problem, isRotating: false };
  }
}

async function makeTrue(work: KeyWork, entry: TenantApiKey): Promise<SyncedKey> {
  const { deps, context } = work;
  const { object, signal } = context;
  const place = { name: entry.secretName, namespace: object.metadata.namespace ?? '' };
  const named = await deps.client.get<Secret>(KINDS.secret, place, { signal });
  if (named !== null && !isManaged(deps.options, object, named)) return useGivenKey(work, entry, named);
  // The entry names another Secret now: the key moves there.
  const held = named ?? work.own.find(({ metadata }) => metadata.labels?.[API_KEY_LABEL] === entry.name) ?? null;
  const intervalMs = entry.rotation === undefined ? undefined : durationMs(entry.rotation.interval);
  const plan = planKey(held, {
    intervalMs,
    overlapMs: durationMs(entry.rotation?.overlap ?? DEFAULT_OVERLAP),
    rotateAt: object.metadata.annotations?.[ROTATE_AT] ?? '',
    now: context.now,
  });
  if (plan === null) return noKey(entry, place.name);
  return object.spec.state === 'Disabled'
    ? holdRevoked(work, entry, held)
    : putInForce(work, entry, { plan, named, intervalMs });
}

/** Uses the key of a Secret that the operator did not make, and leaves the Secret unchanged. */
async function useGivenKey(work: KeyWork, entry: TenantApiKey, secret: Secret): Promise<SyncedKey> {
  const { labels, manager } = work.deps.options;
  const { name, labels: held = {}, annotations = {} } = secret.metadata;
  if (held[labels.managedBy] === manager) {
    const owner = annotations[labels.ownerAnnotation] ?? 'another resource';
    return {
      problem: `Secret ${name} holds a key of ${owner}: name another secretName for ${entry.name}`,
      isRotating: false,
    };
  }
  const text = secretText(secret, 'apiKey');
  if (!isApiKey(text)) return noKey(entry, secret.metadata.name);
  const isDisabled = work.context.object.spec.state === 'Disabled';
  await setKeys(work, entry.name, isDisabled ? [] : [keySha256(text)]);
  return { secret: statusOf(entry, secret, false), isRotating: false };
}

function noKey({ name }: TenantApiKey, secretName: string): SyncedKey {
  const problem = `Secret ${secretName} has no key for ${name}: write 64 lower-case hexadecimal digits to apiKey, or delete the Secret`;
  return { problem, isRotating: false };
}

/** Revokes the key of a disabled tenant and keeps its value. */
async function holdRevoked(work: KeyWork, entry: TenantApiKey, held: Secret | null): Promise<SyncedKey> {
  await setKeys(work, entry.name, []);
  return { ...(held === null ? {} : { secret: statusOf(entry, held, true) }), isRotating: false };
}

interface PlannedKey {
  readonly plan: KeyPlan;
  /** The Secret that the entry names, if it exists. */
  readonly named: Secret | null;
  readonly intervalMs: number | undefined;
}

async function putInForce(work: KeyWork, entry: TenantApiKey, planned: PlannedKey): Promise<SyncedKey> {
  const { deps, context } = work;
  const { plan, named, intervalMs } = planned;
  const { state } = plan;
  const wanted = validHashes(state);
  // Without an overlap the former key stays valid until the Secret has the new one, however long that takes.
  const said = named === null ? undefined : secretText(named, 'apiKey');
  const isStillSaid = isApiKey(said) && !wanted.includes(keySha256(said));
  await setKeys(work, entry.name, isStillSaid ? [...wanted, keySha256(said)] : wanted);
  const isCurrent = plan.change === 'kept' && named !== null && isLabelled(deps, context.object, entry, named);
  const secret = isCurrent ? named : await write(work, entry, state, named);
  if (isStillSaid) await setKeys(work, entry.name, wanted);
  if (plan.change !== 'kept') context.event(noteOf(plan, entry));
  const nextAt = nextKeyTime(state, intervalMs);
  const status: TenantStatusSecret = {
    ...statusOf(entry, secret, true),
    ...(intervalMs === undefined ? {} : { nextRotation: seconds(Date.parse(state.current.issuedAt) + intervalMs) }),
    ...(state.previous === undefined ? {} : { previousValidUntil: state.previous.validUntil }),
  };
  return { secret: status, isRotating: state.previous !== undefined, ...(nextAt === undefined ? {} : { nextAt }) };
}

/** Writes the Secret by compare-and-set: a concurrent edit is reconciled first. */
async function write(work: KeyWork, entry: TenantApiKey, state: KeyState, named: Secret | null): Promise<Secret> {
  const { deps, context } = work;
  const { current, previous, rotatedAt } = state;
  const secret = managedSecret(deps.options, context.object, {
    name: entry.secretName,
    data: {
      ...(current.text === undefined ? {} : { apiKey: current.text }),
      ...(previous?.text === undefined ? {} : { previousApiKey: previous.text }),
    },
    labels: { [API_KEY_LABEL]: entry.name },
    annotations: {
      [KEY_ANNOTATIONS.sha256]: current.sha256,
      [KEY_ANNOTATIONS.issuedAt]: current.issuedAt,
      ...(rotatedAt === '' ? {} : { [KEY_ANNOTATIONS.rotatedAt]: rotatedAt }),
      ...(previous === undefined
        ? {}
        : {
            [KEY_ANNOTATIONS.previousSha256]: previous.sha256,
            [KEY_ANNOTATIONS.previousValidUntil]: previous.validUntil,
          }),
    },
  });
  const { resourceVersion } = named?.metadata ?? {};
  const known =
    resourceVersion === undefined ? secret : { ...secret, metadata: { ...secret.metadata, resourceVersion } };
  // Without a version the Secret must not exist: one that was created meanwhile has another owner, and conflicts.
  return deps.client.apply<Secret>(KINDS.secret, known, { signal: context.signal, force: named !== null });
}

/** Whether the Secret has the labels by which it is found. */
function isLabelled({ options }: TenantDependencies, tenant: Tenant, entry: TenantApiKey, secret: Secret): boolean {
  const held = secret.metadata.labels ?? {};
  return held[options.labels.ownerUid] === tenant.metadata.uid && held[API_KEY_LABEL] === entry.name;
}

export async function setKeys({ deps, context, tenantId }: KeyWork, name: string, keySha256s: readonly string[]) {
  const crUid = context.object.metadata.uid ?? '';
  const request = { tenantId, crUid, name, keySha256: keySha256s };
  await askService(deps.services, 'auth.SetTenantKeys', { request, signal: context.signal });
}

function statusOf({ name }: TenantApiKey, { metadata }: Secret, managed: boolean): TenantStatusSecret {
  return {
    name: metadata.name,
    purpose: 'ApiKey',
    apiKey: name,
    managed,
    ...(metadata.resourceVersion === undefined ? {} : { observedVersion: metadata.resourceVersion }),
  };
}

const NOTES: Readonly<Record<Exclude<KeyPlan['change'], 'kept'>, readonly [reason: string, message: string]>> = {
  issued: ['KeyIssued', 'A new API key is in Secret'],
  rotated: ['KeyRotated', 'The API key was rotated in Secret'],
  replaced: ['KeyReplaced', 'The API key that was edited by hand is valid now, from Secret'],
  expired: ['KeyRevoked', 'The former API key was revoked, of Secret'],
};

function noteOf({ change }: KeyPlan, { secretName }: TenantApiKey): EventNote {
  const [reason, message] = NOTES[change === 'kept' ? 'issued' : change];
  return { type: 'Normal', reason, message: `${message} ${secretName}` };
}

function seconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
