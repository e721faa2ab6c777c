import type { MergedEdge, MergedNode } from '../../../domain/graph/merge.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { VIEW_KEY } from './cypher/translation.ts';
import { edgeRef, refOf } from './evidence-rows.ts';

/**
 * Labels, types and property names are never forgotten by a server and their number is limited (65,000 relationship
 * types), yet they come from texts and from clients' graph models: beyond so many, further ones are not made.
 */
export const MAX_NAMES = 10_000;

export interface KnownNames {
  /** Whether the name may become a label, relationship type or property key; it counts as made from then on. */
  admits(name: string): boolean;
}

export interface ViewNode {
  readonly ref: string;
  readonly labels: readonly string[];
  readonly properties: JsonObject;
}

interface ViewEdge {
  readonly ref: string;
  readonly source: string;
  readonly target: string;
  readonly type: string;
  readonly properties: JsonObject;
}

/** Type of relationships whose relation cannot be one; `relationship_name` says which it is. */
const OTHER_RELATION = 'related_to';

const SAFE_NAME = /^[\p{L}_][\p{L}\p{N}_ -]{0,62}$/u;
/** Labels that decide who may see a node are ours alone: a client's type must never become one. */
const RESERVED_LABEL = /^(D_|__|Engram)/i;

export function viewRef({ tenant, dataset }: DatasetScope, id: string): string {
  return refOf(tenant, dataset, id);
}

export function viewNode(scope: DatasetScope, node: MergedNode, names: KnownNames): ViewNode {
  const ref = viewRef(scope, node.id);
  const isLabel = SAFE_NAME.test(node.type) && !RESERVED_LABEL.test(node.type) && names.admits(node.type);
  return {
    ref,
    labels: isLabel ? [node.type] : [],
    properties: {
      ...storable(node.properties, names),
      id: node.id,
      name: node.name,
      type: node.type,
      ...(node.description !== '' && { description: node.description }),
      ...(node.aliases.length > 0 && { aliases: node.aliases }),
      ...(node.nodeSets.length > 0 && { node_sets: node.nodeSets }),
      mentions: node.mentions,
      [VIEW_KEY]: ref,
    },
  };
}

export function viewEdge(scope: DatasetScope, edge: MergedEdge, names: KnownNames): ViewEdge {
  const { source, relation, target, weight } = edge;
  const ref = edgeRef(edge);
  return {
    ref,
    source: viewRef(scope, source),
    target: viewRef(scope, target),
    type: SAFE_NAME.test(relation) && names.admits(relation) ? relation : OTHER_RELATION,
    properties: {
      ...storable(edge.properties, names),
      relationship_name: relation,
      source_node_id: source,
      target_node_id: target,
      weight,
      [VIEW_KEY]: ref,
    },
  };
}

/** A property holds a value or a list of values of one type; anything deeper is given as JSON text. */
function storable(properties: JsonObject, names: KnownNames): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || !SAFE_NAME.test(key) || key.startsWith('_') || !names.admits(key))
      continue;
    kept[key] = isStorable(value) ? value : JSON.stringify(value);
  }
  return kept;
}

function isStorable(value: Json): boolean {
  if (!Array.isArray(value)) return typeof value !== 'object';
  const types = new Set(value.map((entry: unknown) => typeof entry));
  return types.size <= 1 && !types.has('object');
}
