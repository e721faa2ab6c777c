import { compile, type JSONSchema } from 'json-schema-to-typescript';

/** The parts of an OpenAPI 3.1 document that types are made of. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> };
}

interface Operation {
  readonly summary: string;
  readonly 'x-idempotent'?: boolean;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JSONSchema;
}

type Content = Readonly<Record<string, { readonly schema: JSONSchema }>>;

/**
 * Returns the types `paths` and `components` of a document in the form that openapi-fetch reads. The document is written
 * anew as the JSON schema of a value with these types, so that json-schema-to-typescript prints all of them.
 */
export async function apiTypes({ paths, components }: OpenApi): Promise<string> {
  const names = Object.keys(components.schemas);
  const schemas = object(Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])));
  const document: JSONSchema = {
    ...object({
      paths: { ...object(mapped(paths, (operations) => object(mapped(operations, operationSchema)))), title: 'paths' },
      components: { ...object({ schemas }), title: 'components' },
    }),
    definitions: local(components.schemas) as Record<string, JSONSchema>,
  };
  const printed = await compile(document, 'OpenApiDocument', {
    additionalProperties: false,
    bannerComment: '// Made from the OpenAPI document by `npm run generate`. Do not edit.',
    customName: ({ title }, definition) => definition ?? title,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, trailingComma: 'all', printWidth: 120 },
    unknownAny: true,
  });
  return `${printed}\n${traits(paths)}`;
}

/** Facts about operations that the client needs at run time: which POST and PATCH may be sent again, which take a key, which a form. */
function traits(paths: OpenApi['paths']): string {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const form = Object.keys(operation.requestBody?.content ?? {}).find((type) => !type.endsWith('json'));
      const isTold = operation['x-idempotent'] === true && (method === 'post' || method === 'patch');
      // A request that may be sent twice needs no key.
      const isKeyed =
        operation['x-idempotent'] !== true &&
        operation.parameters?.some(({ name }) => name === 'Idempotency-Key') === true;
      const known = { ...(isTold ? { idempotent: true } : {}), ...(isKeyed ? { keyed: true } : {}) };
      const own = { ...known, ...(form === undefined ? {} : { form }) };
      return Object.keys(own).length === 0 ? '' : `  '${method.toUpperCase()} ${path}': ${JSON.stringify(own)},\n`;
    }),
  );
  const type =
    'Readonly<Record<string, { readonly idempotent?: boolean; readonly keyed?: boolean; readonly form?: string }>>';
  return `export const operationTraits: ${type} = {\n${lines.join('')}};\n`;
}

function operationSchema(operation: Operation): JSONSchema {
  const { requestBody, responses } = operation;
  // The client sends headers by itself.
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header');
  const places = [...new Set(parameters.map((parameter) => parameter.in))];
  return {
    description: operation.summary,
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    ...object(
      {
        parameters: object(
          Object.fromEntries(places.map((place) => [place, placeSchema(parameters.filter((one) => one.in === place))])),
          places.filter((place) => parameters.some((one) => one.in === place && one.required)),
        ),
        ...(requestBody === undefined ? {} : { requestBody: object({ content: contentSchema(requestBody.content) }) }),
        // The client throws errors, so that only what it returns has a type.
        responses: object(
          Object.fromEntries(
            Object.entries(responses)
              .filter(([status]) => status.startsWith('2'))
              .map(([status, { content }]) => [
                status,
                content === undefined
                  ? object({ content: { tsType: 'never' } }, [])
                  : object({ content: contentSchema(content) }),
              ]),
          ),
        ),
      },
      ['parameters', 'responses', ...(requestBody?.required === true ? ['requestBody'] : [])],
    ),
  };
}

function placeSchema(parameters: readonly Parameter[]): JSONSchema {
  return object(
    Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...(local(schema) as JSONSchema), ...(description === undefined ? {} : { description }) },
      ]),
    ),
    parameters.filter(({ required }) => required).map(({ name }) => name),
  );
}

function contentSchema(content: Content): JSONSchema {
  // Streams of events have a method of their own in the client.
  const { 'text/event-stream': _, ...others } = content;
  return object(mapped(others, ({ schema }) => local(schema) as JSONSchema));
}

function object(properties: Record<string, JSONSchema>, required = Object.keys(properties)): JSONSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

function mapped<Value>(of: Readonly<Record<string, Value>>, make: (value: Value) => JSONSchema) {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, make(value)]));
}

/** The schema with references to the definitions, and files as blobs. */
function local(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(local);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ((schema as JSONSchema).format === 'binary') return { tsType: 'Blob' };
  const { $ref, ...rest } = schema as JSONSchema;
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, local(value)]));
  if ($ref === undefined) return own;
  const reference = { $ref: $ref.replace('#/components/schemas/', '#/definitions/') };
  // A reference with a description of its own would become another type.
  return Object.keys(own).length === 0 ? reference : { ...own, allOf: [reference] };
}
