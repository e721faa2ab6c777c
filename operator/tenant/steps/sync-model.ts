import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { SetTenantModelRequest } from '../../../services/common/platform/messaging/methods/auth-managed.ts';
import type { TenantLlm, TenantStatus, TenantStatusSecret } from '../../api/tenant.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { isSameKey, probed, problem, readModelKey, secretsWith } from './provider-key.ts';

type ModelOutcome = StepOutcome<Pick<TenantStatus, 'languageModel' | 'secrets'>>;
type Model = NonNullable<SetTenantModelRequest['languageModel']>;

const PURPOSE = 'ModelKey';

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
        return done({ status: { languageModel: undefined, secrets: secretsWith(context, PURPOSE, undefined) } });
      }
      const held = await readModelKey(deps, context, llm.apiKeySecretRef, PURPOSE);
      if (held === null) {
        const { name = '', key = '' } = llm.apiKeySecretRef ?? {};
        return problem(
          'retrying',
          'SecretMissing',
          `No Secret ${name} has the model's key under ${key}: create it, or add that key to it`,
        );
      }
      const model = modelOf(llm, held.apiKey);
      if (!isKnown(context, llm, held.secret)) {
        const wrong = await probed(deps, context, { kind: 'language', ...model }, 'llm');
        if (wrong !== null) return wrong;
      }
      await give(deps, context, model);
      const { provider, model: name } = llm;
      return done({
        status: { languageModel: { provider, model: name }, secrets: secretsWith(context, PURPOSE, held.secret) },
      });
    },
  };
}

function modelOf({ provider, model, endpoint }: TenantLlm, apiKey: string | undefined): Model {
  return {
    ...{ provider, model },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Whether the provider took this very key and model before. */
function isKnown(context: TenantContext, llm: TenantLlm, secret: TenantStatusSecret | undefined): boolean {
  const { languageModel } = context.status;
  return (
    isSameKey(context, PURPOSE, secret) && languageModel?.provider === llm.provider && languageModel.model === llm.model
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
