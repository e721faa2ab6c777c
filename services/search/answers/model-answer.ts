import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { modelCallContext, type SearchRequest } from '../model.ts';

/** Stored default of `system_prompt`. */
export const DEFAULT_SYSTEM_PROMPT =
  'Answer the question from the context alone, briefly and precisely. First find the words of the context that answer it. When the context does not hold the answer, say that memory does not hold it instead of guessing.';

export type PromptKind = 'plain' | 'graph' | 'sections';

const INTRODUCTION: Readonly<Record<PromptKind, string>> = {
  plain: 'Here is the context:',
  graph: 'Here is the context from a knowledge graph: first its nodes with their texts, then how they are connected.',
  sections: 'Here is the context in sections. Keep the answer brief and use nothing from outside the context.',
};

/** The user message of the answer call; also what `only_context` shows. */
export function userPrompt(kind: PromptKind, query: string, context: string): string {
  return `The question is: \`${query}\`\n${INTRODUCTION[kind]}\n\nContext:\n\`${context}\``;
}

/** What the user stated before, in the message of the answer call; '' for nothing. */
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
