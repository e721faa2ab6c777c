import { z } from 'zod';
import type { Route } from './route.ts';
import { snakeCase } from './wire-keys.ts';

export interface OpenApiOptions {
  readonly title: string;
  readonly authRequired: boolean;
  readonly cookieName: string;
}

type JsonObject = Record<string, unknown>;
export type OpenApiDocument = Readonly<JsonObject>;

/** OpenAPI 3.1.0 of the route table; hidden routes are left out (auth-integrations.md §1.1). */
export function openApiDocument(routes: readonly Route[], options: OpenApiOptions): OpenApiDocument {
  const visible = routes.filter((route) => route.hidden !== true);
  const paths: Record<string, JsonObject> = {};
  for (const route of visible) {
    const path = wirePath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const tags = [...new Set(visible.map(({ tag }) => tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      description: 'A knowledge memory: add data, build a graph, ask, improve, forget.',
      version: '1.0.0',
    },
    paths,
    components: {
      schemas: VALIDATION_SCHEMAS,
      securitySchemes: {
        BearerAuth: { type: 'http', scheme: 'bearer' },
        ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
    ...(options.authRequired ? { security: SECURITY } : {}),
    tags: tags.map((name) => ({ name })),
  };
}

/** One document with the operations and tags of all; everything else is that of the first. */
export function mergeOpenApi(first: OpenApiDocument, others: readonly OpenApiDocument[]): OpenApiDocument {
  const paths: Record<string, JsonObject> = {};
  const tags = new Set<string>();
  for (const document of [first, ...others]) {
    for (const [path, operations] of Object.entries((document['paths'] ?? {}) as Record<string, JsonObject>)) {
      paths[path] = { ...operations, ...paths[path] };
    }
    for (const { name } of (document['tags'] ?? []) as readonly { readonly name: string }[]) tags.add(name);
  }
  return { ...first, paths, tags: [...tags].sort().map((name) => ({ name })) };
}

const SECURITY = [{ BearerAuth: [] }, { ApiKeyAuth: [] }];

const VALIDATION_SCHEMAS = {
  ValidationError: {
    type: 'object',
    title: 'ValidationError',
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      msg: { type: 'string' },
      type: { type: 'string' },
      input: {},
      ctx: { type: 'object' },
    },
  },
  HTTPValidationError: {
    type: 'object',
    title: 'HTTPValidationError',
    properties: { detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } }, body: {} },
  },
};

/** `/datasets/:datasetId` → `/datasets/{dataset_id}` */
function wirePath(path: string): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => `{${snakeCase(name)}}`);
}

function operationOf(route: Route): JsonObject {
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  return {
    tags: [route.tag],
    summary: route.summary,
    description: `Permission: ${route.permission.text}.`,
    operationId: `${route.method}_${wirePath(route.path)}`.toLowerCase().replaceAll(/\W+/g, '_').replace(/_$/, ''),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, route.mediaType) }),
    responses: responsesOf(route),
    security: route.auth === 'none' ? [] : SECURITY,
  };
}

function pathParameters(route: Route): JsonObject[] {
  const { properties } = objectSchema(route.params);
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name: snakeCase(name),
    in: 'path',
    required: true,
    schema: properties[name] ?? properties[snakeCase(name)] ?? { type: 'string' },
  }));
}

function queryParameters(route: Route): JsonObject[] {
  const { properties, required } = objectSchema(route.query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function requestBody(body: NonNullable<Route['body']>, mediaType = 'application/json'): JsonObject {
  const schema = schemaOf(body.schema, 'input');
  const isFormPossible = body.kind !== 'json';
  const content: JsonObject = {};
  if (isFormPossible) {
    const files = body.files ?? [];
    if (files.length > 0 || body.kind === 'any') content['multipart/form-data'] = { schema: withFiles(schema, files) };
    if (files.length === 0) content['application/x-www-form-urlencoded'] = { schema };
  }
  if (body.kind !== 'form') content[mediaType] = { schema };
  return { content, required: body.required ?? true };
}

function withFiles(schema: JsonObject, files: readonly string[]): JsonObject {
  const upload = {
    type: 'array',
    items: { type: 'string', contentMediaType: 'application/octet-stream', format: 'binary' },
  };
  const fields = Object.fromEntries(files.map((name) => [name, upload]));
  return { ...schema, type: 'object', properties: { ...(schema['properties'] as JsonObject | undefined), ...fields } };
}

function responsesOf(route: Route): JsonObject {
  const responses: JsonObject = {};
  const mediaType = route.mediaType ?? 'application/json';
  for (const [status, { description, schema }] of Object.entries(route.responses)) {
    responses[status] = {
      description,
      ...(schema === undefined ? {} : { content: { [mediaType]: { schema: schemaOf(schema, 'output') } } }),
    };
  }
  const takesInput = route.params !== undefined || route.query !== undefined || route.body !== undefined;
  if (takesInput && responses['422'] === undefined) {
    // Clients are generated from this entry; on the wire the status is 400 (auth-integrations.md §1.1).
    responses['422'] = {
      description: 'Validation Error (sent with status 400)',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } },
    };
  }
  return responses;
}

function objectSchema(schema: z.ZodType | undefined): { properties: JsonObject; required: readonly string[] } {
  const made = schema === undefined ? {} : schemaOf(schema, 'input');
  return {
    properties: (made['properties'] as JsonObject | undefined) ?? {},
    required: (made['required'] as readonly string[] | undefined) ?? [],
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    reused: 'inline',
    cycles: 'ref',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema._zod.def, jsonSchema),
  }) as JsonObject;
  return made;
}

/** Zod forgets a default around a preprocessed value, and prints the bounds of every safe integer. */
function tidy(def: z.core.$ZodTypeDef, made: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'default') {
    const { defaultValue } = def as z.core.$ZodDefaultDef;
    if (defaultValue !== undefined) made.default = defaultValue as NonNullable<typeof made.default>;
  }
  if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
  if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
}
