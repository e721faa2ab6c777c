import {
  type LanguageModel as AiLanguageModel,
  type FinishReason,
  generateText,
  type JSONSchema7,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  type ToolSet,
  tool,
} from 'ai';
import { z } from 'zod';
import { engramError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { parseJson } from '../../kernel/json.ts';
import { recentlyUsed } from '../../kernel/recently-used.ts';
import type { LanguageModel, ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { addUsage, type CallParts, type CallSettings, signalOf, usageOf } from './call-settings.ts';
import { filteredAnswer, refusesSchema } from './provider-error.ts';
import { retryFor, withRetry } from './retry.ts';
import { admitted } from './usage-meter.ts';

type StructuredCall = Parameters<LanguageModel['structured']>[0];

/** Ways to ask a model for an object, best first. */
const WAYS = ['json-schema', 'tool', 'text'] as const;
type Way = (typeof WAYS)[number];

/** One first answer and at most two repairs, each with the error of the one before. */
const MAX_ANSWERS = 3;
/** Schemas of callers' graph models are many; the least recently used is prepared again. */
const MAX_PREPARED = 200;

interface Attempt {
  /** Undefined when the answer held no JSON at all. */
  readonly value: unknown;
  readonly text: string;
  readonly usage: TokenUsage;
  readonly finish: FinishReason;
}

/** A schema with the way in which the server takes it: one it refuses is asked for the next way from then on. */
interface Asked extends PreparedSchema {
  way: Way;
}

export function createStructuredCalls(parts: CallParts): LanguageModel['structured'] {
  const { name, retry, meter } = parts;
  const prepared = createSchemaMemory();

  const ask = async (call: StructuredCall, asked: Asked, context: ModelCallContext): Promise<Attempt> => {
    for (;;) {
      const { way } = asked;
      try {
        const once = async () => askOnce(await parts.model(), { ...call, way, asked }, parts.common(context));
        return await withRetry(once, retryFor(context, retry), {
          ...signalOf(context),
          isFinal: (error) => way !== 'text' && refusesSchema(error),
        });
      } catch (error) {
        const next = WAYS[WAYS.indexOf(way) + 1];
        if (next === undefined || !refusesSchema(error)) throw error;
        // Of two calls at the same time the first one's finding stands.
        if (asked.way === way) asked.way = next;
      }
    }
  };

  return async (call, context) => {
    const asked = prepared(call.schema);
    let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };
    let { prompt } = call;
    let problems: readonly string[] = [];
    for (let answer = 1; answer <= MAX_ANSWERS; answer += 1) {
      const { maxOutputTokens } = context.sampling ?? {};
      const bound = maxOutputTokens === undefined ? {} : { maxOutputTokens };
      const admission = await meter.admit({ prompts: [call.system, prompt], ...bound }, context);
      const attempt = await admitted(admission, () => ask({ ...call, prompt }, asked, context));
      usage = addUsage(usage, attempt.usage);
      await admission.record(name, attempt.usage);
      // Models now and then refuse harmless texts once.
      if (attempt.finish === 'content-filter' && answer > 1) throw filteredAnswer();
      problems = attempt.value === undefined ? ['the answer is not JSON'] : asked.problems(attempt.value);
      if (problems.length === 0) return { value: attempt.value, usage };
      prompt = `${call.prompt}\n\nYour previous answer was not usable:\n${problems.slice(0, 10).join('\n')}\nPrevious answer:\n${attempt.text.slice(0, 4000)}\nAnswer again, correctly.`;
    }
    throw engramError(
      'CogneeSystemError',
      `the model gave no usable ${call.schemaName} in ${MAX_ANSWERS} answers: ${problems[0] ?? 'no answer'}`,
    );
  };
}

function createSchemaMemory(): (schema: JsonObject) => Asked {
  const memory = new Map<string, Asked>();
  return (schema) =>
    recentlyUsed(memory, MAX_PREPARED, JSON.stringify(schema), () => ({
      ...prepareSchema(schema),
      way: 'json-schema',
    }));
}

interface OneCall extends StructuredCall {
  readonly way: Way;
  readonly asked: PreparedSchema;
}

function askOnce(model: AiLanguageModel, call: OneCall, common: CallSettings): Promise<Attempt> {
  switch (call.way) {
    case 'json-schema':
      return askBySchema(model, call, common);
    case 'tool':
      return askByTool(model, call, common);
    case 'text':
      return askByText(model, call, common);
  }
}

async function askBySchema(
  model: AiLanguageModel,
  { system, prompt, schemaName, asked }: OneCall,
  common: CallSettings,
): Promise<Attempt> {
  const strictness = { strictJsonSchema: asked.isStrict };
  const providerOptions = { openai: strictness, openaiCompatible: strictness };
  const output = Output.object({ schema: asked.wire, name: schemaName });
  try {
    const result = await generateText({ model, system, prompt, ...common, output, providerOptions });
    const { text, finishReason: finish } = result;
    // A truncated or filtered answer has no output, and its getter throws.
    return { value: finish === 'stop' ? result.output : readJson(text), text, usage: usageOf(result.usage), finish };
  } catch (error) {
    // The provider answered and billed; what it said may still hold the object.
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    const { text = '', finishReason: finish = 'other' } = error;
    return { value: readJson(text), text, usage: usageOf(error.usage), finish };
  }
}

async function askByTool(
  model: AiLanguageModel,
  { system, prompt, schemaName, asked }: OneCall,
  common: CallSettings,
): Promise<Attempt> {
  const tools: ToolSet = { [schemaName]: tool({ description: `Gives the ${schemaName}.`, inputSchema: asked.wire }) };
  const toolChoice = { type: 'tool', toolName: schemaName } as const;
  const result = await generateText({ model, system, prompt, ...common, tools, toolChoice });
  const input = result.toolCalls[0]?.input;
  return {
    value: typeof input === 'string' ? readJson(input) : (input ?? readJson(result.text)),
    text: JSON.stringify(input) ?? result.text,
    usage: usageOf(result.usage),
    finish: result.finishReason,
  };
}

async function askByText(
  model: AiLanguageModel,
  { system, prompt, schema }: OneCall,
  common: CallSettings,
): Promise<Attempt> {
  const instruction = `Answer with one JSON object and nothing else. It must be valid for this JSON schema:\n${JSON.stringify(schema)}`;
  const result = await generateText({ model, system: `${system}\n\n${instruction}`, prompt, ...common });
  const { text, usage, finishReason: finish } = result;
  return { value: readJson(text), text, usage: usageOf(usage), finish };
}

/** The first JSON object in a text that may wrap it in a fence or in sentences. */
function readJson(text: string): unknown {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  return start < 0 || end < start ? undefined : parseJson(text.slice(start, end + 1));
}

/** A JSON schema made ready to be asked for, and to check answers with. */
type PreparedSchema = ReturnType<typeof prepareSchema>;

/** Throws `CogneeValidationError` for a schema that no value can be checked with. */
function prepareSchema(schema: JsonObject) {
  const check = compile(schema);
  return {
    wire: jsonSchema(schema as JSONSchema7),
    /** Fit for the strict mode of OpenAI: everything required, nothing else allowed, no alternatives of objects. */
    isStrict: isStrict(schema),
    /** Errors of a value, one line each; empty when it fits. */
    problems(value: unknown): readonly string[] {
      const result = check.safeParse(value);
      if (result.success) return [];
      // A key too many does no harm, and another call to be rid of it costs as much as the first.
      return result.error.issues
        .filter(({ code }) => code !== 'unrecognized_keys')
        .map((issue) => `${issue.path.join('.') || 'the answer'}: ${issue.message}`);
    },
  };
}

function compile(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw engramError('CogneeValidationError', `The JSON schema cannot be used: ${reason}`, { cause: error });
  }
}

const REFUSED_IN_STRICT = ['oneOf', 'allOf', 'not', 'if', 'patternProperties', 'dependentSchemas', 'prefixItems'];

function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const record = schema as JsonObject;
  if (REFUSED_IN_STRICT.some((key) => key in record)) return false;
  const { properties, required } = record;
  if (record['type'] === 'object' || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as JsonObject);
    const needed = Array.isArray(required) ? required : [];
    if (record['additionalProperties'] !== false || names.some((name) => !needed.includes(name))) return false;
  }
  return Object.entries(record).every(([key, value]) =>
    key === 'properties' || key === '$defs' || key === 'definitions'
      ? Object.values(value as JsonObject).every(isStrict)
      : !['items', 'anyOf'].includes(key) || isStrict(value),
  );
}
