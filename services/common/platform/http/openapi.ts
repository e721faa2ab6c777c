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
  const schemas = createComponentSchemas();
  const paths: Record<string, JsonObject> = {};
  for (const route of visible) {
    const path = wirePath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
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
      schemas: { ...schemas.all(), ...VALIDATION_SCHEMAS },
      securitySchemes: {
        BearerAuth: { type: 'http', scheme: 'bearer' },
        ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
    ...(options.authRequired ? { security: SECURITY } : {}),
    tags: tags.map((name) => ({ name })),
  };
}

/** One document with the operations, schemas and tags of all; everything else is that of the first. */
export function mergeOpenApi(first: OpenApiDocument, others: readonly OpenApiDocument[]): OpenApiDocument {
  const paths: Record<string, JsonObject> = {};
  const schemas: JsonObject = {};
  const tags = new Set<string>();
  for (const document of [first, ...others]) {
    Object.assign(schemas, componentsOf(document)['schemas']);
    for (const [path, operations] of Object.entries((document['paths'] ?? {}) as Record<string, JsonObject>)) {
      paths[path] = { ...operations, ...paths[path] };
    }
    for (const { name } of (document['tags'] ?? []) as readonly { readonly name: string }[]) tags.add(name);
  }
  const components = { ...componentsOf(first), schemas };
  return { ...first, paths, components, tags: [...tags].sort().map((name) => ({ name })) };
}

function componentsOf(document: OpenApiDocument): JsonObject {
  return (document['components'] ?? {}) as JsonObject;
}

/** Schemas with a name (`.meta({ id })`), which operations refer to. */
interface ComponentSchemas {
  /** The schema as JSON; what it has of named schemas is kept here. */
  use(schema: z.ZodType, io: Io): JsonObject;
  /** A schema that is made already, kept when it has a name. */
  keep(name: string | undefined, made: JsonObject): JsonObject;
  all(): Readonly<Record<string, unknown>>;
}

type Io = 'input' | 'output';

function createComponentSchemas(): ComponentSchemas {
  const kept = new Map<string, { readonly json: string; readonly schema: JsonObject }>();
  return {
    use(schema, io) {
      // Wrapped, so that a named schema is referred to at the root too.
      const { properties, $defs = {} } = toJsonSchema(z.object({ it: schema }), io);
      const definitions = Object.entries($defs as JsonObject);
      // One that reads otherwise in requests than in answers has two names.
      const names = new Map(
        definitions.map(([name, made]) => {
          const other = kept.get(name);
          const isSame = other === undefined || other.json === JSON.stringify(made);
          return [name, isSame ? name : `${name}${io === 'input' ? 'Input' : 'Output'}`];
        }),
      );
      for (const [name, made] of definitions) {
        const json = JSON.stringify(made);
        kept.set(names.get(name) ?? name, { json, schema: withReferences(made, names) as JsonObject });
      }
      return withReferences((properties as JsonObject)['it'], names) as JsonObject;
    },
    keep(name, made) {
      if (name === undefined) return made;
      kept.set(name, { json: JSON.stringify(made), schema: made });
      return { $ref: `#/components/schemas/${name}` };
    },
    all: () => Object.fromEntries([...kept].map(([name, { schema }]) => [name, { title: name, ...schema }])),
  };
}

const DEFINITION = '#/$defs/';

function withReferences(made: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(made)) return made.map((one) => withReferences(one, names));
  if (typeof made !== 'object' || made === null) return made;
  return Object.fromEntries(
    Object.entries(made).map(([key, value]) => {
      if (key !== '$ref' || typeof value !== 'string') return [key, withReferences(value, names)];
      const name = value.slice(DEFINITION.length);
      return [key, `#/components/schemas/${names.get(name) ?? name}`];
    }),
  );
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

function operationOf(route: Route, schemas: ComponentSchemas): JsonObject {
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  return {
    tags: [route.tag],
    summary: route.summary,
    description: `Permission: ${route.permission.text}.`,
    operationId: `${route.method}_${wirePath(route.path)}`.toLowerCase().replaceAll(/\W+/g, '_').replace(/_$/, ''),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, schemas, route.mediaType) }),
    responses: responsesOf(route, schemas),
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

function requestBody(
  body: NonNullable<Route['body']>,
  schemas: ComponentSchemas,
  mediaType = 'application/json',
): JsonObject {
  const { kind, files = [], required = true } = body;
  const content: JsonObject = {};
  if (files.length > 0)
    content['multipart/form-data'] = { schema: schemas.keep(body.schema.meta()?.id, formSchema(body, files)) };
  else {
    const schema = schemas.use(body.schema, 'input');
    if (kind !== 'json') content['application/x-www-form-urlencoded'] = { schema };
    if (kind !== 'form') content[mediaType] = { schema };
  }
  // Generated clients take JSON wherever it is listed, and could not send files then.
  const isJsonToo = files.length > 0 && kind === 'any';
  return { content, required, ...(isJsonToo ? { description: 'Without files, application/json is taken too.' } : {}) };
}

/** Names of fields in forms (ingest.md §0.3). */
const CAMEL_CASE_FIELDS: ReadonlySet<string> = new Set(['datasetName', 'datasetId']);

function formSchema({ schema }: NonNullable<Route['body']>, files: readonly string[]): JsonObject {
  const upload = {
    type: 'array',
    items: { type: 'string', contentMediaType: 'application/octet-stream', format: 'binary' },
  };
  const { $defs = {}, ...whole } = toJsonSchema(schema, 'input');
  const name = schema.meta()?.id;
  // A named schema stands among the definitions, and the whole only refers to it.
  const own = name === undefined ? whole : ($defs as JsonObject)[name];
  const { $schema: _, properties = {}, ...made } = own as JsonObject;
  const fields = Object.entries(properties as JsonObject).map(([name, field]) => [
    CAMEL_CASE_FIELDS.has(name) ? name : snakeCase(name),
    field,
  ]);
  const uploads = files.map((name) => [name, upload]);
  return { ...made, type: 'object', properties: Object.fromEntries([...fields, ...uploads]) };
}

function responsesOf(route: Route, schemas: ComponentSchemas): JsonObject {
  const responses: JsonObject = {};
  for (const [status, { description, schema, mediaType }] of Object.entries(route.responses)) {
    const type = mediaType ?? route.mediaType ?? 'application/json';
    responses[status] = {
      description,
      ...(schema === undefined ? {} : { content: { [type]: { schema: schemas.use(schema, 'output') } } }),
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
  const made = schema === undefined ? {} : toJsonSchema(schema, 'input');
  return {
    properties: (made['properties'] as JsonObject | undefined) ?? {},
    required: (made['required'] as readonly string[] | undefined) ?? [],
  };
}

function toJsonSchema(schema: z.ZodType, io: Io): JsonObject {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    reused: 'inline',
    cycles: 'ref',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema._zod.def, jsonSchema),
  }) as JsonObject;
}

/** Zod forgets a default around a preprocessed value, and prints the bounds of every safe integer. */
function tidy(def: z.core.$ZodTypeDef, made: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'default') {
    const { defaultValue } = def as z.core.$ZodDefaultDef;
    if (defaultValue !== undefined) made.default = defaultValue as NonNullable<typeof made.default>;
  }
  delete made.id;
  if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
  if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
}
