import { z } from 'zod';
import { errorsOf, SHARED_ERRORS } from './openapi-errors.ts';
import { createExamples } from './openapi-examples.ts';
import { takesIdempotencyKey } from './repeated-requests.ts';
import type { AnswerDescription, Route } from './route.ts';
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
  const responses = Object.fromEntries(
    Object.entries(SHARED_ERRORS).map(([name, error]) => [name, responseOf(error, schemas)]),
  );
  addExamples({ ...paths, shared: { errors: { responses } } }, schemas.all());
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      description: DESCRIPTION,
      version: '1.0.0',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: schemas.all(),
      responses,
      securitySchemes: {
        BearerAuth: { type: 'http', scheme: 'bearer', description: 'The token of POST /api/v1/auth/login' },
        ApiKeyAuth: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'A key of POST /api/v1/auth/api-keys',
        },
      },
    },
    ...(options.authRequired ? { security: SECURITY } : {}),
    tags: describeTags(visible.map(({ tag }) => tag)),
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
  return { ...first, paths, components, tags: describeTags(tags) };
}

function componentsOf(document: OpenApiDocument): JsonObject {
  return (document['components'] ?? {}) as JsonObject;
}

/** Schemas with a name (`.meta({ id })`), which operations refer to. */
type ComponentSchemas = ReturnType<typeof createComponentSchemas>;

type Io = 'input' | 'output';

function createComponentSchemas() {
  const kept = new Map<string, { readonly json: string; readonly schema: JsonObject }>();
  const used = { input: new Map<z.ZodType, JsonObject>(), output: new Map<z.ZodType, JsonObject>() };
  return {
    /** The schema as JSON; what it has of named schemas is kept here. */
    use(schema: z.ZodType, io: Io) {
      const known = used[io].get(schema);
      if (known !== undefined) return known;
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
      const own = withReferences((properties as JsonObject)['it'], names) as JsonObject;
      used[io].set(schema, own);
      return own;
    },
    /** A schema that is made already, kept when it has a name. */
    keep(name: string | undefined, made: JsonObject) {
      if (name === undefined) return made;
      kept.set(name, { json: JSON.stringify(made), schema: made });
      return { $ref: `#/components/schemas/${name}` };
    },
    all: (): Readonly<Record<string, unknown>> =>
      Object.fromEntries([...kept].map(([name, { schema }]) => [name, { title: name, ...schema }])),
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

const DESCRIPTION = `A knowledge memory: add data, build a graph, ask, improve, forget.

Errors have the body \`{"detail": "…"}\`, on some routes \`{"error": "…"}\`; invalid requests list every fault (status 400).
Answers 429 and 503 say in \`Retry-After\` when to try again. Every answer has an \`X-Request-Id\`.`;

/** `/datasets/:datasetId` → `/datasets/{dataset_id}` */
function wirePath(path: string): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => `{${snakeCase(name)}}`);
}

function operationOf(route: Route, schemas: ComponentSchemas): JsonObject {
  const headers = takesIdempotencyKey(route) ? [KEY_PARAMETER] : [];
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headers];
  return {
    tags: [route.tag],
    summary: route.summary,
    description: `Permission: ${route.permission.text}.`,
    operationId: route.operationId ?? `${route.method}_${wirePath(route.path)}`.toLowerCase().replaceAll(/\W+/g, '_'),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(isIdempotent(route) ? { 'x-idempotent': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, schemas, route.mediaType) }),
    responses: responsesOf(route, schemas),
    security: route.auth === 'none' ? [] : SECURITY,
  };
}

const KEY_PARAMETER: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Of your choice, such as a UUID: a repetition within 24 hours gets the first answer, with `Idempotency-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function isIdempotent({ method, idempotent }: Route): boolean {
  return idempotent ?? ['GET', 'PUT', 'DELETE'].includes(method);
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

function requestBody(body: NonNullable<Route['body']>, schemas: ComponentSchemas, mediaType = 'application/json') {
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
  const { mediaType } = route;
  const given = Object.entries(route.responses).map(([status, answer]) => [
    status,
    responseOf({ ...answer, mediaType: answer.mediaType ?? mediaType }, schemas),
  ]);
  const errors = Object.entries(errorsOf(route)).map(([status, error]) => [
    status,
    typeof error === 'string'
      ? { $ref: `#/components/responses/${error}` }
      : responseOf({ ...error, mediaType: route.errorSchema === undefined ? undefined : mediaType }, schemas),
  ]);
  return { ...Object.fromEntries(given), ...Object.fromEntries(errors) };
}

interface DescribedAnswer extends Omit<AnswerDescription, 'mediaType'> {
  readonly mediaType?: string | undefined;
  readonly example?: unknown;
}

