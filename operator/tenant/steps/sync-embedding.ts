import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { SetTenantEmbeddingRequest } from '../../../services/common/platform/messaging/methods/auth-managed.ts';
import type { TenantEmbedding, TenantStatus, TenantStatusSecret } from '../../api/tenant.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { isSameKey, probed, problem, readModelKey, secretsWith } from './provider-key.ts';

type Outcome = StepOutcome<Pick<TenantStatus, 'embedding' | 'secrets'>>;
type Embedding = NonNullable<SetTenantEmbeddingRequest['embedding']>;

const PURPOSE = 'EmbeddingKey';
/** The server's own, which needs no account. */
const BUILTIN = 'builtin';

/**
 * Gives the services the tenant's own embedding model, once its provider has taken the key and gives vectors of the declared
 * dimensions; until then the one before stays in use. Datasets that have other vectors are moved by their own resources.
 */
export function syncEmbedding(deps: TenantDependencies): TenantStep {
  return {
    name: 'sync-embedding',
    async run(context): Promise<Outcome> {
      const { embedding } = context.object.spec;
      if (embedding === undefined) {
        if (context.status.embedding !== undefined) await give(deps, context, undefined);
        return done({ status: { embedding: undefined, secrets: secretsWith(context, PURPOSE, undefined) } });
      }
      const held = await readModelKey(deps, context, embedding.apiKeySecretRef, PURPOSE);
      if (held === null) {
        const { name = '', key = '' } = embedding.apiKeySecretRef ?? {};
        const message = `No Secret ${name} has the embedding model's key under ${key}: create it, or add that key to it`;
        return problem('retrying', 'SecretMissing', message);
      }
      const model = modelOf(embedding, held.apiKey);
      if (embedding.provider !== BUILTIN && !isKnown(context, embedding, held.secret)) {
        const wrong = await probed(deps, context, { kind: 'embedding', ...model }, 'embedding');
        if (wrong !== null) return wrong;
      }
      await give(deps, context, model);
      const { provider, model: name, dimensions } = embedding;
      const secrets = secretsWith(context, PURPOSE, held.secret);
      return done({ status: { embedding: { provider, model: name, dimensions }, secrets } });
    },
  };
}

function modelOf({ provider, model, dimensions, endpoint }: TenantEmbedding, apiKey: string | undefined): Embedding {
  return {
    ...{ provider, model, dimensions },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Whether the provider took this very key and model before. */
function isKnown(context: TenantContext, declared: TenantEmbedding, secret: TenantStatusSecret | undefined): boolean {
  const { embedding } = context.status;
  return (
    isSameKey(context, PURPOSE, secret) &&
    embedding?.provider === declared.provider &&
    embedding.model === declared.model &&
    embedding.dimensions === declared.dimensions
  );
}

async function give(deps: TenantDependencies, context: TenantContext, model: Embedding | undefined): Promise<void> {
  const { object, status, event, signal } = context;
  const request = {
    ...{ tenantId: asId<TenantId>(status.tenantId ?? ''), crUid: object.metadata.uid ?? '' },
    ...(model === undefined ? {} : { embedding: model }),
  };
  const { changed } = await askServices('auth', () => deps.services.setTenantEmbedding(request, signal));
  if (!changed) return;
  const message =
    model === undefined
      ? 'New vectors are made by the embedding model of the server'
      : `New vectors are made by ${model.provider}/${model.model}`;
  event({ type: 'Normal', reason: 'EmbeddingChanged', message });
}
