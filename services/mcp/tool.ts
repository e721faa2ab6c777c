import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { ApiError } from '../client/errors.ts';
import type { EngramApi } from './api.ts';

export interface ToolCall {
  readonly api: EngramApi;
  /** Aborted when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Notifies the client, where it asked for that. */
  progress(report: ProgressReport): Promise<void>;
}

interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** The answer of a tool: for programs and models as `data`, for people and older clients as `text`. */
interface ToolAnswer<Data> {
  readonly text: string;
  readonly data: Data;
}

/** A tool with its types forgotten, as the server lists and calls it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: object;
  readonly outputSchema: object;
  /** Never throws, except when the call was cancelled. */
  call(input: unknown, call: ToolCall): Promise<CallToolResult>;
}

interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** Written for the agent that chooses among tools: when to use it, what it needs, what comes back. */
  readonly description: string;
  /** `read`: changes nothing. `write`: adds. `delete`: what it removes is lost. */
  readonly effect: 'read' | 'write' | 'delete';
  /** Repeating a call changes nothing more. Default: true for `read` and `delete`. */
  readonly idempotent?: boolean;
  readonly input: Input;
  readonly output: Output;
  run(input: z.output<Input>, call: ToolCall): Promise<ToolAnswer<z.input<Output>>>;
}

export function defineTool<Input extends z.ZodType, Output extends z.ZodType>(
  tool: ToolDefinition<Input, Output>,
): Tool {
  const { name, title, description, effect } = tool;
  return {
    name,
    title,
    description,
    annotations: {
      title,
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'delete',
      idempotentHint: tool.idempotent ?? effect !== 'write',
      openWorldHint: false,
    },
    inputSchema: jsonSchema(tool.input, 'input'),
    outputSchema: jsonSchema(tool.output, 'output'),
    async call(given, call) {
      const input = tool.input.safeParse(given ?? {});
      if (!input.success) return failure(`Invalid arguments for ${name}:\n${z.prettifyError(input.error)}`);
      try {
        const { text, data } = await tool.run(input.data, call);
        return {
          content: [{ type: 'text', text }],
          structuredContent: tool.output.parse(data) as Record<string, unknown>,
        };
      } catch (error) {
        if (call.signal.aborted) throw error;
        return failure(explained(error));
      }
    },
  };
}

/** Error whose message tells the agent what is wrong and what to do. */
export class ToolError extends Error {}

/** JSON Schema draft 7: the dialect that clients of every age validate. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  return z.toJSONSchema(schema, { io, target: 'draft-7' });
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function explained(error: unknown): string {
  if (error instanceof ToolError) return error.message;
  if (error instanceof ApiError) return `${error.detail.replace(/[^.!?\]]$/u, '$&.')}${remedyOf(error)}`;
  const { message, cause } = error as { readonly message?: unknown; readonly cause?: { readonly code?: unknown } };
  const code = typeof cause?.code === 'string' ? ` (${cause.code})` : '';
  return `The Engram server could not be asked: ${String(message)}${code}. Check that it runs and that its address is right.`;
}

function remedyOf({ status, retryAfterMs }: ApiError): string {
  const wait = retryAfterMs === null ? 'a moment' : `${retryAfterMs / 1000} seconds`;
  if (status === 401)
    return ' Set a valid API key in the configuration of this MCP server (X-Api-Key), or sign in again.';
  if (status === 402) return ' The budget of the language model is used up: tell the user.';
  if (status === 403) return ' The owner of the dataset can grant the permission; list_data shows what you may read.';
  if (status === 404) return ' list_data shows the datasets and items that there are.';
  if (status === 413) return ' Send the text in several smaller parts.';
  if (status === 429 || status === 503) return ` Try again in ${wait}.`;
  return status >= 500 ? ' The server failed; its log says why.' : '';
}
