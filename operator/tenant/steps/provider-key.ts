import type {
  ProbeModelRequest,
  ProbeModelResponse,
} from '../../../services/common/platform/messaging/methods/cognify-managed.ts';
import type { TenantLlm, TenantStatusSecret } from '../../api/tenant.ts';
import { KINDS, type Secret } from '../../kube-runtime/kube-object.ts';
import { retrying, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { secretText } from '../tenant-secrets.ts';
import { isNewGeneration } from './ensure-identity.ts';

/** An account may be paid again, a model be there again, without any change of the resource. */
const REJECTED_AGAIN_MS = 300_000;

type Purpose = TenantStatusSecret['purpose'];
type Problem = StepOutcome<{ readonly secrets?: readonly TenantStatusSecret[] }>;

export interface HeldKey {
  /** Undefined: the model needs none. */
  readonly apiKey: string | undefined;
  readonly secret: TenantStatusSecret | undefined;
}

/** The key of a model in the Secret that its field names; null: there is none. */
export async function readModelKey(
  { client }: TenantDependencies,
  { object, signal }: TenantContext,
  apiKeySecretRef: TenantLlm['apiKeySecretRef'],
  purpose: Purpose,
): Promise<HeldKey | null> {
  if (apiKeySecretRef === undefined) return { apiKey: undefined, secret: undefined };
  const { name, key } = apiKeySecretRef;
  const place = { name, namespace: object.metadata.namespace ?? '' };
  const secret = await client.get<Secret>(KINDS.secret, place, { signal });
  // Line ends of files that Secrets are made of belong to no key.
  const apiKey = secret === null ? undefined : secretText(secret, key)?.trim();
  if (secret === null || apiKey === undefined || apiKey === '') return null;
  const { resourceVersion } = secret.metadata;
  const version = resourceVersion === undefined ? {} : { observedVersion: resourceVersion };
  return { apiKey, secret: { name, purpose, managed: false, ...version } };
}

/** Whether the provider took this very key before, for the spec as it was looked at last: asking costs. */
export function isSameKey(context: TenantContext, purpose: Purpose, secret: TenantStatusSecret | undefined): boolean {
  const before = context.status.secrets?.find((each) => each.purpose === purpose);
  return (
    !isNewGeneration(context) && before?.name === secret?.name && before?.observedVersion === secret?.observedVersion
  );
}

/** What is wrong with a model by the word of its provider; null: nothing. */
export async function probed(
  { services }: Pick<TenantDependencies, 'services'>,
  { signal }: TenantContext,
  request: ProbeModelRequest,
  field: 'llm' | 'embedding',
): Promise<Problem | null> {
  const probe = await askServices('cognify', () => services.probeModel(request, signal));
  return probe.outcome === 'accepted' ? null : refusal(probe, request, field);
}

/** What a probe came to, for whoever declared `field`. */
function refusal(
  { outcome, detail }: ProbeModelResponse,
  { provider, model }: Pick<TenantLlm, 'provider' | 'model'>,
  field: 'llm' | 'embedding',
): Problem {
  const said = detail === '' ? 'it gives no reason' : detail;
  switch (outcome) {
    case 'rejected':
      return problem(
        'stalled',
        'ProviderRejected',
        `${provider} does not take the key of ${field}.apiKeySecretRef: ${said}`,
      );
    case 'invalid':
      return problem('stalled', 'ModelInvalid', `${model} of ${provider} cannot be used: ${said}`);
    default:
      return problem('retrying', 'ProviderUnreachable', `${provider} cannot be asked now: ${said}`);
  }
}

/** The model before stays in use, and in the status. */
export function problem(state: 'stalled' | 'retrying', reason: string, message: string): Problem {
  const conditions = [{ type: 'CredentialsReady', status: 'False', reason, message }] as const;
  return state === 'stalled'
    ? stalled(reason, message, { conditions, continues: true, requeueAfterMs: REJECTED_AGAIN_MS })
    : retrying(reason, message, { conditions, continues: true });
}

export function secretsWith(
  { status }: TenantContext,
  purpose: Purpose,
  secret: TenantStatusSecret | undefined,
): readonly TenantStatusSecret[] {
  const others = (status.secrets ?? []).filter((each) => each.purpose !== purpose);
  return secret === undefined ? others : [...others, secret];
}
