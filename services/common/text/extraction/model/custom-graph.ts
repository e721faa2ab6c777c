import { nodeName } from '../../../kernel/ids.ts';
import { type Json, type JsonObject, ownValue } from '../../../kernel/json.ts';
import type { ExtractedEntity, ExtractedRelation } from '../../../ports/extractor.ts';
import { cleanName, cleanText, relationName } from './clean-text.ts';
import { type ModelPlace, readGraphModel } from './graph-model.ts';
import { isKnowledgeGraph, type ModelGraph, readKnowledgeGraph } from './knowledge-graph.ts';

/** Field names that hold the name of an object, the first one found wins. */
const NAME_FIELDS = ['name', 'title', 'label', 'id'];
const MAX_NODES = 500;

/**
 * Reads an instance of a caller's graph model as a graph: every object with a name is a node of the class its schema
 * tells, every field that leads from one such object to another is an edge named after the field. An instance that is
 * itself made of nodes and edges is read as those.
 */
export function graphOfInstance(instance: unknown, schema: JsonObject): ModelGraph {
  if (isKnowledgeGraph(instance)) return readKnowledgeGraph(instance);
  const model = readGraphModel(schema);
  const entities = new Map<string, ExtractedEntity>();
  const relations: ExtractedRelation[] = [];

  const visit = (value: unknown, at: Visit): void => {
    if (Array.isArray(value)) {
      for (const entry of value) visit(entry, { ...at, schema: model.itemsOf(at.schema) });
      return;
    }
    if (typeof value !== 'object' || value === null || entities.size >= MAX_NODES) return;
    const record = value as Record<string, unknown>;
    const place = model.placeOf(at.schema, record);
    const name = nameOf(record, place);
    if (name !== null) {
      const own = keep(entities, name, { type: place.type ?? singular(at.field), record, place });
      const relation = relationName(at.field);
      if (at.owner !== null && at.owner !== own && relation !== '') {
        relations.push({ source: at.owner, target: own, relation, evidence: '' });
      }
      at = { ...at, owner: own };
    }
    for (const [field, child] of Object.entries(record)) {
      visit(child, { owner: at.owner, field, schema: ownValue(place.properties, field) });
    }
  };

  visit(instance, { owner: null, field: '', schema });
  return { entities: [...entities.values()], relations: distinct(relations) };
}

interface Visit {
  /** Name of the nearest object above that has one. */
  readonly owner: string | null;
  readonly field: string;
  readonly schema: Json | undefined;
}

/** The name under which the object is known: the first spelling stays. */
function keep(
  entities: Map<string, ExtractedEntity>,
  name: string,
  found: { readonly type: string; readonly record: Record<string, unknown>; readonly place: ModelPlace },
): string {
  const key = nodeName(name);
  const known = entities.get(key);
  const description = descriptionOf(found.record, found.place);
  entities.set(key, {
    name: known?.name ?? name,
    type: known?.type ?? (cleanName(found.record['type']) || found.type || 'Entity'),
    description: known?.description || description,
    aliases: [],
    mentions: (known?.mentions ?? 0) + 1,
  });
  return known?.name ?? name;
}

function nameOf(record: Record<string, unknown>, { nameField }: ModelPlace): string | null {
  for (const field of nameField === null ? NAME_FIELDS : [nameField, ...NAME_FIELDS]) {
    const name = cleanName(ownValue(record, field));
    if (nodeName(name).trim() !== '') return name;
  }
  return null;
}

/** The description, or the plain fields as `key: value`, so that what the model found stays findable. */
function descriptionOf(record: Record<string, unknown>, { nameField }: ModelPlace): string {
  if (typeof record['description'] === 'string') return cleanText(record['description']);
  const parts = Object.entries(record).flatMap(([key, value]) => {
    if (NAME_FIELDS.includes(key) || key === nameField || key === 'type') return [];
    const plain = (Array.isArray(value) ? value : [value]).filter((one) =>
      ['string', 'number', 'boolean'].includes(typeof one),
    );
    return plain.length === 0 ? [] : [`${key}: ${plain.map(String).join(', ')}`];
  });
  return cleanText(parts.join('; '));
}

function distinct(relations: readonly ExtractedRelation[]): readonly ExtractedRelation[] {
  return [...new Map(relations.map((edge) => [`${edge.source}\n${edge.relation}\n${edge.target}`, edge])).values()];
}

/** `employees` → `Employee`: the type of the entries of a list field. */
function singular(field: string): string {
  const word = field.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  return word.charAt(0).toUpperCase() + word.slice(1);
}
