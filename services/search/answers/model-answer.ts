import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { modelCallContext, type SearchRequest } from '../model.ts';

/** Default of `system_prompt`. */
export const DEFAULT_SYSTEM_PROMPT =
  'Answer the question from the context alone, briefly and precisely. First find the words of the context that answer it. When the context does not hold the answer, say that memory does not hold it instead of guessing.';

export type PromptKind = 'plain' | 'graph' | 'sections';

const INTRODUCTION: Readonly<Record<PromptKind, string>> = {
  plain: 'Here is the context:',
  graph: 'Here is the context from a knowledge graph: first its nodes with their texts, then how they are connected.',
  sections: 'Here is the context in sections. Keep the answer brief and use nothing from outside the context.',
};

/** Returns the user message of the answer call; also shown by `only_context`. */
export function userPrompt(kind: PromptKind, query: string, context: string): string {
  return `The question is: \`${query}\`\n${INTRODUCTION[kind]}\n\nContext:\n\`${context}\``;
}

/** Returns the stated preferences of the user as a section of the user message; '' without any. */
export function preferencesText(lines: string): string {
  if (lines === '') return '';
  const list = lines.split('\n').map((line) => `- ${line}`);
  return [
    '## Preferences of the user',
    'Stated earlier, the newest first; where two disagree the newer one wins.',
    ...list,
  ].join('\n');
}

export interface AnswerPrompt {
  readonly user: string;
  readonly system: string;
}

export interface ModelAnswer {
  readonly text: string;
  /** The answer as an object of the caller's schema. */
  readonly structured: JsonObject | null;
}

/** Generates the answer with one model call. Errors keep their status (402 for a budget). */
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
