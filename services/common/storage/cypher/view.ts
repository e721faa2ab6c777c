import type { MergedEdge, MergedNode } from '../../domain/graph/merge.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';

/** Whether a name from a text or a client may become a label, relationship type or property key. */
type Admits = (name: string) => boolean;

/** Strongest evidence that a node or edge is merged from. */
export const EVIDENCE_PER_ELEMENT = 64;

/** Type of relationships whose relation cannot be one; `relationship_name` says which it is. */
const OTHER_RELATION = 'related_to';
const SAFE_NAME = /^[\p{L}_][\p{L}\p{N}_ -]{0,62}$/u;
/** Labels that decide on Neo4j who may see a node are ours alone: a client's type must never become one. */
const RESERVED_LABEL = /^(D_|__|Engram)/i;

export function labelsOf(type: string, admits: Admits): readonly string[] {
  return SAFE_NAME.test(type) && !RESERVED_LABEL.test(type) && admits(type) ? [type] : [];
}

export function typeOf(relation: string, admits: Admits): string {
  return SAFE_NAME.test(relation) && admits(relation) ? relation : OTHER_RELATION;
}

export function nodeProperties(node: MergedNode, admits: Admits): JsonObject {
  return {
    ...storable(node.properties, admits),
    id: node.id,
    name: node.name,
    type: node.type,
    ...(node.description !== '' && { description: node.description }),
    ...(node.aliases.length > 0 && { aliases: node.aliases }),
    ...(node.nodeSets.length > 0 && { node_sets: node.nodeSets }),
    mentions: node.mentions,
  };
}

export function edgeProperties(
  { source, target, relation, weight, properties }: MergedEdge,
  admits: Admits,
): JsonObject {
  return {
    ...storable(properties, admits),
    relationship_name: relation,
    source_node_id: source,
    target_node_id: target,
    weight,
  };
}

/** A property holds a value or a list of values of one type; anything deeper is given as JSON text. */
function storable(properties: JsonObject, admits: Admits): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || !SAFE_NAME.test(key) || key.startsWith('_') || !admits(key)) continue;
    kept[key] = isStorable(value) ? value : JSON.stringify(value);
  }
  return kept;
}

function isStorable(value: Json): boolean {
  if (!Array.isArray(value)) return typeof value !== 'object';
  const types = new Set(value.map((entry: unknown) => typeof entry));
  return types.size <= 1 && !types.has('object');
}
