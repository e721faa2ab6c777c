import { type Json, type JsonObject, ownValue } from '../../../kernel/json.ts';
import { isRecord } from '../../../kernel/objects.ts';

/** A position in a caller's graph model: the type of its objects, and their fields. */
export interface ModelPlace {
  /** Class name: the title, or the name of the definition; null for a schema that has neither. */
  readonly type: string | null;
  readonly properties: JsonObject;
  /** The field that names an object, when the model says so (`metadata.index_fields`). */
  readonly nameField: string | null;
}

interface GraphModel {
  readonly root: Json;
  /** Returns the schema of a value; of several branches the matching one. */
  placeOf(schema: Json | undefined, value: unknown): ModelPlace;
  itemsOf(schema: Json | undefined): Json | undefined;
}

const EMPTY: ModelPlace = { type: null, properties: {}, nameField: null };

export function readGraphModel(model: JsonObject): GraphModel {
  const definitions = { ...recordOf(model['definitions']), ...recordOf(model['$defs']) };
  const resolve = (schema: Json | undefined, hops = 0): { schema: JsonObject; name: string | null } => {
    const record = recordOf(schema);
    const [only] = Array.isArray(record['allOf']) && record['allOf'].length === 1 ? record['allOf'] : [];
    const reference = record['$ref'];
    if (hops > 20 || (only === undefined && typeof reference !== 'string')) return { schema: record, name: null };
    if (only !== undefined) return resolve(only, hops + 1);
    if (reference === '#') return { schema: model, name: titleOf(model) };
    const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(String(reference))?.[1] ?? '';
    const target = resolve(ownValue(definitions, name), hops + 1);
    return { schema: target.schema, name: target.name ?? name };
  };
  /** Each union is opened once: a model may lead back to itself. */
  const branchesOf = (
    schema: Json | undefined,
    opened = new Set<JsonObject>(),
  ): { schema: JsonObject; name: string | null }[] => {
    const resolved = resolve(schema);
    const branches = resolved.schema['anyOf'] ?? resolved.schema['oneOf'];
    if (!Array.isArray(branches)) return [resolved];
    if (opened.has(resolved.schema)) return [];
    opened.add(resolved.schema);
    return branches.flatMap((branch) => branchesOf(branch, opened));
  };
  return {
    root: model,
    placeOf(schema, value) {
      const keys = Object.keys(recordOf(value));
      const fits = ({ schema: branch }: { schema: JsonObject }) => {
        const properties = recordOf(branch['properties']);
        const known = keys.filter((key) => Object.hasOwn(properties, key)).length;
        return known - (keys.length - known);
      };
      const [best] = branchesOf(schema).toSorted((one, other) => fits(other) - fits(one));
      if (best === undefined) return EMPTY;
      const properties = recordOf(best.schema['properties']);
      return { type: titleOf(best.schema) ?? best.name, properties, nameField: indexField(properties) };
    },
    itemsOf: (schema) =>
      branchesOf(schema).find(({ schema: branch }) => branch['items'] !== undefined)?.schema['items'],
  };
}

/** Fields of the client library's base class: they are ours to fill, a model would only invent them. */
const BOOKKEEPING = new Set(
  `id created_at updated_at ontology_valid ontology_uri version topological_rank metadata belongs_to_set type
  source_pipeline source_task source_node_set source_user source_content_hash feedback_weight importance_weight
  valid_to`.split(/\s+/),
);

/** The model as it is asked for: objects of the client library's base class without its own fields. */
export function askedModel(schema: JsonObject): JsonObject {
  return stripped(schema) as JsonObject;
}

function stripped(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => stripped(one) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as JsonObject;
  const properties = recordOf(record['properties']);
  const isLibraryClass = 'topological_rank' in properties && 'metadata' in properties;
  const kept = (name: string) => !isLibraryClass || !BOOKKEEPING.has(name);
  const entries = Object.entries(record).map(([key, child]): [string, Json | undefined] => {
    if (key === 'properties') {
      const own = Object.entries(properties).filter(([name]) => kept(name));
      return [key, Object.fromEntries(own.map(([name, schema]) => [name, stripped(schema)]))];
    }
    if (key === 'required' && Array.isArray(child)) return [key, child.filter((name) => kept(String(name)))];
    return [key, key === 'default' || key === 'enum' || key === 'const' ? child : stripped(child)];
  });
  return Object.fromEntries(entries);
}

function indexField(properties: JsonObject): string | null {
  const { index_fields: fields } = recordOf(recordOf(properties['metadata'])['default']);
  const [first] = Array.isArray(fields) ? fields : [];
  return typeof first === 'string' ? first : null;
}

function titleOf(schema: JsonObject): string | null {
  const { title } = schema;
  // Of a field its title is no class name.
  return typeof title === 'string' && title.trim() !== '' && schema['properties'] !== undefined ? title : null;
}

function recordOf(value: unknown): JsonObject {
  return isRecord(value) ? (value as JsonObject) : {};
}
