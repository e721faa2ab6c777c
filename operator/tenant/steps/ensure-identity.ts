import { randomBytes } from 'node:crypto';
import type { AnswerOf } from '../../../services/common/platform/messaging/messages.ts';
import { boundedName, WAKE_AT } from '../../api/names.ts';
import type { Tenant, TenantStatusSecret } from '../../api/tenant.ts';
import { refusalOf } from '../../installation/services.ts';
import { isKubeError } from '../../kube-runtime/kube-client.ts';
import { KINDS, keyOf, type Secret, secretText } from '../../kube-runtime/kube-object.ts';
import { done, retrying, StepFailure, stalled } from '../../kube-runtime/steps.ts';
import { declaredState, effectiveState, isDedicated, isUnused } from '../effective-state.ts';
import {
  isNewGeneration,
  isWakeRequested,
  type TenantContext,
  type TenantDependencies,
  type TenantStep,
} from '../model.ts';
import { askService, notProvisioned, unreachable } from '../service-failure.ts';
import { isManaged, managedSecret } from '../tenant-secrets.ts';

/** Delay before unused services are stopped, and interval at which auth is asked whether woken ones are used. */
const SLEEPY_MS = 5000;

/** Creates or adopts the tenant with its owner, host name and state, and checks the health of the services. */
export function ensureIdentity(deps: TenantDependencies): TenantStep {
  return {
    name: 'ensure-identity',
    async run(context) {
      const { object, status, now } = context;
      const password = await ownerPassword(deps, context);
      const answer = await ensureTenant(deps, context, password.text);
      const isIdle = isUnused(status, answer.isAsleep, now);
      emitIdentityEvent(context, answer);
      emitHibernationEvent(context, isIdle);
      const others = (status.secrets ?? []).filter(({ purpose }) => purpose !== 'OwnerPassword');
      const identity = {
        state: effectiveState(object, status, isIdle),
        // Kept until the tenant is used, or is unused for too long.
        waking: answer.isAsleep && !isIdle ? status.waking : undefined,
        lastHandledWakeAt: object.metadata.annotations?.[WAKE_AT],
        tenantId: answer.tenantId,
        ownerId: answer.ownerId,
        secrets: password.secret === undefined ? others : [password.secret, ...others],
      };
      const unhealthy = await deps.services.unhealthy();
      if (unhealthy.length > 0)
        return { ...unreachable(unhealthy), state: 'retrying', status: identity, continues: true };
      const message = `All services answer, the tenant is in ${deps.options.stores.length} stores`;
      return done({
        status: identity,
        conditions: [{ type: 'StoresProvisioned', status: 'True', reason: 'Provisioned', message }],
        ...(isDedicated(object) && answer.isAsleep ? { requeueAfterMs: SLEEPY_MS } : {}),
      });
    },
  };
}

/**
 * Sends the password only when auth needs it: an existing account keeps its own. Auth refuses the first request when there is
 * no account (any more), for example because it did not answer when the spec got another owner.
 */
async function ensureTenant(deps: TenantDependencies, context: TenantContext, password: string | undefined) {
  const { object, status, signal } = context;
  const ask = (text: string | undefined) =>
    askService(deps.services, 'auth.EnsureTenant', {
      request: identityOf(deps, context, text),
      signal,
      ownRefusals: {
        TenantNotFoundError: () => {
          const message = `There is no tenant ${object.spec.tenantId}: create this resource again with the right tenantId`;
          return stalled('TenantNotFound', message, { conditions: [notProvisioned('TenantNotFound', message)] });
        },
      },
    });
  if (status.ownerId === undefined || isNewGeneration(context) || password === undefined) return ask(password);
  try {
    return await ask(undefined);
  } catch (error) {
    if (refusalOf(error) !== 'InvalidRequestError') throw error;
    return ask(password);
  }
}

/** Request to auth. The password is used for a new account only. */
function identityOf({ options }: TenantDependencies, context: TenantContext, password: string | undefined) {
  const { object, status } = context;
  const { metadata, spec } = object;
  const { hostname } = spec.routing ?? {};
  return {
    crUid: metadata.uid ?? '',
    displayName: spec.displayName ?? metadata.name,
    ...(spec.tenantId === undefined ? {} : { tenantId: spec.tenantId }),
    resource: keyOf(metadata),
    ...(options.trustedNamespaces.includes(metadata.namespace ?? '') ? { adoptsAny: true } : {}),
    ownerEmail: spec.owner.email,
    ...(password === undefined ? {} : { ownerPassword: password }),
    hostNames: hostname === undefined ? [] : [hostname],
    ...declaredState(object, status),
    ...(isWakeRequested(context) || status.waking?.by === 'Declaration' ? { wake: true } : {}),
  };
}

