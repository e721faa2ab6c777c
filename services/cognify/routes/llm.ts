import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { isEngramError } from '../../common/domain/errors.ts';
import { type JsonObject, parseClientJson } from '../../common/domain/json.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { defineRoute, json, type Route } from '../../common/http/route.ts';
import { NO_PERMISSION } from '../../common/http/route-permission.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import { customPrompt } from '../llm/custom-prompt.ts';
import type { LlmDependencies } from '../llm/dependencies.ts';
import { inferSchema } from '../llm/infer-schema.ts';

const promptBody = z.object({
  graphModel: z.record(z.string(), z.unknown()),
  parameters: z.record(z.string(), z.unknown()).default({}),
});
const inferBody = z.object({ text: z.string().nullish(), parameters: z.string().nullish() });
const common = { method: 'POST', tag: 'llm', auth: 'user', permission: NO_PERMISSION } as const;
const BUDGET = { 402: { description: 'The token budget is used up' } };

/** Help with graph models (cognify-improve.md §5). They read and change no dataset. */
export function llmRoutes(dependencies: LlmDependencies): readonly Route[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/llm/custom-prompt',
      summary: 'An extraction prompt that fits a graph model',
      body: { kind: 'json', schema: promptBody },
      responses: { 200: { description: '`{"customPrompt": "…"}`' }, ...BUDGET },
      handle: ({ principal, body, context }) =>
        orFixedFailure(dependencies, 'LLM custom prompt generation failed.', async () => {
          const graphModel = body.graphModel as JsonObject;
          const maxTokens = positiveInteger(body.parameters['max_tokens']);
          const caller = { principal, context };
          return json({ customPrompt: await customPrompt(dependencies, caller, { graphModel, maxTokens }) });
        }),
    }),
    defineRoute({
      ...common,
      path: '/api/v1/llm/infer-schema',
      summary: 'A graph model for texts like the ones given',
      body: { kind: 'form', schema: inferBody, files: ['data'], required: false },
      responses: { 200: { description: '`{"graphSchema": …}`, usable as `graph_model`' }, ...BUDGET },
      handle: ({ principal, body, files, context, signal }) =>
        orFixedFailure(dependencies, 'LLM schema inference failed.', async () => {
          const { text = null, parameters = null } = body ?? {};
          if (parameters !== null && parameters !== '' && !isJson(parameters)) {
            throw new HttpError(422, { error: 'Invalid JSON in request parameters.' });
          }
          const texts = [text ?? '', ...(await textsOf(dependencies, files, signal))];
          const whole = texts.filter((one) => one.trim() !== '').join('\n\n');
          if (whole === '') {
            throw new HttpError(400, { error: 'Either text or at least one file must be provided.' });
          }
          return json({ graphSchema: await inferSchema(dependencies, { principal, context }, whole) });
        }),
    }),
  ];
}

/** More is no sample any more. */
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

/** Errors of the contract keep their status, the budget's has a text of its own, and the unknown ones tell nothing. */
async function orFixedFailure<Result>(
  { logger }: LlmDependencies,
  text: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'LLMPaymentRequiredError') {
      const detail = 'The configured LLM token budget is exhausted.';
      throw new HttpError(402, { error: 'Token budget exhausted', detail }, { cause: error });
    }
    if (isEngramError(error) || error instanceof HttpError) throw error;
    logger.error('cognify.llm.failed', { reason: text, error });
    throw new HttpError(500, { error: text }, { cause: error });
  }
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}

function isJson(text: string): boolean {
  try {
    parseClientJson(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
