import type { z } from 'zod';
import { ownValue } from '../../kernel/json.ts';
import { isRecord } from '../../kernel/objects.ts';
import { camelCase, snakeCase, unwrap } from './wire-keys.ts';

type Schema = z.core.$ZodType;

/** A value inside a request, beside the schema that judged it. */
export interface Place {
  /** Value of the client; undefined when it sent none. */
  readonly value: unknown;
  /** The object or list that holds it. */
  readonly holder: unknown;
  /** Path in the client's spelling. */
  readonly loc: readonly (string | number)[];
  /** Undefined where the schema says nothing. */
  readonly schema: Schema | undefined;
}

/** One step from a place, by the schema's name of a field or by a position. */
export function stepInto(place: Place, key: PropertyKey): Place {
  if (typeof key === 'number') {
    const value = Array.isArray(place.value) ? (place.value[key] as unknown) : undefined;
    return { value, holder: place.value, loc: [...place.loc, key], schema: itemSchema(place.schema) };
  }
  const name = String(key);
  const holder = isRecord(place.value) ? place.value : {};
  const spelling = [camelCase(name), snakeCase(name), name].find((candidate) => Object.hasOwn(holder, candidate));
  const variant = taggedVariant(place);
  return {
    value: spelling === undefined ? undefined : holder[spelling],
    holder: place.value,
    loc: [...place.loc, ...(variant === undefined ? [] : [variant.tag]), spelling ?? name],
    schema: fieldSchema(variant?.schema ?? place.schema, name),
  };
}

/** Returns the field that distinguishes the variants of a union, or undefined: errors of such unions name the tag. */
export function discriminatorOf(schema: Schema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  return (unwrap(schema)._zod.def as { discriminator?: string }).discriminator;
}

/** Tags of a union's variants, in the order of the schema. */
export function tagsOf(schema: Schema, discriminator: string): readonly string[] {
  const { options = [] } = unwrap(schema)._zod.def as Partial<z.core.$ZodUnionDef>;
  return options.flatMap((option) => tagOf(option, discriminator));
}

/** The variant that a value names. */
function taggedVariant({ value, schema }: Place): { readonly tag: string; readonly schema: Schema } | undefined {
  const discriminator = discriminatorOf(schema);
  if (schema === undefined || discriminator === undefined || !isRecord(value)) return undefined;
  const { options } = unwrap(schema)._zod.def as z.core.$ZodUnionDef;
  const tag = value[discriminator];
  const found = options.find((option) => typeof tag === 'string' && tagOf(option, discriminator).includes(tag));
  return found === undefined ? undefined : { tag: String(tag), schema: found };
}

function tagOf(option: Schema, discriminator: string): readonly string[] {
  return [...(option._zod.propValues?.[discriminator] ?? [])].map(String);
}

/** The contract's name of a variant of a union, as its errors carry it. */
export function variantName(schema: Schema): string {
  const { def } = unwrap(schema)._zod;
  switch (def.type) {
    case 'string':
      return isUuidSchema(schema) ? 'uuid' : 'str';
    case 'number':
      return isIntegerSchema(schema) ? 'int' : 'float';
    case 'boolean':
      return 'bool';
    case 'array':
      return `list[${variantName((def as z.core.$ZodArrayDef).element)}]`;
    case 'record':
      return 'dict';
    case 'literal':
      return `literal[${(def as z.core.$ZodLiteralDef<z.core.util.Literal>).values.map(quoted).join(',')}]`;
    default:
      return def.type;
  }
}

export function isUuidSchema(schema: Schema | undefined): boolean {
  const format = formatOf(schema);
  return format === 'guid' || format === 'uuid';
}

export function isIntegerSchema(schema: Schema | undefined): boolean {
  return formatOf(schema) === 'safeint';
}

/** Formats a value for errors. Clients send any JSON: an object need not have a `toString` that can be called. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 200)}'`;
  return (JSON.stringify(value) ?? String(value)).slice(0, 200);
}

function formatOf(schema: Schema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { format } = unwrap(schema)._zod.def as { format?: unknown };
  return typeof format === 'string' ? format : undefined;
}

function itemSchema(schema: Schema | undefined): Schema | undefined {
  if (schema === undefined) return undefined;
  const { def } = unwrap(schema)._zod;
  if (def.type === 'array') return (def as z.core.$ZodArrayDef).element;
  if (def.type === 'union') return firstOf((def as z.core.$ZodUnionDef).options, itemSchema);
  return undefined;
}

function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const { def } = unwrap(schema)._zod;
  if (def.type === 'object') return ownValue((def as z.core.$ZodObjectDef).shape, name);
  if (def.type === 'record') return (def as z.core.$ZodRecordDef).valueType;
  if (def.type === 'union') return firstOf((def as z.core.$ZodUnionDef).options, (one) => fieldSchema(one, name));
  return undefined;
}

function firstOf(schemas: readonly Schema[], pick: (schema: Schema) => Schema | undefined): Schema | undefined {
  for (const schema of schemas) {
    const found = pick(schema);
    if (found !== undefined) return found;
  }
  return undefined;
}
