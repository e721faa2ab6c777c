import type { Json } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import { findAttribute, findExtension, type ScimAttribute, type ScimResourceType } from './schema.ts';
import { scimError } from './scim-error.ts';

/** Attributes of a resource under the names of the schema; those of an extension below its id. */
export type Fields = Readonly<Record<string, Json>>;

/** RFC 7643 sets no limits; directories stay far below these. */
const MAX_TEXT_CHARACTERS = 1024;
/** Values of one attribute. */
export const MAX_VALUES = 10_000;

/**
 * Reads a resource that a client sent, under the names of the schema: unknown and read-only attributes are dropped (RFC 7644
 * §3.3), null counts as absent. 400 `invalidValue` for values of another type.
 */
export function readResource(type: ScimResourceType, sent: Readonly<Record<string, unknown>>): Fields {
  const fields: Record<string, Json> = { ...readFields(type.schema.attributes, sent) };
  for (const [name, value] of Object.entries(sent)) {
    const extension = findExtension(type, name);
    if (extension === undefined || extension.id.length !== name.length || !isRecord(value)) continue;
    const nested = readFields(extension.attributes, value);
    if (Object.keys(nested).length > 0) fields[extension.id] = nested;
  }
  return fields;
}

export function readFields(attributes: readonly ScimAttribute[], sent: Readonly<Record<string, unknown>>): Fields {
  const fields: Record<string, Json> = {};
  for (const [name, value] of Object.entries(sent)) {
    const attribute = findAttribute(attributes, name);
    if (attribute === undefined || attribute.mutability !== undefined) continue;
    const read = readValue(attribute, value);
    if (read !== null) fields[attribute.name] = read;
  }
  return fields;
}

/** Null for null. A single value of a multi-valued attribute becomes a list of one. */
export function readValue(attribute: ScimAttribute, sent: unknown): Json {
  if (sent === null || sent === undefined) return null;
  if (attribute.multiValued === undefined) return readSingle(attribute, sent);
  const values: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  if (values.length > MAX_VALUES) throw scimError(413, `${attribute.name} has more than ${MAX_VALUES} values.`);
  return values.map((value) => readSingle(attribute, value));
}

export function readSingle(attribute: ScimAttribute, sent: unknown): Json {
  const { name, type, subAttributes = [] } = attribute;
  if (type === 'complex') {
    if (isRecord(sent)) return readFields(subAttributes, sent);
    const value = findAttribute(subAttributes, 'value');
    // Entra sends a manager as the bare id, and some clients members.
    if (typeof sent === 'string' && value !== undefined) return { value: readSingle(value, sent) };
    throw invalid(name, 'an object');
  }
  if (type === 'boolean') return readBoolean(name, sent);
  if (typeof sent !== 'string') throw invalid(name, 'a text');
  if (sent.length > MAX_TEXT_CHARACTERS) throw invalid(name, `at most ${MAX_TEXT_CHARACTERS} characters long`);
  return sent;
}

/** Entra sends "True" and "False". */
function readBoolean(name: string, sent: unknown): boolean {
  if (typeof sent === 'boolean') return sent;
  const word = typeof sent === 'string' ? sent.toLowerCase() : '';
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalid(name, 'true or false');
}

function invalid(name: string, expected: string) {
  return scimError(400, `${name} must be ${expected}.`, 'invalidValue');
}

export function textField(fields: Fields, name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
