import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { withoutUndefined } from '../../common/kernel/objects.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, lenientNumber } from '../../common/platform/http/schema.ts';
import type { SearchParts } from '../dependencies.ts';
import { type FunctionTool, type ModelResponse, type ResponseRequest, respond } from '../respond.ts';

const MODEL = 'cognee-v1';

const schemaOfArguments = z.record(z.string(), z.unknown()).nullish();
const described = { name: z.string().min(1), description: z.string().nullish(), parameters: schemaOfArguments };
/** As the contract nests it, and as the Responses API of OpenAI has it. */
const tool = z.union([
  z.object({ type: z.literal('function'), function: z.object(described) }),
  z.object({ type: z.literal('function'), ...described }),
]);

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))]);
const message = z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content });
const named = { name: z.string() };

const body = z
  .object({
    model: z.literal(MODEL).default(MODEL).describe('The only one there is'),
    input: z
      .union([z.string(), z.array(message).min(1)])
      .describe('A text, or messages, the last of which is answered'),
    instructions: z.string().nullish(),
    tools: z.array(tool).nullish().describe('Functions; absent: `search` and `cognify`, which this server runs'),
    toolChoice: z
      .union([
        z.string(),
        z.object({ type: z.literal('function'), function: z.object(named) }),
        z.object({ type: z.literal('function'), ...named }),
      ])
      .nullish()
      .describe('`auto`, `none`, `required`, or one function'),
    user: z.string().nullish(),
    temperature: lenientNumber({ min: 0, max: 2 }).nullish(),
    maxCompletionTokens: lenientInteger({ min: 1 }).nullish(),
    maxOutputTokens: lenientInteger({ min: 1 }).nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    stream: lenientBoolean()
      .nullish()
      .refine((stream) => stream !== true, 'stream is not supported: leave it out')
      .describe('Not supported'),
  })
  .meta({ id: 'ResponseRequest', examples: [{ input: 'Who leads the project?' }] });
type Body = z.infer<typeof body>;

const answer = z
  .looseObject({
    id: z.string(),
    created: z.int(),
    model: z.literal(MODEL),
    object: z.literal('response'),
    status: z.literal('completed'),
    toolCalls: z
      .array(
        z.object({
          id: z.string(),
          type: z.literal('function'),
          function: z.object({ name: z.string(), arguments: z.string() }),
          output: z.object({ status: z.enum(['success', 'error']), data: z.object({ result: z.unknown() }) }),
        }),
      )
      .describe('The functions that were called, with what they returned'),
    output: z.array(z.looseObject({ type: z.string() })).describe('The same calls and the answer, as OpenAI has them'),
    usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
    metadata: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'ResponseBody' });

const { routes, post } = routesOf<SearchParts>({ tag: 'responses' });

export const responseRoutes = routes(
  post('/api/v1/responses', 'createResponse', {
    idempotent: true,
    summary: 'Answer with tools that search and remember',
    permission: onDatasets('read', 'on what is searched; write where a text is remembered'),
    body: { kind: 'json', schema: body, carriesDocument: true },
    responses: {
      200: { description: 'The answer, and the tools that were called', schema: answer },
      402: { description: 'LLMPaymentRequiredError' },
    },
    async handle({ principal, context, body: given, signal }, deps) {
      const { input, before } = messagesOf(given);
      const asked: ResponseRequest = {
        principal,
        context: { ...context, signal },
        input,
        before,
        tools: given.tools?.map(toolOf) ?? null,
        choice: choiceOf(given.toolChoice),
        sampling: withoutUndefined({
          temperature: given.temperature ?? undefined,
          maxOutputTokens: given.maxOutputTokens ?? given.maxCompletionTokens ?? undefined,
        }),
      };
      return json(presentResponse(await respond(deps, asked), given, deps.clock.now()));
    },
  }),
);

/** The last message is the input; those before it and the instructions come before. */
function messagesOf({ input, instructions }: Body): Pick<ResponseRequest, 'input' | 'before'> {
  const first = instructions ? [instructions] : [];
  if (typeof input === 'string') return { input, before: first.join('\n\n') };
  const messages = input.map(({ role, content: said }) => ({ role, text: textOf(said) }));
  const last = messages.at(-1)?.text ?? '';
  const earlier = messages.slice(0, -1).map(({ role, text }) => `${role}: ${text}`);
  return { input: last, before: [...first, ...earlier].join('\n\n') };
}

function textOf(said: z.infer<typeof content>): string {
  return typeof said === 'string' ? said : said.flatMap(({ text }) => text ?? []).join('\n');
}

function toolOf(given: z.infer<typeof tool>): FunctionTool {
  const { name, description, parameters } = 'function' in given ? given.function : given;
  return { name, description: description ?? '', parameters: (parameters ?? {}) as FunctionTool['parameters'] };
}

function choiceOf(given: Body['toolChoice']): ResponseRequest['choice'] {
  if (given === null || given === undefined) return 'auto';
  if (typeof given === 'object') return { name: 'function' in given ? given.function.name : given.name };
  return given === 'auto' || given === 'none' || given === 'required' ? given : { name: given };
}

function presentResponse(response: ModelResponse, given: Body, now: Date) {
  const created = Math.floor(now.getTime() / 1000);
  const { inputTokens, outputTokens } = response.usage;
  const total = inputTokens + outputTokens;
  const calls = response.calls.map((call) => ({ ...call, id: `call_${idText()}` }));
  const content = [{ type: 'output_text', text: response.text, annotations: [] }];
  const reply = { type: 'message', id: `msg_${idText()}`, role: 'assistant', status: 'completed', content };
  return {
    id: `resp_${idText()}`,
    created,
    model: MODEL,
    object: 'response',
    status: 'completed',
    toolCalls: calls.map(({ id, name, arguments: text, status, result }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
      output: { status, data: { result } },
    })),
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: total,
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
    },
    metadata: given.metadata ?? null,
    // What clients of the OpenAI API read besides.
    created_at: created,
    output: [
      ...calls.map(({ id, name, arguments: text }) => ({
        type: 'function_call',
        id: id.replace('call_', 'fc_'),
        call_id: id,
        name,
        arguments: text,
        status: 'completed',
      })),
      reply,
    ],
    tools: response.tools.map((one) => ({ type: 'function', ...one, strict: false })),
    tool_choice: given.toolChoice ?? 'auto',
    instructions: given.instructions ?? null,
    temperature: given.temperature ?? 1,
    top_p: 1,
    parallel_tool_calls: false,
    error: null,
    incomplete_details: null,
  };
}

function idText(): string {
  return randomUUID().replaceAll('-', '');
}
