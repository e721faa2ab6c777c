import type { Json, JsonObject } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import { type Fields, MAX_VALUES, readFields, readSingle, readValue } from './fields.ts';
import { comparisonsIn, matchesFilter, parseFilter, type ScimFilter } from './filter.ts';
import { findAttribute, findExtension, type ScimAttribute, type ScimResourceType } from './schema.ts';
import { scimError } from './scim-error.ts';

interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  /** Null: the value is an object of attributes. */
  readonly path: string | null;
  readonly value: unknown;
}

const MAX_OPERATIONS = 1000;

/** Reads the operations of a request body; their names in any case, as Entra sends them. 400 for an invalid patch. */
export function readOperations(body: Readonly<Record<string, unknown>>): readonly PatchOperation[] {
  const [, sent] = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations') ?? [];
  if (!Array.isArray(sent) || sent.length === 0) throw invalidSyntax('Operations must be a list that is not empty.');
  if (sent.length > MAX_OPERATIONS) throw scimError(413, `More than ${MAX_OPERATIONS} operations at once.`, 'tooMany');
  return sent.map((operation: unknown) => {
    if (!isRecord(operation)) throw invalidSyntax('An operation must be an object.');
    const { path, value } = operation;
    const op = typeof operation['op'] === 'string' ? operation['op'].toLowerCase() : '';
    if (op !== 'add' && op !== 'remove' && op !== 'replace') throw invalidSyntax('op must be add, remove or replace.');
    if (path !== undefined && path !== null && typeof path !== 'string') throw invalidSyntax('path must be a text.');
    return { op, path: typeof path === 'string' && path !== '' ? path : null, value };
  });
}

/**
 * Returns the attributes after all operations, in their order, without changing `fields`. 413 for a patch that would take too
 * long.
 */
export function applyPatch(type: ScimResourceType, fields: Fields, operations: readonly PatchOperation[]): Fields {
  const patch: Patch = { type, comparisonsLeft: MAX_COMPARISONS_PER_PATCH };
  let current = fields;
  for (const operation of operations) current = apply(patch, current, operation);
  return current;
}

/** Comparisons with single values in one request: about a second, during which the process serves nothing else. */
const MAX_COMPARISONS_PER_PATCH = 500_000;

interface Patch {
  readonly type: ScimResourceType;
  comparisonsLeft: number;
}

function countComparisons(patch: Patch, times: number): void {
  patch.comparisonsLeft -= times;
  if (patch.comparisonsLeft < 0) throw scimError(413, 'The operations are too many for as many values.', 'tooMany');
}

function apply(patch: Patch, fields: Fields, sent: PatchOperation): Fields {
  // Setting null removes (RFC 7643 §2.5).
  const operation = sent.value === null && sent.path !== null ? { ...sent, op: 'remove' as const } : sent;
  const { op, path, value } = operation;
  if (path === null) return applyWithoutPath(patch, fields, operation);
  const target = parsePath(patch.type, path);
  if ('whole' in target) {
    const { whole, attributes } = target;
    if (op === 'remove') return without(fields, whole);
    if (!isRecord(value)) throw invalidValue(path);
    return withNested(fields, whole, { ...nestedIn(fields, whole), ...readFields(attributes, value) });
  }
  const { extension } = target;
  if (extension === null) return applyTo(patch, fields, target, operation);
  return withNested(fields, extension, applyTo(patch, nestedIn(fields, extension), target, operation));
}

/** Each name in the value is a path: Entra sends `name.givenName`. Unknown names are ignored. */
function applyWithoutPath(patch: Patch, fields: Fields, { op, value }: PatchOperation): Fields {
  if (op === 'remove') throw scimError(400, 'remove needs a path.', 'noTarget');
  if (!isRecord(value)) throw invalidSyntax('An operation without a path needs an object as its value.');
  let current = fields;
  for (const [path, part] of Object.entries(value)) {
    if (isKnown(patch.type, path)) current = apply(patch, current, { op, path, value: part });
  }
  return current;
}

function isKnown(type: ScimResourceType, path: string): boolean {
  try {
    const target = parsePath(type, path);
    return 'whole' in target || target.attribute.mutability === undefined;
  } catch {
    return false;
  }
}

