import { payerOf } from '../../common/domain/budget.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ModelSource } from '../../common/ports/active-models.ts';
import type { DocumentLoader } from '../../common/ports/documents.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ModelCallContext, Sampling } from '../../common/ports/models.ts';

/** Dependencies of the routes below `/llm`. */
export interface LlmDependencies {
  readonly models: ModelSource;
  readonly documents: DocumentLoader;
  readonly logger: Logger;
}

export interface LlmCaller {
  readonly principal: Principal;
  readonly context: CallContext;
  readonly sampling?: Sampling;
}

/** Returns the configured models; `LLMAPIKeyNotSetError` when one of them lacks its key. */
export async function currentModels({ models }: LlmDependencies, { principal }: LlmCaller) {
  const current = await models.current(principal.tenant);
  if (current.missingModelKey !== null) throw engramError('LLMAPIKeyNotSetError', current.missingModelKey);
  return current;
}

export function modelContext({ principal, context, sampling }: LlmCaller): ModelCallContext {
  const { signal } = context;
  return {
    scope: { tenant: principal.tenant },
    purpose: 'query',
    payer: payerOf(principal),
    ...(signal === undefined ? {} : { signal }),
    ...(sampling === undefined ? {} : { sampling }),
  };
}
