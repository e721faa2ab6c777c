import { z } from 'zod';
import type { JsonObject } from '../../common/kernel/json.ts';

/** What a graph model says, without the grammar of JSON Schema: kinds of things, what is known of them, how they relate. */
export interface GraphOutline {
  readonly title: string;
  readonly classes: readonly OutlineClass[];
}

export interface OutlineClass {
  readonly name: string;
  readonly description: string;
  /** Besides `name` and `description`, which every thing has. */
  readonly fields: readonly { readonly name: string; readonly description: string }[];
  readonly relations: readonly { readonly name: string; readonly target: string }[];
}

/** How a model is asked for one. */
export const OUTLINE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    classes: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          description: { type: 'string' },
          fields: { type: 'array', items: described('name', 'description') },
          relations: { type: 'array', items: described('name', 'target') },
        },
        required: ['name', 'description', 'fields', 'relations'],
        additionalProperties: false,
      },
    },
  },
  required: ['title', 'classes'],
  additionalProperties: false,
};

function described(...names: readonly string[]): JsonObject {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  return { type: 'object', properties, required: names, additionalProperties: false };
}

const text = z.string().trim().min(1);
/** Null for an answer that is none. */
export function readOutline(value: unknown): GraphOutline | null {
  const read = z
    .object({
      title: text,
      classes: z
        .array(
          z.object({
            name: text,
            description: z.string().default(''),
            fields: z.array(z.object({ name: text, description: z.string().default('') })).default([]),
            relations: z.array(z.object({ name: text, target: text })).default([]),
          }),
        )
        .min(1),
    })
    .safeParse(value);
  return read.success ? read.data : null;
}

const MAX_CLASSES = 50;
const MAX_MEMBERS = 40;

/** A JSON schema that cognify takes as `graph_model`: one list per class at the root, relations as references. */
export function graphSchemaOf({ title, classes }: GraphOutline): JsonObject {
  const known = new Map<string, OutlineClass>();
  for (const one of classes) {
    const name = className(one.name);
    if (!known.has(name) && known.size < MAX_CLASSES) known.set(name, one);
  }
  const definitions = [...known].map(([name, one]) => [name, definitionOf(name, one, known)] as const);
  const lists = [...known.keys()].map((name) => [fieldName(`${name} list`), listOf(name)] as const);
  return {
    title: className(title),
    type: 'object',
    properties: Object.fromEntries(lists),
    required: lists.map(([name]) => name),
    $defs: Object.fromEntries(definitions),
  };
}

function definitionOf(
  title: string,
  { description, fields, relations }: OutlineClass,
  known: ReadonlyMap<string, unknown>,
) {
  const own = fields
    .slice(0, MAX_MEMBERS)
    .map((field) => [fieldName(field.name), textField(field.description)] as const);
  const references = relations.slice(0, MAX_MEMBERS).flatMap(({ name, target }) => {
    const to = className(target);
    return known.has(to) ? [[fieldName(name), listOf(to)] as const] : [];
  });
  return {
    title,
    type: 'object',
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    properties: {
      ...Object.fromEntries([...references, ...own]),
      name: textField('The fullest name that the text uses'),
      description: textField('What the text says of it'),
    },
    required: ['name'],
  };
}

function textField(description: string): JsonObject {
  return description.trim() === '' ? { type: 'string' } : { type: 'string', description: description.trim() };
}

function listOf(name: string): JsonObject {
  return { type: 'array', items: { $ref: `#/$defs/${name}` } };
}

/** `works at` → `WorksAt`; letters and digits of any script. */
function className(name: string): string {
  const words = wordsOf(name).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join('') || 'Thing';
}

/** `Works at` → `works_at`. */
function fieldName(name: string): string {
  return wordsOf(name).join('_').toLowerCase() || 'value';
}

function wordsOf(name: string): readonly string[] {
  return name.slice(0, 80).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
