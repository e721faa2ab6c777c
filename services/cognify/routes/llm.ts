import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { isEngramError } from '../../common/kernel/errors.ts';
import { type JsonObject, parseClientJson } from '../../common/kernel/json.ts';
import { isRecord, withoutUndefined } from '../../common/kernel/objects.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { orFixedFailure } from '../../common/platform/http/fixed-failure.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { warningHeader } from '../../common/platform/http/warning-header.ts';
import type { Sampling } from '../../common/ports/models.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { customPrompt } from '../llm/custom-prompt.ts';
import { inferSchema } from '../llm/infer-schema.ts';
import type { LlmDependencies } from '../llm/model-call.ts';

const promptBody = z
  .object({
    graphModel: z.record(z.string(), z.unknown()),
    parameters: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: 'CustomPromptGenerationPayloadDTO' });
const inferBody = z
  .object({ text: z.string().nullish(), parameters: z.string().nullish() })
  .meta({ id: 'Body_infer_schema_api_v1_llm_infer_schema_post' });
const promptAnswer = z.object({ customPrompt: z.string() }).meta({ id: 'CustomPromptGenerationResponseDTO' });
const inferAnswer = z.object({ graphSchema: z.record(z.string(), z.unknown()) }).meta({ id: 'InferSchemaResponseDTO' });
const BUDGET = { 402: { description: 'The token budget is used up' } };

const { routes, post } = routesOf<LlmDependencies>({ tag: 'llm', permission: NO_PERMISSION });

/** Routes that help to write graph models (cognify-improve.md §5). They use no dataset. */
export const llmRoutes = routes(
  post('/api/v1/llm/custom-prompt', 'generateCustomPrompt', {
    idempotent: true,
    summary: 'An extraction prompt that fits a graph model',
    body: { kind: 'json', schema: promptBody },
    responses: { 200: { description: 'The prompt', schema: promptAnswer }, ...BUDGET },
    handle: ({ principal, body, context }, dependencies) =>
      withFixedFailure(dependencies, 'LLM custom prompt generation failed.', async () => {
        const parameters = await parametersOf(dependencies, principal, body.parameters as JsonObject);
        if (parameters === null) throw new HttpError(400, { error: 'Invalid custom prompt request.' });
        const caller = { principal, context, sampling: parameters.sampling };
        const prompt = await customPrompt(dependencies, caller, body.graphModel as JsonObject);
        return { ...json({ customPrompt: prompt }), ...warningHeader(parameters.warning) };
      }),
  }),
  post('/api/v1/llm/infer-schema', 'inferSchema', {
    summary: 'A graph model for texts like the ones given',
    body: { kind: 'form', schema: inferBody, files: ['data'], required: false },
    responses: { 200: { description: 'Usable as `graph_model`', schema: inferAnswer }, ...BUDGET },
    handle: ({ principal, body, files, context, signal }, dependencies) =>
      withFixedFailure(dependencies, 'LLM schema inference failed.', async () => {
        const { text = null, parameters: given = null } = body ?? {};
        const parsed = parsedObject(given || '{}');
        const parameters = parsed === null ? null : await parametersOf(dependencies, principal, parsed);
        if (parameters === null) throw new HttpError(422, { error: 'Invalid JSON in request parameters.' });
        const texts = [text ?? '', ...(await textsOf(dependencies, files, signal))];
        const whole = texts.filter((one) => one.trim() !== '').join('\n\n');
        if (whole === '') {
          throw new HttpError(400, { error: 'Either text or at least one file must be provided.' });
        }
        const caller = { principal, context, sampling: parameters.sampling };
        const graphSchema = await inferSchema(dependencies, caller, whole);
        return { ...json({ graphSchema }), ...warningHeader(parameters.warning) };
      }),
  }),
);

/** Limit of one uploaded sample. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;

async function textsOf(
  { documents }: LlmDependencies,
  files: readonly UploadedFile[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const file of files) {
    const { fileName, mimeType, sizeBytes } = file;
    if (sizeBytes > MAX_FILE_BYTES) {
      throw new HttpError(400, { error: `'${fileName}' is larger than ${MAX_FILE_BYTES} bytes; send a part of it.` });
    }
    const content = await buffer(file.open());
    try {
      const read = await documents.load({ fileName, declaredMimeType: mimeType, sizeBytes, content }, signal);
      texts.push(read.text);
    } catch (error) {
      if (!isEngramError(error) || error.wireName !== 'UnsupportedFileTypeError') throw error;
      throw new HttpError(400, { error: error.message }, { cause: error });
    }
  }
  return texts;
}

/** Runs the work; a used-up token budget and unknown errors become fixed texts, other errors keep their status. */
function withFixedFailure<Result>(
  { logger }: LlmDependencies,
  text: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return orFixedFailure(logger, { event: 'cognify.llm.failed', text, status: 500 }, () =>
    work().catch((error: unknown) => {
      if (!isEngramError(error) || error.wireName !== 'LLMPaymentRequiredError') throw error;
      const detail = 'The configured LLM token budget is exhausted.';
      throw new HttpError(402, { error: 'Token budget exhausted', detail }, { cause: error });
    }),
  );
}

const samplingSchema = z.object({
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  seed: z.int().optional(),
  max_tokens: z.int().positive().optional(),
});
const PARAMETERS = Object.keys(samplingSchema.shape);

interface ModelParameters {
  readonly sampling: Sampling;
  /** Names the parameters without effect; null when there are none. */
  readonly warning: string | null;
}

/** Reads `parameters` of a request; null when a value is invalid. */
async function parametersOf(
  { models }: LlmDependencies,
  principal: Principal,
  given: JsonObject,
): Promise<ModelParameters | null> {
  const { languageModel } = await models.current(principal.tenant);
  const read = samplingSchema.safeParse(given);
  if (!read.success) return null;
  const { temperature, top_p: topP, seed, max_tokens: maxOutputTokens } = read.data;
  const sampling = withoutUndefined({ temperature, topP, seed, maxOutputTokens });
  return { sampling, warning: warningOf(Object.keys(given), languageModel !== null) };
}

function warningOf(names: readonly string[], hasModel: boolean): string | null {
  if (names.length === 0) return null;
  if (!hasModel) return 'parameters have no effect: no language model is configured.';
  const unknown = names.filter((name) => !PARAMETERS.includes(name)).map((name) => name.slice(0, 40));
  if (unknown.length === 0) return null;
  return `These parameters have no effect: ${unknown.slice(0, 10).join(', ')}. Known are ${PARAMETERS.join(', ')}.`;
}

/** Parses a JSON object; null when the text is no JSON or no object. */
function parsedObject(text: string): JsonObject | null {
  try {
    const parsed = parseClientJson(text);
    return isRecord(parsed) ? (parsed as JsonObject) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
