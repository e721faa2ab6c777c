import { snakeCase } from './wire-keys.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Values that say something, by the end of a field's name in snake case: the longest that fits is taken. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  name: 'notes',
  dataset: 'notes',
  datasets: 'notes',
  dataset_name: 'notes',
  document_name: 'meeting.txt',
  email: 'ada@example.com',
  user_email: 'ada@example.com',
  username: 'ada@example.com',
  password: 'correct horse',
  query: 'Who leads the project?',
  question: 'Who leads the project?',
  answer: 'Ada leads the project.',
  text: 'Ada leads the project.',
  content: 'Ada leads the project.',
  raw_data: 'Ada leads the project.',
  at: '2026-11-27T09:00:00.000Z',
  time: '2026-11-27T09:00:00.000Z',
  until: '2026-11-28T00:00:00.000Z',
  since: '2026-11-27T00:00:00.000Z',
  from: '2026-11-27',
  last_active: '2026-11-27T09:00:00.000Z',
  message: 'Done.',
  detail: 'Done.',
  description: 'Notes of the project',
  summary: 'Who does what',
  mime_type: 'text/plain',
  extension: 'txt',
  raw_data_location: 'engram://notes/meeting.txt',
  url: 'https://example.com/',
  uri: 'https://example.com/',
  website: 'https://example.com/',
  model: 'gpt-4o-mini',
  provider: 'openai',
  version: '1.0.0',
  range: '30d',
  session_id: 'chat-1',
  label: 'meeting',
  session_ids: 'chat-1',
  next: null,
  after: null,
  session_name: 'reviewer',
  agent_type: 'reviewer',
  access_token: 'eyJhbGciOi…',
  token: 'eyJhbGciOi…',
  token_type: 'bearer',
  api_key: 'ek_…',
  key: 'ek_…',
  pipeline: 'cognify_pipeline',
  predicate: 'works_at',
  subject: 'Ada',
  type: 'Person',
  relation: 'leads',
  action: 'dataset.created',
  actor: 'ada@example.com',
  capabilities: 'manage_users',
  role: 'editor',
  kty: 'OKP',
  kid: 'login-1',
  alg: 'EdDSA',
  memory_mode: 'shared',
  title: 'Acme',
  stage: 'add_data_points',
  status: 'completed',
  effective_status: 'completed',
  source: 'graph',
  scope: 'graph',
  lane: 'graph',
  tenant_name: 'acme',
  role_name: 'editor',
  entry_id: 'qa-1',
};

/** Fields that hold something only when something went wrong or came to an end. */
const USUALLY_NULL = /(^|_)(error|error_class|error_message|reason|reverted|ended|failed|updated|deleted)(_at|_by)?$/;

const ID = '5f88722c-101b-4e65-8dd9-b41b679c0235';

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  uuid: ID,
  'date-time': '2026-11-27T09:00:00.000Z',
  date: '2026-11-27',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  binary: '(a file)',
};

/** Objects in objects end here: what is deeper is left empty. */
const MAX_DEPTH = 6;

/**
 * Makes example values of JSON schemas: of what a schema gives (`examples`, `const`, `enum`, `default`), else of the name
 * and the type of a field. Of an object that requires fields only these are shown, and those that have an example.
 */
export function createExamples(schemas: JsonObject) {
  const make = (given: JsonObject, name: string, depth: number): unknown => {
    const schema = resolved(given, schemas);
    const { examples, enum: values, anyOf, oneOf, allOf } = schema as { readonly [key: string]: readonly JsonObject[] };
    if (examples?.[0] !== undefined) return examples[0];
    if ('const' in schema) return schema['const'];
    if (schema['default'] !== undefined && schema['default'] !== null) return schema['default'];
    if (values !== undefined) return values[0];
    const choices = anyOf ?? oneOf ?? allOf;
    const types = [schema['type']].flat();
    const isNullable = types.includes('null') || choices?.some(({ type }) => type === 'null') === true;
    if (isNullable && USUALLY_NULL.test(name)) return null;
    if (choices !== undefined) return make(choices.find(({ type }) => type !== 'null') ?? {}, name, depth);
    switch (types.find((type) => type !== 'null') ?? types[0]) {
      case 'object':
        return object(schema, depth);
      case 'array':
        return depth > MAX_DEPTH ? [] : [make((schema['items'] ?? {}) as JsonObject, name, depth + 1)];
      case 'string':
        return text(schema, name);
      case 'integer':
      case 'number':
        return number(schema, name);
      case 'boolean':
        return !/error|delet|rerun|truncat|background|super|default/.test(name);
      case 'null':
        return null;
      default:
        return known(name) ?? null;
    }
  };
  const object = (schema: JsonObject, depth: number): unknown => {
    const {
      properties = {},
      required = [],
      additionalProperties,
    } = schema as {
      readonly properties?: Readonly<Record<string, JsonObject>>;
      readonly required?: readonly string[];
      readonly additionalProperties?: unknown;
    };
    const said = Object.entries(properties).filter(
      ([key, value]) => required.includes(key) || hasExample(value, schemas),
    );
    const shown = said.length === 0 && depth === 0 ? Object.entries(properties) : said;
    if (shown.length === 0 && isOpen(additionalProperties) && depth <= MAX_DEPTH) {
      const { propertyNames, description = '' } = schema as { propertyNames?: JsonObject; description?: string };
      const [key] = (propertyNames?.['enum'] as readonly string[] | undefined) ?? [];
      return { [key ?? (/\bid\b/.test(description) ? ID : 'name')]: make(additionalProperties, 'name', depth + 1) };
    }
    return Object.fromEntries(shown.map(([key, value]) => [key, make(value, snakeCase(key), depth + 1)]));
  };
  return (schema: JsonObject, name = ''): unknown => make(schema, name, 0);
}

function isOpen(additional: unknown): additional is JsonObject {
  return typeof additional === 'object' && additional !== null && Object.keys(additional).length > 0;
}

function hasExample(schema: JsonObject, schemas: JsonObject): boolean {
  return resolved(schema, schemas)['examples'] !== undefined;
}

function resolved(schema: JsonObject, schemas: JsonObject): JsonObject {
  const { $ref, ...rest } = schema as { readonly $ref?: string };
  if ($ref === undefined) return schema;
  const target = schemas[$ref.slice($ref.lastIndexOf('/') + 1)] as JsonObject | undefined;
  return { ...resolved(target ?? {}, schemas), ...rest };
}

function text(schema: JsonObject, name: string): unknown {
  const byFormat = BY_FORMAT[String(schema['format'] ?? '')];
  if (byFormat !== undefined) return byFormat;
  if (schema['pattern'] !== undefined) return '';
  const value = known(name);
  if (typeof value === 'string') return value;
  return /(^|_)ids?$/.test(name) ? ID : '…';
}

function number(schema: JsonObject, name: string): number {
  const { minimum, maximum } = schema as { readonly minimum?: number; readonly maximum?: number };
  const value = /score|similarity|relevance|weight|distance/.test(name) && schema['type'] === 'number' ? 0.5 : 3;
  return Math.min(Math.max(value, minimum ?? value), maximum ?? value);
}

function known(name: string): unknown {
  const words = name.split('_');
  for (let from = 0; from < words.length; from += 1) {
    const value = BY_NAME[words.slice(from).join('_')];
    if (value !== undefined) return value;
  }
  return undefined;
}