function applyTo(patch: Patch, fields: Fields, target: PatchTarget, operation: PatchOperation): Fields {
  const { attribute, filter, sub } = target;
  if (attribute.mutability === 'writeOnly') return fields;
  if (attribute.mutability !== undefined) throw scimError(400, `${attribute.name} cannot be changed.`, 'mutability');
  if (attribute.multiValued !== undefined) {
    const values = valuesOf(fields[attribute.name]);
    const isOfAll = filter === null && sub === null;
    countComparisons(patch, Math.max(1, values.length) * (filter === null ? 1 : comparisonsIn(filter)));
    const changed = isOfAll ? changeAll(values, target, operation) : changeSome(values, { target, operation, filter });
    if (changed.length > MAX_VALUES) throw scimError(413, `${attribute.name} has more than ${MAX_VALUES} values.`);
    return changed.length === 0 ? without(fields, attribute.name) : { ...fields, [attribute.name]: changed };
  }
  const isRemoval = operation.op === 'remove';
  if (sub !== null) {
    const nested = nestedIn(fields, attribute.name);
    const changed = isRemoval ? without(nested, sub.name) : { ...nested, [sub.name]: readSingle(sub, operation.value) };
    return withNested(fields, attribute.name, changed);
  }
  if (isRemoval) {
    if (attribute.required) throw scimError(400, `${attribute.name} cannot be removed.`, 'mutability');
    return without(fields, attribute.name);
  }
  const value = readSingle(attribute, operation.value);
  // Sub-attributes of a complex value that are not named stay.
  return { ...fields, [attribute.name]: isRecord(value) ? { ...nestedIn(fields, attribute.name), ...value } : value };
}

/** Applies the operation to all values of an attribute. */
function changeAll(values: readonly Json[], { attribute }: PatchTarget, { op, value }: PatchOperation) {
  if (op === 'remove') {
    if (value === undefined || value === null) return [];
    // Entra lists the values to remove in the value of the operation.
    const removed = createValueSet(valuesOf(readValue(attribute, value)));
    return values.filter((each) => !removed.hasSame(each));
  }
  const given = valuesOf(readValue(attribute, value));
  if (op === 'replace') return given;
  const present = createValueSet(values);
  const added = given.filter((one) => !present.hasEqual(one));
  const replacing = createValueSet(added);
  const kept = values.filter((each) => !replacing.hasSame(each));
  const hasNewPrimary = added.some((one) => isRecord(one) && one['primary'] === true);
  return [...(hasNewPrimary ? kept.map(withoutPrimary) : kept), ...added];
}

interface SomeValues {
  readonly target: PatchTarget;
  readonly operation: PatchOperation;
  readonly filter: ScimFilter | null;
}

/** Applies the operation to the values that match the filter, or to a sub-attribute of them. */
function changeSome(values: readonly Json[], { target, operation, filter }: SomeValues): readonly Json[] {
  const { attribute, sub } = target;
  const { op, value } = operation;
  const fits = (each: Json): boolean => filter === null || matchesFilter(filter, each);
  if (op === 'remove') {
    if (sub === null) return values.filter((each) => !fits(each));
    return values.map((each) => (fits(each) && isRecord(each) ? without(each as Fields, sub.name) : each));
  }
  const change = (each: JsonObject): JsonObject => {
    if (sub !== null) return { ...each, [sub.name]: readSingle(sub, value) };
    const given = readSingle(attribute, value);
    return isRecord(given) ? { ...each, ...(given as JsonObject) } : each;
  };
  if (values.some(fits))
    return values.map((each) => (fits(each) && isRecord(each) ? change(each as JsonObject) : each));
  // Entra replaces `emails[type eq "work"].value` when there is none yet: it is created.
  const made = filter === null ? {} : impliedBy(target, filter);
  if (made === null) throw scimError(400, `No value of ${attribute.name} fits the filter of the path.`, 'noTarget');
  return [...values, change(made)];
}

/** The sub-attributes that make a new value match the filter; null when the filter does not determine them. */
function impliedBy(target: PatchTarget, filter: ScimFilter): JsonObject | null {
  if (filter.kind === 'and') {
    const [left, right] = [impliedBy(target, filter.left), impliedBy(target, filter.right)];
    return left === null || right === null ? null : { ...left, ...right };
  }
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.value === null) return null;
  const sub = findAttribute(target.attribute.subAttributes ?? [], filter.path);
  return sub === undefined ? null : { [sub.name]: readSingle(sub, filter.value) };
}

