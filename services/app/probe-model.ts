import { type EngramError, isEngramError } from '../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../common/kernel/scope.ts';
import type { ModelSettings } from '../common/models/providers/provider.ts';
import { scrubErrorText } from '../common/platform/jobs/run-error.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import type { ModelCallContext } from '../common/ports/models.ts';

/** Time limit of a probe, within the 30 s that callers wait. */
const TIMEOUT_MS = 20_000;
/** Nothing is tried again: the operator comes back by itself. */
const ONCE = { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, maxAskedDelayMs: 0 };
/** Some providers take no less. */
const ANSWER_TOKENS = 16;
/** Dimensions to ask of an embedding model whose dimensions are not known: its error names the right number. */
const ANY_DIMENSIONS = 1;

type ProbeModel = (
  request: RequestOf<'cognify.ProbeModel'>,
  signal?: AbortSignal,
) => Promise<AnswerOf<'cognify.ProbeModel'>>;

/** Probes of providers that are public or on one of these hosts, see `ENGRAM_TENANT_MODEL_HOSTS`. */
export function createModelProbe(privateHosts: readonly string[]): ProbeModel {
  return async (request, signal) => {
    const { createModelFetch } = await import('../common/platform/fetch/model-fetch.ts');
    return probeModel(request, createModelFetch({ privateHosts }), signal);
  };
}

/**
 * Sends a provider a minimal request with a credential that is not stored. It counts for no budget: the resource
 * whose credential it is pays its provider for a few tokens.
 */
async function probeModel(
  request: RequestOf<'cognify.ProbeModel'>,
  send: typeof fetch,
  signal: AbortSignal | undefined,
): Promise<AnswerOf<'cognify.ProbeModel'>> {
  const connected = { ...connection(request), fetch: send };
  try {
    await (request.kind === 'language'
      ? askLanguageModel(connected, signal)
      : askEmbedder(connected, request.dimensions, signal));
    return { outcome: 'accepted', detail: '' };
  } catch (error) {
    if (!isEngramError(error)) throw error;
    return { outcome: outcomeOf(error), detail: sentence(error, request.apiKey) };
  }
}

const OUTCOMES: ReadonlyMap<string, AnswerOf<'cognify.ProbeModel'>['outcome']> = new Map(
  Object.entries<AnswerOf<'cognify.ProbeModel'>['outcome']>({
    LLMAPIKeyNotSetError: 'rejected',
    LLMPaymentRequiredError: 'rejected',
    LLMQuotaExceededError: 'rejected',
    CogneeValidationError: 'invalid',
    EmbeddingDimensionMismatchError: 'invalid',
    EmbeddingException: 'invalid',
    SSRFProtectionError: 'invalid',
    // Its filter does not like a greeting; the credential is right.
    ContentPolicyFilterError: 'accepted',
  }),
);

/** Judges a credential by the answer of its provider. */
export function outcomeOf(error: EngramError): AnswerOf<'cognify.ProbeModel'>['outcome'] {
  return OUTCOMES.get(error.wireName) ?? 'unreachable';
}

async function askLanguageModel(connected: ModelSettings, signal: AbortSignal | undefined): Promise<void> {
  const { createLanguageModel } = await import('../common/models/providers/language-model.ts');
  const model = createLanguageModel({ ...connected, callTimeoutMs: TIMEOUT_MS, retry: ONCE });
  const call = { system: 'Answer with one word.', prompt: 'Hello', maxOutputTokens: ANSWER_TOKENS };
  await model.text(call, contextOf(signal));
}

async function askEmbedder(
  connected: ModelSettings,
  wanted: number | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { createEmbedder } = await import('../common/models/providers/embedder.ts');
  const { knownDimensions } = await import('../common/models/providers/embedding-models.ts');
  const demanded = wanted ?? knownDimensions(connected.model);
  const embedder = createEmbedder({
    ...connected,
    declaredBy: 'embedding.dimensions',
    dimensions: demanded ?? ANY_DIMENSIONS,
    maxInputTokens: 100,
    callTimeoutMs: TIMEOUT_MS,
    retry: ONCE,
  });
  try {
    await embedder.embed(['Hello'], contextOf(signal));
  } catch (error) {
    const isAnyRight = demanded === null && isEngramError(error);
    if (!(isAnyRight && error.wireName === 'EmbeddingDimensionMismatchError')) throw error;
  }
}

function connection({ provider, model, endpoint, apiKey }: RequestOf<'cognify.ProbeModel'>): ModelSettings {
  return {
    provider,
    model,
    ...(endpoint === undefined || endpoint === '' ? {} : { endpoint }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

function contextOf(signal: AbortSignal | undefined): ModelCallContext {
  return { scope: { tenant: PERSONAL_TENANT }, purpose: 'query', ...(signal === undefined ? {} : { signal }) };
}

/** Providers quote keys, in part or whole. */
function sentence({ message }: EngramError, apiKey: string | undefined): string {
  return scrubErrorText(apiKey === undefined || apiKey === '' ? message : message.replaceAll(apiKey, '[secret]'));
}
