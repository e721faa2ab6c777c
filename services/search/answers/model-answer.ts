import { payerOf } from '../../common/domain/budget.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import type { SearchRequest } from '../usecases/search-request.ts';

export interface AnswerPrompt {
  readonly user: string;
  readonly system: string;
}

export interface ModelAnswer {
  readonly text: string;
  /** The object that the caller's schema asked for. */
  readonly structured: JsonObject | null;
}

/** One call; its errors are final and keep their status (402 for a budget). */
export async function modelAnswer(
  model: LanguageModel,
  request: SearchRequest,
  prompt: AnswerPrompt,
  options: { readonly streaming: boolean },
): Promise<ModelAnswer> {
  const { listener, responseSchema } = request;
  const context = modelCallContext(request);
  const call = { system: prompt.system, prompt: prompt.user };
  listener?.generating();
  if (responseSchema !== null) {
    const asked = { ...call, schema: responseSchema.schema, schemaName: responseSchema.name };
    const structured = (await model.structured(asked, context)).value as JsonObject;
    return { text: JSON.stringify(structured), structured };
  }
  if (listener === undefined || !options.streaming) {
    return { text: (await model.text(call, context)).text, structured: null };
  }
  let text = '';
  for await (const piece of model.stream(call, context)) {
    text += piece;
    listener.delta(piece);
  }
  listener.answerDone();
  return { text, structured: null };
}

export function modelCallContext({ principal, context, onUsage }: SearchRequest): ModelCallContext {
  const { signal } = context;
  return {
    scope: { tenant: principal.tenant },
    purpose: 'query',
    payer: payerOf(principal),
    ...(signal === undefined ? {} : { signal }),
    ...(onUsage === undefined ? {} : { onUsage }),
  };
}