function withoutPrimary(value: Json): Json {
  return isRecord(value) && value['primary'] === true ? { ...(value as JsonObject), primary: false } : value;
}

function valuesOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
}

function nestedIn(fields: Fields, name: string): Fields {
  const nested = fields[name];
  return isRecord(nested) ? (nested as Fields) : {};
}

function withNested(fields: Fields, name: string, nested: Fields): Fields {
  return Object.keys(nested).length === 0 ? without(fields, name) : { ...fields, [name]: nested };
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _, ...rest } = fields;
  return rest;
}

function invalidSyntax(detail: string) {
  return scimError(400, detail, 'invalidSyntax');
}

function invalidValue(path: string) {
  return scimError(400, `The value for '${path.slice(0, 200)}' must be an object.`, 'invalidValue');
}

/** The target of a PATCH path (RFC 7644 §3.5.2). */
interface PatchTarget {
  /** Id of the extension that the attribute is nested under; null for an attribute of the resource itself. */
  readonly extension: string | null;
  readonly attribute: ScimAttribute;
  /** Selects values of the attribute. */
  readonly filter: ScimFilter | null;
  readonly sub: ScimAttribute | null;
}

const PATH = /^([\w$-]+)(?:\[(.*)\])?(?:\.([\w$-]+))?$/s;

/**
 * Parses a path. `whole`: the path is the id of an extension. 400 `invalidPath` for an invalid path or an unknown attribute.
 */
function parsePath(
  type: ScimResourceType,
  text: string,
): PatchTarget | { readonly whole: string; readonly attributes: readonly ScimAttribute[] } {
  const { attributes, extension, rest } = splitSchema(type, text.trim());
  if (rest === '' && extension !== null) return { whole: extension, attributes };
  const [, name = '', filter, subName] = PATH.exec(rest) ?? [];
  const attribute = findAttribute(attributes, name);
  if (attribute === undefined) throw invalidPath(text);
  const sub = subName === undefined ? null : (findAttribute(attribute.subAttributes ?? [], subName) ?? null);
  if (subName !== undefined && sub === null) throw invalidPath(text);
  if (filter !== undefined && attribute.multiValued === undefined) throw invalidPath(text);
  return { extension, attribute, filter: filter === undefined ? null : parseFilter(filter), sub };
}

function splitSchema(type: ScimResourceType, text: string) {
  const { schema } = type;
  if (text.toLowerCase().startsWith(`${schema.id.toLowerCase()}:`)) {
    return { attributes: schema.attributes, extension: null, rest: text.slice(schema.id.length + 1) };
  }
  const extension = findExtension(type, text);
  if (extension === undefined) return { attributes: schema.attributes, extension: null, rest: text };
  return { attributes: extension.attributes, extension: extension.id, rest: text.slice(extension.id.length + 1) };
}

function invalidPath(text: string) {
  return scimError(400, `There is no attribute at the path '${text.slice(0, 200)}'.`, 'invalidPath');
}

/** A set of attribute values with constant-time look-ups: a patch may bring ten thousand to ten thousand others. */
function createValueSet(values: readonly Json[]) {
  const spellings = new Set(values.map(spellingOf));
  const typesOf = new Map<unknown, Set<unknown>>();
  for (const each of values) {
    if (!isRecord(each) || each['value'] === undefined) continue;
    typesOf.set(each['value'], (typesOf.get(each['value']) ?? new Set()).add(each['type']));
  }
  return {
    /** Whether it has an equal value, in any order of the names. */
    hasEqual: (value: Json) => spellings.has(spellingOf(value)),
    /**
     * Whether it has a value of the same identity: with the same `value` and the same `type`, unless one of them has no `type`.
     */
    hasSame(value: Json) {
      if (!isRecord(value) || value['value'] === undefined) return spellings.has(spellingOf(value));
      const types = typesOf.get(value['value']);
      if (types === undefined) return false;
      return value['type'] === undefined || types.has(undefined) || types.has(value['type']);
    },
  };
}

/** A canonical text of a value. Values are not nested deeper (RFC 7643 §2.3.8). */
function spellingOf(value: Json): string {
  if (!isRecord(value)) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
