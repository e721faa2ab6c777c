import type { MergedEdge, MergedNode } from '../../../domain/graph/merge.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { edgeProperties, labelsOf, nodeProperties, typeOf } from '../../cypher/view.ts';
import { edgeRef, refOf } from './evidence-rows.ts';
import { VIEW_KEY } from './print-query.ts';

/**
 * Labels, types and property names are never forgotten by a server and their number is limited (65,000 relationship
 * types), yet they come from texts and from clients' graph models: beyond so many, further ones are not made.
 */
export const MAX_NAMES = 10_000;

export interface KnownNames {
  /** Whether the name may become a label, relationship type or property key; it counts as made from then on. */
  readonly admits: (name: string) => boolean;
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

export function viewRef({ tenant, dataset }: DatasetScope, id: string): string {
  return refOf(tenant, dataset, id);
}

export function viewNode(scope: DatasetScope, node: MergedNode, { admits }: KnownNames): ViewNode {
  const ref = viewRef(scope, node.id);
  return { ref, labels: labelsOf(node.type, admits), properties: { ...nodeProperties(node, admits), [VIEW_KEY]: ref } };
}

export function viewEdge(scope: DatasetScope, edge: MergedEdge, { admits }: KnownNames): ViewEdge {
  const ref = edgeRef(edge);
  return {
    ref,
    source: viewRef(scope, edge.source),
    target: viewRef(scope, edge.target),
    type: typeOf(edge.relation, admits),
    properties: { ...edgeProperties(edge, admits), [VIEW_KEY]: ref },
  };
}
