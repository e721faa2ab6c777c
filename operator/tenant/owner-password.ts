import { randomBytes } from 'node:crypto';
import { boundedName } from '../api/names.ts';
import type { Tenant, TenantStatusSecret } from '../api/tenant.ts';
import { isKubeError } from '../kube-runtime/kube-client.ts';
import { KINDS, type Secret, secretText } from '../kube-runtime/kube-object.ts';
import { retrying, StepFailure } from '../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies } from './model.ts';
import { isManaged, managedSecret } from './tenant-secrets.ts';

export interface OwnerPassword {
  /** Undefined when the Secret is gone, which matters to a new account only. */
  readonly text: string | undefined;
  readonly secret: TenantStatusSecret | undefined;
}

/** Reads the password of the owner from the Secret that the Tenant names, or from a generated one. */
export async function ownerPassword(deps: TenantDependencies, context: TenantContext): Promise<OwnerPassword> {
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
async function named(
  { client, options }: TenantDependencies,
  { object, signal }: TenantContext,
  held: Secret,
): Promise<Secret> {
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
