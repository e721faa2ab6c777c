import type { z } from 'zod';
import { isRecord } from '../../kernel/objects.ts';

/**
 * Names of the fields of a schema: each is accepted in camelCase and snake_case, whichever of the two the schema
 * declares; camelCase wins when both are sent. Made once per route, applied to JSON bodies, forms and queries.
 */
export interface KeyPlan {
  readonly fields: readonly FieldPlan[];
}

interface FieldPlan {
  /** Name in the schema, and for the handler. */
  readonly name: string;
  /** Accepted names, in the order in which they are looked for. */
  readonly spellings: readonly string[];
  /** How repeated form fields and query parameters arrive: the last one, all, or all when there are several. */
  readonly arity: 'one' | 'many' | 'either';
  readonly nested: NestedPlan | null;
}

type NestedPlan =
  | { readonly kind: 'object'; readonly plan: KeyPlan }
  | { readonly kind: 'list'; readonly item: NestedPlan };

type Schema = z.core.$ZodType;

/** Returns null when the schema takes no object. */
export function keyPlanOf(schema: Schema): KeyPlan | null {
  const nested = nestedPlanOf(schema);
  return nested?.kind === 'object' ? nested.plan : null;
}

/** A copy with the schema's spelling; unknown names stay as they are. Values that are no objects are left alone. */
export function applyKeyPlan(value: unknown, plan: KeyPlan): unknown {
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) if (name !== '__proto__') copy[name] = item;
  for (const field of plan.fields) {
    const spelling = spellingIn(value, field);
    if (spelling === undefined) continue;
    const item = value[spelling];
    for (const other of field.spellings) delete copy[other];
    copy[field.name] = field.nested === null ? item : applyNested(item, field.nested);
  }
  return copy;
}

/** The spelling that the client used, or undefined when it sent none. */
function spellingIn(value: Readonly<Record<string, unknown>>, field: FieldPlan): string | undefined {
  return field.spellings.find((spelling) => Object.hasOwn(value, spelling));
}

export function camelCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])_([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
}

export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

function applyNested(value: unknown, nested: NestedPlan): unknown {
  if (nested.kind === 'object') return applyKeyPlan(value, nested.plan);
  return Array.isArray(value) ? value.map((item) => applyNested(item, nested.item)) : value;
}

function nestedPlanOf(schema: Schema): NestedPlan | null {
  const inner = unwrap(schema);
  const { def } = inner._zod;
  switch (def.type) {
    case 'object':
      return { kind: 'object', plan: objectPlan((def as z.core.$ZodObjectDef).shape) };
    case 'array': {
      const item = nestedPlanOf((def as z.core.$ZodArrayDef).element);
      return item === null ? null : { kind: 'list', item };
    }
    case 'union':
      return mergedPlan((def as z.core.$ZodUnionDef).options.map(nestedPlanOf));
    case 'intersection': {
      const { left, right } = def as z.core.$ZodIntersectionDef;
      return mergedPlan([nestedPlanOf(left), nestedPlanOf(right)]);
    }
    default:
      return null;
  }
}

function objectPlan(shape: Readonly<Record<string, Schema>>): KeyPlan {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    spellings: [...new Set([camelCase(name), snakeCase(name), name])],
    arity: arityOf(schema),
    nested: nestedPlanOf(schema),
  }));
  return { fields };
}

/** The variants of a union spell their common fields alike. */
function mergedPlan(plans: readonly (NestedPlan | null)[]): NestedPlan | null {
  const fields = new Map<string, FieldPlan>();
  for (const nested of plans) {
    if (nested?.kind !== 'object') continue;
    for (const field of nested.plan.fields) if (!fields.has(field.name)) fields.set(field.name, field);
  }
  if (fields.size > 0) return { kind: 'object', plan: { fields: [...fields.values()] } };
  return plans.find((nested) => nested?.kind === 'list') ?? null;
}

function arityOf(schema: Schema): FieldPlan['arity'] {
  const { def } = unwrap(schema)._zod;
  switch (def.type) {
    case 'array':
    case 'set':
    case 'tuple':
      return 'many';
    case 'union': {
      const kinds = new Set((def as z.core.$ZodUnionDef).options.map(arityOf));
      return kinds.size === 1 ? ([...kinds][0] ?? 'one') : 'either';
    }
    case 'any':
    case 'unknown':
    case 'custom':
    case 'transform':
      return 'either';
    default:
      return 'one';
  }
}

/** Through optional, default, preprocess and the like to the schema that decides. */
export function unwrap(schema: Schema): Schema {
  const { def } = schema._zod;
  if (def.type === 'pipe') {
    const { in: from, out } = def as z.core.$ZodPipeDef;
    return unwrap(from._zod.def.type === 'transform' ? out : from);
  }
  if (def.type === 'lazy') return unwrap((def as z.core.$ZodLazyDef).getter());
  if ('innerType' in def) return unwrap(def.innerType as Schema);
  return schema;
}
