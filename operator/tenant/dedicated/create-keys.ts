import { isKubeError } from '../../kube-runtime/kube-client.ts';
import { KINDS, type Secret } from '../../kube-runtime/kube-object.ts';
import { StepFailure, stalled } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies } from '../dependencies.ts';

/** One of the same name that somebody else made is never written over. */
export async function createKeys(
  { client }: TenantDependencies,
  { signal }: TenantContext,
  secret: Secret,
): Promise<Secret> {
  try {
    return await client.create<Secret>(KINDS.secret, secret, { signal });
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const message = `Secret ${secret.metadata.name} exists and is not managed for this resource: rename or delete it`;
    throw new StepFailure(stalled('ObjectExists', message));
  }
}
