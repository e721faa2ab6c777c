import type { MergedEdge, MergedNode } from '../domain/graph/merge.ts';
import { NODE_TYPES } from '../domain/index-rows.ts';
import { nodeName } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';

/** A node of the dataset graph on the wire (ingest.md §5.5): no nulls among the properties. */
export function presentNode(node: MergedNode): Readonly<Record<string, unknown>> {
  const properties: Record<string, Json> = {};
  if (node.description !== '') properties['description'] = node.description;
  if (node.aliases.length > 0) properties['aliases'] = node.aliases;
  for (const [key, value] of Object.entries(node.properties)) {
    if (value !== null && value !== undefined) properties[snakeCase(key)] = value;
  }
  if (node.nodeSets.length > 0) properties['belongs_to_set'] = node.nodeSets;
  return { id: node.id, label: labelOf(node), type: node.type, properties };
}

export function presentEdge(edge: MergedEdge): Readonly<Record<string, unknown>> {
  return { source: edge.source, target: edge.target, label: edge.relation };
}

/** Entities and their types show the stored spelling of the contract, lower case. */
function labelOf({ id, name, type }: MergedNode): string {
  if (name.trim() === '') return `${type}_${id}`;
  return type === NODE_TYPES.entity || type === NODE_TYPES.entityType ? nodeName(name) : name;
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
