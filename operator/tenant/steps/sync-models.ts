import { isDeepStrictEqual } from 'node:util';
import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { AnswerOf, RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import type { TenantEmbedding, TenantLlm, TenantStatus, TenantStatusSecret } from '../../api/tenant.ts';
import { KINDS, type Secret, secretText } from '../../kube-runtime/kube-object.ts';
import { done, retrying, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import { isNewGeneration, type TenantContext, type TenantDependencies, type TenantStep } from '../model.ts';
import { askService } from '../service-failure.ts';

type Outcome = StepOutcome<Partial<Pick<TenantStatus, 'languageModel' | 'embedding' | 'secrets'>>>;

/** An account may be paid or a model restored without any change of the resource. */
const REJECTED_AGAIN_MS = 300_000;

/** Embedding model of the server itself: needs no account, so there is no provider to ask. */
const BUILTIN = 'builtin';

interface Ids {
  readonly tenantId: TenantId;
  readonly crUid: string;
}

interface Access {
  readonly endpoint?: string;
  readonly apiKey?: string;
}

type NamedModel = Pick<TenantLlm, 'provider' | 'model'>;

/** Differences between the language model and the embedding model of a tenant. */
interface ModelKind<Shown extends NamedModel> {
  readonly step: string;
  readonly field: 'llm' | 'embedding';
  readonly statusField: 'languageModel' | 'embedding';
  readonly purpose: TenantStatusSecret['purpose'];
  /** In messages. */
  readonly title: string;
  /** Part of the declaration that the status shows and that the provider accepted. */
  shown(declared: Shown): Shown;
  probe(model: Shown & Access): RequestOf<'cognify.ProbeModel'>;
  set(
    deps: TenantDependencies,
    request: Ids & { readonly model?: Shown & Access },
    signal: AbortSignal,
  ): Promise<{ readonly changed: boolean }>;
  changed(model: Shown | undefined): { readonly reason: string; readonly message: string };
}

const LANGUAGE_MODEL: ModelKind<NamedModel> = {
  step: 'sync-model',
  field: 'llm',
  statusField: 'languageModel',
  purpose: 'ModelKey',
  title: 'model',
  shown: ({ provider, model }) => ({ provider, model }),
  probe: (model) => ({ kind: 'language', ...model }),
  set: (deps, { model, ...ids }, signal) => {
    const request = { ...ids, ...(model === undefined ? {} : { languageModel: model }) };
    return askService(deps.services, 'auth.SetTenantModel', { request, signal });
  },
  changed: (model) => ({
    reason: 'LanguageModelChanged',
    message:
      model === undefined ? 'The language model of the server is in use' : `${model.provider}/${model.model} is in use`,
  }),
};

const EMBEDDING_MODEL: ModelKind<Pick<TenantEmbedding, 'provider' | 'model' | 'dimensions'>> = {
  step: 'sync-embedding',
  field: 'embedding',
  statusField: 'embedding',
  purpose: 'EmbeddingKey',
  title: 'embedding model',
  shown: ({ provider, model, dimensions }) => ({ provider, model, dimensions }),
  probe: (model) => ({ kind: 'embedding', ...model }),
  set: (deps, { model, ...ids }, signal) => {
    const request = { ...ids, ...(model === undefined ? {} : { embedding: model }) };
    return askService(deps.services, 'auth.SetTenantEmbedding', { request, signal });
  },
  changed: (model) => ({
    reason: 'EmbeddingChanged',
    message: `New vectors are made by ${model === undefined ? 'the embedding model of the server' : `${model.provider}/${model.model}`}`,
  }),
};

/**
 * Gives the services the tenant's own language model, once its provider has accepted the key; until then the previous one
 * stays in use. A failure holds up no other step. Runs after the keys, so that its `CredentialsReady` counts.
 */
export function syncModel(deps: TenantDependencies): TenantStep {
  return syncModelOf(deps, LANGUAGE_MODEL);
}

/**
 * The same for the tenant's own embedding model, whose provider must return vectors of the declared dimensions. Datasets with
 * vectors of another model are migrated by their own resources.
 */
export function syncEmbedding(deps: TenantDependencies): TenantStep {
  return syncModelOf(deps, EMBEDDING_MODEL);
}

function syncModelOf<Shown extends NamedModel>(deps: TenantDependencies, kind: ModelKind<Shown>): TenantStep {
  const { field, statusField, purpose } = kind;
  return {
    name: kind.step,
    async run(context): Promise<Outcome> {
      const declared = context.object.spec[field] as (TenantLlm & Shown) | undefined;
      if (declared === undefined) {
        if (context.status[statusField] !== undefined) await setModel(deps, context, kind, undefined);
        return done({ status: { [statusField]: undefined, secrets: secretsWith(context, purpose, undefined) } });
      }
      const held = await readKey(deps, context, declared, purpose);
      if (held === null) {
        const { name = '', key = '' } = declared.apiKeySecretRef ?? {};
        const message = `No Secret ${name} has the ${kind.title}'s key under ${key}: create it, or add that key to it`;
        return problem('retrying', 'SecretMissing', message);
      }
      const shown = kind.shown(declared);
      const model: Shown & Access = {
        ...shown,
        ...(declared.endpoint === undefined ? {} : { endpoint: declared.endpoint }),
        ...(held.apiKey === undefined ? {} : { apiKey: held.apiKey }),
      };
      const isAccepted =
        isSameKey(context, purpose, held.secret) && isDeepStrictEqual(context.status[statusField], shown);
      const isBuiltin = field === 'embedding' && declared.provider === BUILTIN;
      if (!isBuiltin && !isAccepted) {
        const { services } = deps;
        const probe = await askService(services, 'cognify.ProbeModel', {
          request: kind.probe(model),
          signal: context.signal,
        });
        if (probe.outcome !== 'accepted') return refusal(probe, declared, field);
      }
      await setModel(deps, context, kind, model);
      return done({ status: { [statusField]: shown, secrets: secretsWith(context, purpose, held.secret) } });
    },
  };
}

async function setModel<Shown extends NamedModel>(
  deps: TenantDependencies,
  { object, status, event, signal }: TenantContext,
  kind: ModelKind<Shown>,
  model: (Shown & Access) | undefined,
): Promise<void> {
  const ids = { tenantId: asId<TenantId>(status.tenantId ?? ''), crUid: object.metadata.uid ?? '' };
  const { changed } = await kind.set(deps, { ...ids, ...(model === undefined ? {} : { model }) }, signal);
  if (changed) event({ type: 'Normal', ...kind.changed(model) });
}

interface HeldKey {
  /** Undefined: the model needs none. */
  readonly apiKey: string | undefined;
  readonly secret: TenantStatusSecret | undefined;
}

/** Reads the key from the Secret that the declaration names; null when it is missing. */
async function readKey(
  { client }: TenantDependencies,
  { object, signal }: TenantContext,
  { apiKeySecretRef }: TenantLlm,
  purpose: TenantStatusSecret['purpose'],
): Promise<HeldKey | null> {
  if (apiKeySecretRef === undefined) return { apiKey: undefined, secret: undefined };
  const { name, key } = apiKeySecretRef;
  const place = { name, namespace: object.metadata.namespace ?? '' };
  const secret = await client.get<Secret>(KINDS.secret, place, { signal });
  // A Secret that was made from a file often ends with a line end, which is not part of the key.
  const apiKey = secret === null ? undefined : secretText(secret, key)?.trim();
  if (secret === null || apiKey === undefined || apiKey === '') return null;
  const { resourceVersion } = secret.metadata;
  const version = resourceVersion === undefined ? {} : { observedVersion: resourceVersion };
  return { apiKey, secret: { name, purpose, managed: false, ...version } };
}

/** Whether the provider accepted this very key before, for the present generation of the spec: each probe costs money. */
function isSameKey(
  context: TenantContext,
  purpose: TenantStatusSecret['purpose'],
  secret: TenantStatusSecret | undefined,
): boolean {
  const before = context.status.secrets?.find((each) => each.purpose === purpose);
  return (
    !isNewGeneration(context) && before?.name === secret?.name && before?.observedVersion === secret?.observedVersion
  );
}

function refusal(
  { outcome, detail }: AnswerOf<'cognify.ProbeModel'>,
  { provider, model }: TenantLlm,
  field: 'llm' | 'embedding',
): Outcome {
  const said = detail === '' ? 'no reason given' : detail;
  switch (outcome) {
    case 'rejected': {
      const message = `${provider} does not accept the key of ${field}.apiKeySecretRef: ${said}`;
      return problem('stalled', 'ProviderRejected', message);
    }
    case 'invalid':
      return problem('stalled', 'ModelInvalid', `${model} of ${provider} cannot be used: ${said}`);
    default:
      return problem('retrying', 'ProviderUnreachable', `${provider} cannot be reached now: ${said}`);
  }
}

/** The previous model stays in use, and in the status. */
function problem(state: 'stalled' | 'retrying', reason: string, message: string): Outcome {
  const conditions = [{ type: 'CredentialsReady', status: 'False', reason, message }] as const;
  return state === 'stalled'
    ? stalled(reason, message, { conditions, continues: true, requeueAfterMs: REJECTED_AGAIN_MS })
    : retrying(reason, message, { conditions, continues: true });
}

function secretsWith(
  { status }: TenantContext,
  purpose: TenantStatusSecret['purpose'],
  secret: TenantStatusSecret | undefined,
): readonly TenantStatusSecret[] {
  const others = (status.secrets ?? []).filter((each) => each.purpose !== purpose);
  return secret === undefined ? others : [...others, secret];
}
