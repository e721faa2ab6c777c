import { nodeName } from '../../../kernel/ids.ts';
import type { ExtractedEntity, ExtractedRelation } from '../../../ports/extractor.ts';
import { cleanName, cleanText, relationName } from './clean-text.ts';

export interface ModelGraph {
  readonly entities: readonly ExtractedEntity[];
  readonly relations: readonly ExtractedRelation[];
}

/** A model that loops must not flood the graph with one chunk. */
const MAX_NODES = 500;
const MAX_EDGES = 1000;

/** `{nodes, edges}` as the standard schema asks for it, also when it is part of a caller's model. */
export function isKnowledgeGraph(value: unknown): value is { readonly nodes: unknown[]; readonly edges: unknown[] } {
  const { nodes, edges } = (value ?? {}) as { nodes?: unknown; edges?: unknown };
  const isEdge = (edge: unknown) => typeof (edge as { source_node_id?: unknown } | null)?.source_node_id === 'string';
  return Array.isArray(nodes) && Array.isArray(edges) && edges.every(isEdge);
}

/** Edges to nodes the answer does not hold are dropped; of two nodes with one name the first stays. */
export function readKnowledgeGraph({
  nodes,
  edges,
}: {
  readonly nodes: readonly unknown[];
  readonly edges: readonly unknown[];
}): ModelGraph {
  const nameById = new Map<string, string>();
  const entities = new Map<string, ExtractedEntity>();
  for (const node of nodes.slice(0, MAX_NODES)) {
    const { id, name: given, label, type, description } = node as Record<string, unknown>;
    const name = cleanName(given) || cleanName(label) || cleanName(id);
    const key = nodeName(name);
    if (key.trim() === '') continue;
    nameById.set(String(id ?? name), entities.get(key)?.name ?? name);
    if (entities.has(key)) continue;
    const entity = { name, type: cleanName(type) || 'Concept', description: cleanText(description) };
    entities.set(key, { ...entity, aliases: [], mentions: 1 });
  }
  const relations = edges.slice(0, MAX_EDGES).flatMap((edge) => {
    const { source_node_id, target_node_id, relationship_name, description } = edge as Record<string, unknown>;
    const source = nameById.get(String(source_node_id));
    const target = nameById.get(String(target_node_id));
    const relation = relationName(relationship_name);
    if (source === undefined || target === undefined || source === target || relation === '') return [];
    return [{ source, target, relation, evidence: cleanText(description) }];
  });
  return { entities: [...entities.values()], relations };
}
