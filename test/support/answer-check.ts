import { z } from 'zod';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
type JsonObject = Readonly<Record<string, unknown>>;

/** Compares answers with what the server's own OpenAPI document says of them. */
interface AnswerCheck {
  /** Whether the document has the operation. */
  describes(request: CheckedRequest): boolean;
  /** What is wrong with an answer; null: nothing, or the document does not describe the operation. */
  problem(request: CheckedRequest, answer: CheckedAnswer): string | null;
}

interface CheckedRequest {
  readonly method: string;
  readonly path: string;
}

interface CheckedAnswer {
  readonly status: number;
  readonly contentType: string | null;
  /** Undefined when it is no JSON. */
  readonly json: unknown;
}

interface Described {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { schema: JsonObject }>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Described>>;
}

/** Of the servers asked so far, by their address. Servers of one code describe an operation alike. */
const checks = new Map<string, Promise<AnswerCheck>>();

/** Returns a check whose document has the operation, or else that of the server; making a document takes 200 ms. */
export async function answerCheckOf(baseUrl: string, request: CheckedRequest): Promise<AnswerCheck> {
  for (const known of checks.values()) {
    const check = await known.catch(() => null);
    if (check?.describes(request)) return check;
  }
  const own = checks.get(baseUrl) ?? loadCheck(baseUrl);
  checks.set(baseUrl, own);
  own.catch(() => checks.delete(baseUrl));
  return own;
}

async function loadCheck(baseUrl: string): Promise<AnswerCheck> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  if (!response.ok) throw new Error(`the OpenAPI document answers ${response.status}`);
  return createAnswerCheck((await response.json()) as JsonObject);
}

export function createAnswerCheck(document: JsonObject): AnswerCheck {
  const { paths, components } = document as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: JsonObject; readonly responses: Readonly<Record<string, Described>> };
  };
  const $defs = local(components.schemas) as JsonObject;
  // Fixed paths before those with parameters, as the server matches them.
  const templates = Object.keys(paths)
    .toSorted((one, other) => one.split('{').length - other.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`) }));
  const made = new Map<string, z.ZodType>();

  const schemaOf = (name: string, schema: JsonObject): z.ZodType => {
    const own = local(schema) as JsonObject;
    const known = made.get(name) ?? z.fromJSONSchema({ ...own, $defs: definitionsOf(own, $defs) } as JsonSchema);
    made.set(name, known);
    return known;
  };
  const templateOf = ({ method, path }: CheckedRequest) =>
    templates.find(({ path: one, pattern }) => pattern.test(path) && method.toLowerCase() in (paths[one] ?? {}));
  return {
    describes: (request) => templateOf(request) !== undefined,
    problem(request, { status, contentType, json }) {
      const { method } = request;
      const template = templateOf(request);
      if (template === undefined) return null;
      const name = `${method} ${template.path} ${status}`;
      const listed = paths[template.path]?.[method.toLowerCase()]?.responses[String(status)];
      const described = components.responses[listed?.$ref?.replace('#/components/responses/', '') ?? ''] ?? listed;
      if (described === undefined) return `${name}: the document does not list this status`;
      const type = contentType?.split(';')[0] ?? null;
      const content = described.content ?? {};
      const [expected] = Object.keys(content);
      if (type === null || type === 'text/event-stream') return null;
      const schema = content[type]?.schema;
      if (schema === undefined) return `${name}: ${type} is sent, ${expected ?? 'nothing'} is described`;
      // A text may read like JSON.
      if (json === undefined || !type.endsWith('json')) return null;
      const { error } = schemaOf(name, schema).safeParse(json);
      return error === undefined ? null : `${name} is not as described:\n${z.prettifyError(error)}`;
    },
  };
}

/** Those that a schema refers to, directly or not: `z.fromJSONSchema` copies all that it is given. */
function definitionsOf(schema: unknown, all: JsonObject, found: Record<string, unknown> = {}): JsonObject {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
    if (Object.hasOwn(found, name)) continue;
    found[name] = all[name];
    definitionsOf(all[name], all, found);
  }
  return found;
}

/** References as `z.fromJSONSchema` looks them up. */
function local(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(local);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, value.replace('#/components/schemas/', '#/$defs/')]
        : [key, local(value)],
    ),
  );
}
