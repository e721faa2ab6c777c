import { idFor } from '../../kernel/ids.ts';
import { INTERNAL_RELATIONS, NODE_TYPES, RELATIONS } from '../index-rows.ts';
import type { MergedEdge, MergedNode } from './merge.ts';

/** Decides what of a merged graph a client is shown. Give it every node before the first edge. */
export type ShownGraph = ReturnType<typeof createShownGraph>;

/**
 * Left out: the facts of files of code (they are rows for the search of code), keywords (entities that every text gives as such: they help to find a text and say nothing in a picture),
 * internal edges, and `is_a` edges to a type that the majority of the mentions does not agree with. All of it stays in
 * the indexes.
 */
export function createShownGraph() {
  const hidden = new Set<string>();
  /** Entities whose texts disagree, with the node id of the type that won. */
  const types = new Map<string, string>();
  return {
    shows(node: MergedNode) {
      if (node.type === NODE_TYPES.codeModule) return false;
      if (node.type !== NODE_TYPES.entity) return true;
      if (node.properties['isKeyword'] === true) {
        hidden.add(node.id);
        return false;
      }
      const type = node.properties['entityType'];
      const isDisputed = node.evidence.some(({ properties }) => properties['entityType'] !== type);
      if (typeof type === 'string' && isDisputed) types.set(node.id, idFor('EntityType', type));
      return true;
    },
    showsEdge({ source, target, relation }: Pick<MergedEdge, 'source' | 'target' | 'relation'>) {
      if (INTERNAL_RELATIONS.has(relation) || hidden.has(source) || hidden.has(target)) return false;
      return relation !== RELATIONS.isA || (types.get(source) ?? target) === target;
    },
  };
}

/** A dataset's graph as clients see it: merged from committed evidence, page by page, never whole in memory. */
export interface VisibleGraph {
  nodes(signal?: AbortSignal): AsyncGenerator<readonly MergedNode[]>;
  edges(signal?: AbortSignal): AsyncGenerator<readonly MergedEdge[]>;
}
