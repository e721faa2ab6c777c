import type { TenantId } from '../../../services/common/domain/brand.ts';
import { asId } from '../../../services/common/domain/ids.ts';
import type { SetTenantModelRequest } from '../../../services/common/messaging/methods/auth-managed.ts';
import type { ProbeModelResponse } from '../../../services/common/messaging/methods/cognify-managed.ts';
import type { TenantLlm, TenantStatus, TenantStatusSecret } from '../../api/tenant.ts';
import { KINDS, type Secret } from '../../runtime/kube-object.ts';
import { done, retrying, type StepOutcome, stalled } from '../../runtime/step.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { secretText } from '../tenant-secrets.ts';
import { isNewGeneration } from './ensure-identity.ts';

type ModelOutcome = StepOutcome<Pick<TenantStatus, 'languageModel' | 'secrets'>>;
type Model = NonNullable<SetTenantModelRequest['languageModel']>;

/** An account may be paid again, a model be there again, without any change of the resource. */
const REJECTED_AGAIN_MS = 300_000;

/**
 * Gives the services the tenant's own language model, once its provider has taken the key; until then the one before stays in
 * use. What is wrong with it holds up nothing else. Runs after the keys: its word on credentials counts.
 */
export function syncModel(deps: TenantDependencies): TenantStep {
  return {
    name: 'sync-model',
    async run(context): Promise<ModelOutcome> {
      const { llm } = context.object.spec;
      if (llm === undefined) {
        if (context.status.languageModel !== undefined) await give(deps, context, undefined);
        return done({ status: { languageModel: undefined, secrets: secretsWith(context, undefined) } });
      }
      const held = await readKey(deps, context, llm);
      if (held === null) {
        const { name = '', key = '' } = llm.apiKeySecretRef ?? {};
        return problem(
          'retrying',
          'SecretMissing',
          `Secret ${name} with the model's key under ${key} does not exist: create it`,
        );
      }
      const model = modelOf(llm, held.apiKey);
      if (!isKnown(context, llm, held.secret)) {
        const request = { kind: 'language' as const, ...model };
        const probe = await askServices('cognify', () => deps.services.probeModel(request, context.signal));
        if (probe.outcome !== 'accepted') return refusal(probe, llm);
      }
      await give(deps, context, model);
      const { provider, model: name } = llm;
      return done({ status: { languageModel: { provider, model: name }, secrets: secretsWith(context, held.secret) } });
    },
  };
}

interface HeldKey {
  /** Undefined: the model needs none. */
  readonly apiKey: string | undefined;
  readonly secret: TenantStatusSecret | undefined;
}

async function readKey(
  { client }: TenantDependencies,
  { object, signal }: TenantContext,
  { apiKeySecretRef }: TenantLlm,
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
  return { apiKey, secret: { name, purpose: 'ModelKey', managed: false, ...version } };
}

function modelOf({ provider, model, endpoint }: TenantLlm, apiKey: string | undefined): Model {
  return {
    ...{ provider, model },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Whether the provider took this very key and model before: asking costs. */
function isKnown(context: TenantContext, llm: TenantLlm, secret: TenantStatusSecret | undefined): boolean {
  const { languageModel, secrets = [] } = context.status;
  const before = secrets.find(({ purpose }) => purpose === 'ModelKey');
  return (
    !isNewGeneration(context) &&
    languageModel?.provider === llm.provider &&
    languageModel.model === llm.model &&
    before?.name === secret?.name &&
    before?.observedVersion === secret?.observedVersion
  );
}

async function give(deps: TenantDependencies, context: TenantContext, model: Model | undefined): Promise<void> {
  const { object, status, event, signal } = context;
  const request = {
    ...{ tenantId: asId<TenantId>(status.tenantId ?? ''), crUid: object.metadata.uid ?? '' },
    ...(model === undefined ? {} : { languageModel: model }),
  };
  const { changed } = await askServices('auth', () => deps.services.setTenantModel(request, signal));
  if (!changed) return;
  const message =
    model === undefined ? 'The language model of the server is in use' : `${model.provider}/${model.model} is in use`;
  event({ type: 'Normal', reason: 'LanguageModelChanged', message });
}

function refusal({ outcome, detail }: ProbeModelResponse, { provider, model }: TenantLlm): ModelOutcome {
  const said = detail === '' ? 'it gives no reason' : detail;
  switch (outcome) {
    case 'rejected':
      return problem(
        'stalled',
        'ProviderRejected',
        `${provider} does not take the key of llm.apiKeySecretRef: ${said}`,
      );
    case 'invalid':
      return problem('stalled', 'ModelInvalid', `${model} of ${provider} cannot be used: ${said}`);
    default:
      return problem('retrying', 'ProviderUnreachable', `${provider} cannot be asked now: ${said}`);
  }
}

/** The model before stays in use, and in the status. */
function problem(state: 'stalled' | 'retrying', reason: string, message: string): ModelOutcome {
  const conditions = [{ type: 'CredentialsReady', status: 'False', reason, message }] as const;
  return state === 'stalled'
    ? stalled(reason, message, { conditions, continues: true, requeueAfterMs: REJECTED_AGAIN_MS })
    : retrying(reason, message, { conditions, continues: true });
}

function secretsWith({ status }: TenantContext, secret: TenantStatusSecret | undefined): readonly TenantStatusSecret[] {
  const others = (status.secrets ?? []).filter(({ purpose }) => purpose !== 'ModelKey');
  return secret === undefined ? others : [...others, secret];
}