function emitIdentityEvent(
  context: TenantContext,
  { created, corrected, tenantId, isAsleep }: AnswerOf<'auth.EnsureTenant'>,
): void {
  const { event, status } = context;
  if (created) {
    event({ type: 'Normal', reason: 'TenantCreated', message: `Tenant ${tenantId} was created` });
    return;
  }
  if (corrected.includes('adopted')) {
    const message = `Tenant ${tenantId} was adopted with its data`;
    event({ type: 'Normal', reason: 'TenantAdopted', message });
    return;
  }
  // A state that the operator itself changed is no drift.
  const isOurs = status.state !== undefined && status.state !== effectiveState(context.object, status, isAsleep);
  const drifted = corrected.filter((field) => field !== 'state' || !isOurs).toSorted();
  if (drifted.length === 0 || isNewGeneration(context)) return;
  const message = `Was changed elsewhere and corrected: ${drifted.join(', ')}`;
  event({ type: 'Warning', reason: 'DriftCorrected', message });
}

/** Records that the tenant was hibernated because it is unused, or was woken. */
function emitHibernationEvent({ object, status, event }: TenantContext, isAsleep: boolean): void {
  const { state, hibernation } = object.spec;
  if (state !== 'Active' || hibernation === undefined || status.state === undefined) return;
  if (isAsleep && status.state === 'Active') {
    const message = `The tenant was unused for ${hibernation.afterIdle}, so it was hibernated`;
    event({ type: 'Normal', reason: 'Hibernated', message });
  }
  if (!isAsleep && status.state === 'Hibernated') {
    event({ type: 'Normal', reason: 'Woken', message: 'The tenant was woken and serves' });
  }
}

interface OwnerPassword {
  /** Undefined when the Secret is gone, which matters to a new account only. */
  readonly text: string | undefined;
  readonly secret: TenantStatusSecret | undefined;
}

/** Reads the password of the owner from the Secret that the Tenant names, or from a generated one. */
async function ownerPassword(deps: TenantDependencies, context: TenantContext): Promise<OwnerPassword> {
  const { object, status, signal } = context;
  const { name, key } = object.spec.owner.passwordSecretRef ?? { name: generatedName(object), key: 'password' };
  const isGiven = object.spec.owner.passwordSecretRef !== undefined;
  const held = await deps.client.get<Secret>(KINDS.secret, placed(object, name), { signal });
  const isNew = status.ownerId === undefined;
  if (held === null && !isNew) return { text: undefined, secret: undefined };
  const secret =
    held === null ? (isGiven ? null : await generate(deps, context, name)) : await named(deps, context, held);
  const text = secret === null ? undefined : secretText(secret, key);
  if (secret === null || text === undefined || text === '') {
    throw missing(`No Secret ${name} has the owner's password under ${key}: create it, or add that key to it`);
  }
  return { text, secret: statusOf(deps, object, secret) };
}

function generatedName({ metadata }: Tenant): string {
  return boundedName(metadata.name, 'owner');
}

/** Updates the e-mail address in a generated Secret when the owner changed. */
async function named({ client, options }: TenantDependencies, { object, signal }: TenantContext, held: Secret) {
  const { email } = object.spec.owner;
  const isOurs = isManaged(options, object, held) && held.metadata.name === generatedName(object);
  if (!isOurs || secretText(held, 'email') === email) return held;
  const { resourceVersion } = held.metadata;
  const patch = { metadata: { resourceVersion }, data: { email: Buffer.from(email).toString('base64') } };
  return client.patch<Secret>(KINDS.secret, held.metadata, patch, { signal });
}

async function generate(
  { client, options }: TenantDependencies,
  { object, event, signal }: TenantContext,
  name: string,
): Promise<Secret> {
  const secret = managedSecret(options, object, {
    name,
    data: { email: object.spec.owner.email, password: randomBytes(24).toString('base64url') },
    labels: {},
    annotations: {},
  });
  try {
    const made = await client.create<Secret>(KINDS.secret, secret, { signal });
    event({ type: 'Normal', reason: 'SecretCreated', message: `The owner's password is in Secret ${name}` });
    return made;
  } catch (error) {
    // Somebody else created the Secret first: use that one.
    if (!isKubeError(error, 409)) throw error;
    const held = await client.get<Secret>(KINDS.secret, placed(object, name), { signal });
    if (held === null) throw error;
    return held;
  }
}

function statusOf({ options }: TenantDependencies, tenant: Tenant, secret: Secret): TenantStatusSecret {
  const { name, resourceVersion } = secret.metadata;
  return {
    name,
    purpose: 'OwnerPassword',
    managed: isManaged(options, tenant, secret),
    ...(resourceVersion === undefined ? {} : { observedVersion: resourceVersion }),
  };
}

function placed({ metadata }: Tenant, name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: metadata.namespace ?? '' };
}

function missing(message: string): StepFailure {
  const condition = { type: 'CredentialsReady', status: 'False', reason: 'SecretMissing', message } as const;
  return new StepFailure(retrying('SecretMissing', message, { conditions: [condition] }));
}