function responseOf(answer: DescribedAnswer, schemas: ComponentSchemas): JsonObject {
  const { description, schema, mediaType = 'application/json', events, example } = answer;
  if (schema === undefined) return { description };
  const stream = { 'text/event-stream': { schema: { type: 'string', description: events } } };
  const main = { schema: schemas.use(schema, 'output'), ...(example === undefined ? {} : { example }) };
  return { description, content: { [mediaType]: main, ...(events === undefined ? {} : stream) } };
}

interface ExampleHolder {
  readonly schema: JsonObject;
  example?: unknown;
}
type Content = Readonly<Record<string, ExampleHolder>>;

/** Adds an example to each body of a request and each answer that is JSON, a form or a text, unless it has one. */
function addExamples(paths: Readonly<Record<string, JsonObject>>, schemas: JsonObject): void {
  const make = createExamples(schemas);
  const add = (content: Content = {}) => {
    for (const [type, holder] of Object.entries(content)) {
      if (/json$|form|text\/(plain|markdown)/.test(type)) holder.example ??= make(holder.schema);
    }
  };
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    const { requestBody, responses } = operation as {
      readonly requestBody?: { readonly content: Content };
      readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
    };
    add(requestBody?.content);
    for (const { content } of Object.values(responses)) add(content);
  }
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
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  }) as JsonObject;
}

/** Zod forgets examples of and a default around a preprocessed value, and prints the bounds of every safe integer. */
function tidy(schema: z.core.$ZodType, made: z.core.JSONSchema.BaseSchema): void {
  const { def } = schema._zod;
  const { examples } = z.globalRegistry.get(schema) ?? {};
  if (Array.isArray(examples)) made.examples = examples;
  if (def.type === 'default') {
    const { defaultValue } = def as z.core.$ZodDefaultDef;
    if (defaultValue !== undefined) made.default = defaultValue as NonNullable<typeof made.default>;
  }
  expandKeys(made);
  delete made.id;
  if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
  if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
}

/** A record of known keys as an object with these fields, which more tools understand. */
function expandKeys(made: z.core.JSONSchema.BaseSchema): void {
  const { propertyNames, additionalProperties } = made;
  const keys = typeof propertyNames === 'object' ? propertyNames.enum : undefined;
  if (keys === undefined || additionalProperties === undefined) return;
  delete made.propertyNames;
  made.properties = Object.fromEntries(keys.map((key) => [String(key), additionalProperties]));
  made.additionalProperties = false;
}

/** The groups of operations in the order of the document: first what everybody uses, then the keeping of a server. */
const TAGS: Readonly<Record<string, string>> = {
  remember: 'Add data and build the graph from it in one call; entries of sessions',
  recall: 'Ask the graph and the sessions at once',
  add: 'Store texts, files and addresses in a dataset',
  cognify: 'Build the knowledge graph of a dataset',
  search: 'Ask datasets',
  responses: 'Ask in the form of OpenAI, with tools over memory',
  improve: 'Learn from sessions and enrich the graph',
  memify: 'Enrich the graph by named tasks',
  update: 'Replace the content of an item',
  forget: 'Erase items, datasets or everything, and count what is left',
  datasets: 'Datasets, their items, graph, state, snapshots and replaced statements',
  delete: 'The older way to delete an item',
  sessions: 'Conversations, their questions, answers, steps and costs',
  skills: 'Skills, and proposals to change them',
  ontologies: 'Files with classes and individuals that entities are matched with',
  visualize: 'The graph as a page and as data to draw',
  schema: 'What kinds of things a graph holds, and who has to do with it',
  activity: 'Runs, jobs, operations and usage',
  validate: 'Look for contradictions in what is stored',
  llm: 'Prompts and schemas written by a model',
  integrations: 'Connect sources, choose what is brought in, and follow them',
  sync: 'Bring datasets and a remote memory into step',
  auth: 'Sign in, register, tokens and API keys',
  users: 'Accounts',
  permissions: 'Tenants, roles, grants on datasets and capabilities',
  'agent management': 'Agents: accounts with a key of their own',
  'agent connections': 'Sessions that agents have registered',
  scim: 'SCIM 2.0 for the directory of a company',
  budgets: 'Limits of tenants and keys',
  audit: 'Who did what',
  settings: 'Models of the server',
  configuration: 'Settings that clients keep here',
  checks: 'Whether a remote memory can be reached',
  health: 'Whether the server runs, and its parts',
};

const ORDER = Object.keys(TAGS);

/** The tags that are used, in the order of the table; others follow by name. */
function describeTags(used: Iterable<string>): readonly { readonly name: string; readonly description?: string }[] {
  const rank = (name: string) => (name in TAGS ? ORDER.indexOf(name) : ORDER.length);
  return [...new Set(used)]
    .sort((one, other) => rank(one) - rank(other) || one.localeCompare(other))
    .map((name) => ({ name, ...(TAGS[name] === undefined ? {} : { description: TAGS[name] }) }));
}
