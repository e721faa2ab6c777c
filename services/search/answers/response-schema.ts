import { engramError } from '../../common/kernel/errors.ts';
import { closedObject, type JsonObject, ownValue } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';

/** Limits (search-recall.md §6.6). */
const MAX_DEPTH = 10;
const MAX_PROPERTIES = 200;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
const REFUSED = ['allOf', 'oneOf', 'not', 'patternProperties'];
const SCALARS = ['string', 'integer', 'number', 'boolean', 'null'];

type Schema = Readonly<Record<string, unknown>>;

interface Place {
  readonly definitions: Schema;
  readonly depth: number;
  /** References on the path to here: a repeated one is recursive. */
  readonly through: readonly string[];
  readonly counter: { properties: number };
}

/**
 * Converts a caller's schema to the one sent to a model: references resolved, constraints removed, optional properties
 * nullable. Throws `CogneeValidationError` for features that the contract does not support.
 */
export function answerSchema(given: Schema): JsonObject {
  const definitions = { ...recordOf(given['definitions']), ...recordOf(given['$defs']) };
  const properties = recordOf(given['properties']);
  if (given['type'] !== 'object' || Object.keys(properties).length === 0) {
    throw refused("the root must be of type 'object' with properties");
  }
  return convert(given, { definitions, depth: 0, through: [], counter: { properties: 0 } });
}

function convert(value: unknown, place: Place): JsonObject {
  const schema = recordOf(value);
  if (place.depth > MAX_DEPTH) throw refused(`it is nested deeper than ${MAX_DEPTH}`);
  const unsupported = REFUSED.find((key) => key in schema);
  if (unsupported !== undefined) throw refused(`${unsupported} is not supported`);
  const described = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
  if (schema['$ref'] !== undefined) return { ...resolved(schema['$ref'], place), ...described };
  if (Array.isArray(schema['anyOf'])) return { anyOf: alternatives(schema['anyOf'], place), ...described };
  if (Array.isArray(schema['enum'])) return { ...enumeration(schema['enum']), ...described };
  if (schema['const'] !== undefined) return { ...enumeration([schema['const']]), ...described };
  const { type } = schema;
  if (Array.isArray(type)) {
    return {
      anyOf: alternatives(
        type.map((one: unknown) => ({ ...schema, type: one })),
        place,
      ),
    };
  }
  if (type === 'object') return { ...objectOf(schema, place), ...described };
  if (type === 'array') {
    if (schema['items'] === undefined) throw refused('an array needs items');
    return { type, items: convert(schema['items'], deeper(place)), ...described };
  }
  if (typeof type === 'string' && SCALARS.includes(type)) return { type, ...described };
  throw refused(`the type ${JSON.stringify(type ?? null)} is not supported`);
}

function objectOf(schema: Schema, place: Place): JsonObject {
  const given = recordOf(schema['properties']);
  const names = Object.keys(given);
  place.counter.properties += names.length;
  if (place.counter.properties > MAX_PROPERTIES) throw refused(`it has more than ${MAX_PROPERTIES} properties`);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = names.map((name) => {
    if (!IDENTIFIER.test(name)) throw refused(`the property name ${JSON.stringify(name)} is no identifier`);
    const property = convert(given[name], deeper(place));
    return [name, required.includes(name) ? property : nullable(property)] as const;
  });
  return closedObject(Object.fromEntries(properties));
}

function resolved(reference: unknown, place: Place): JsonObject {
  const text = typeof reference === 'string' ? reference : '';
  const [, name] = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(text) ?? [];
  const target = name === undefined ? undefined : ownValue(place.definitions, name);
  if (name === undefined || target === undefined)
    throw refused(`the reference ${JSON.stringify(reference)} leads nowhere`);
  if (place.through.includes(name)) throw refused(`${name} is recursive`);
  return convert(target, { ...deeper(place), through: [...place.through, name] });
}

function alternatives(given: readonly unknown[], place: Place): JsonObject[] {
  return given.map((one) => convert(one, deeper(place)));
}

function enumeration(values: readonly unknown[]): JsonObject {
  const isScalar = values.every((value) => ['string', 'boolean'].includes(typeof value) || Number.isInteger(value));
  if (values.length === 0 || !isScalar) throw refused('an enum takes strings, integers and booleans');
  return { enum: values as string[] };
}

function nullable(schema: JsonObject): JsonObject {
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  return schema['type'] === 'null' ? schema : { anyOf: [schema, { type: 'null' }] };
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function recordOf(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

function refused(reason: string): Error {
  return engramError('CogneeValidationError', `response_schema cannot be used: ${reason}.`);
}
