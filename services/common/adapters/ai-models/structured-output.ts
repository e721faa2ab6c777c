import {
  type LanguageModel as AiLanguageModel,
  generateText,
  type JSONSchema7,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  type ToolSet,
  tool,
} from 'ai';
import { engramError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { LanguageModel, ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { signalOf, usageOf } from './language-model.ts';
import { refusesSchema } from './provider-error.ts';
import { type RetryPolicy, withRetry } from './retry.ts';
import { schemaProblems } from './schema-check.ts';

type StructuredCall = Parameters<LanguageModel['structured']>[0];
type StructuredAnswer = Awaited<ReturnType<LanguageModel['structured']>>;

/** How a model is asked for an object, best first; a server that refuses one way is asked the next way from then on. */
const WAYS = ['json-schema', 'tool', 'text'] as const;
type Way = (typeof WAYS)[number];

/** One first answer and at most two repairs, each told what was wrong. */
const MAX_ANSWERS = 3;

interface Attempt {
  /** Undefined when the answer held no JSON at all. */
  readonly value: unknown;
  readonly text: string;
  readonly usage: TokenUsage;
}

export function createStructuredCalls(parts: {
  readonly model: () => Promise<AiLanguageModel>;
  readonly common: (context: ModelCallContext) => {
    readonly maxRetries: number;
    readonly abortSignal: AbortSignal;
    readonly temperature?: number;
  };
  readonly retry: RetryPolicy;
}): (call: StructuredCall, context: ModelCallContext) => Promise<StructuredAnswer> {
  let way: Way = 'json-schema';

  const ask = async (call: StructuredCall, prompt: string, context: ModelCallContext): Promise<Attempt> => {
    for (;;) {
      const asked: Way = way;
      try {
        const once = async () => askOnce(await parts.model(), asked, { ...call, prompt }, parts.common(context));
        return await withRetry(once, parts.retry, {
          ...signalOf(context),
          isFinal: (error) => asked !== 'text' && refusesSchema(error),
        });
      } catch (error) {
        const next = WAYS[WAYS.indexOf(asked) + 1];
        if (next === undefined || !refusesSchema(error)) throw error;
        way = next;
      }
    }
  };

  return async (call, context) => {
    let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
    let prompt = call.prompt;
    let problems: readonly string[] = [];
    for (let answer = 1; answer <= MAX_ANSWERS; answer += 1) {
      const attempt = await ask(call, prompt, context);
      usage = {
        inputTokens: usage.inputTokens + attempt.usage.inputTokens,
        outputTokens: usage.outputTokens + attempt.usage.outputTokens,
      };
      problems = attempt.value === undefined ? ['the answer is not JSON'] : schemaProblems(attempt.value, call.schema);
      if (problems.length === 0) return { value: attempt.value, usage };
      prompt = `${call.prompt}\n\nYour previous answer was not usable:\n${problems.slice(0, 10).join('\n')}\nPrevious answer:\n${attempt.text.slice(0, 4000)}\nAnswer again, correctly.`;
    }
    throw engramError(
      'CogneeSystemError',
      `the model gave no usable ${call.schemaName}: ${problems[0] ?? 'no answer'}`,
      { extra: { usage } },
    );
  };
}

async function askOnce(
  model: AiLanguageModel,
  way: Way,
  { system, prompt, schema, schemaName }: StructuredCall,
  common: { readonly maxRetries: number; readonly abortSignal: AbortSignal; readonly temperature?: number },
): Promise<Attempt> {
  const wireSchema = jsonSchema(schema as JSONSchema7);
  if (way === 'tool') {
    const tools: ToolSet = { [schemaName]: tool({ description: `Gives the ${schemaName}.`, inputSchema: wireSchema }) };
    const result = await generateText({
      model,
      system,
      prompt,
      ...common,
      tools,
      toolChoice: { type: 'tool', toolName: schemaName },
    });
    const input = result.toolCalls[0]?.input;
    return {
      value: input ?? readJson(result.text),
      text: JSON.stringify(input) ?? result.text,
      usage: usageOf(result.usage),
    };
  }
  if (way === 'text') {
    const result = await generateText({ model, system: `${system}\n\n${asText(schema)}`, prompt, ...common });
    return { value: readJson(result.text), text: result.text, usage: usageOf(result.usage) };
  }
  try {
    const output = Output.object({ schema: wireSchema, name: schemaName });
    const result = await generateText({ model, system, prompt, ...common, output });
    return { value: result.output, text: result.text, usage: usageOf(result.usage) };
  } catch (error) {
    // The provider answered and billed; what it said may still hold the object.
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    return { value: readJson(error.text ?? ''), text: error.text ?? '', usage: usageOf(error.usage) };
  }
}

function asText(schema: JsonObject): string {
  return `Answer with one JSON object and nothing else. It must be valid for this JSON schema:\n${JSON.stringify(schema)}`;
}

/** The first JSON object in a text that may wrap it in a fence or in sentences. */
export function readJson(text: string): unknown {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
}
