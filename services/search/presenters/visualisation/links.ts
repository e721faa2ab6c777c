import { RELATIONS } from '../../../common/domain/index-rows.ts';
import { edgeId } from '../../../common/kernel/ids.ts';
import { NEUTRAL_WEIGHT } from '../../../common/records/improve/element-weights.ts';
import type { ViewDetails } from '../../views/view-details.ts';
import type { GraphView } from '../../views/view-graph.ts';
import { stageOf } from './nodes.ts';

/** A link of a graph view on the wire (search-recall.md §8.1). */
export interface ViewLink {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly weight: number | null;
  readonly all_weights: Readonly<Record<string, number>>;
  readonly relationship_type: string;
  readonly edge_info: Readonly<Record<string, unknown>>;
  readonly edge_class: 'structural' | 'semantic';
  readonly bundle_key: string;
  readonly source_stage: string;
  readonly target_stage: string;
}

const STRUCTURAL = new Set<string>([
  RELATIONS.contains,
  RELATIONS.isA,
  RELATIONS.isPartOf,
  RELATIONS.madeFrom,
  'part_of',
  'has_relationship',
  'summarized_in',
]);

export function edgeClassOf(relation: string): 'structural' | 'semantic' {
  return STRUCTURAL.has(relation) ? 'structural' : 'semantic';
}

export function presentLinks(view: GraphView, details: ViewDetails | null = null): readonly ViewLink[] {
  const stages = new Map(view.nodes.map(({ id, type }) => [id, stageOf(type)]));
  return view.edges.map((edge) => {
    const edgeClass = edgeClassOf(edge.relation);
    const sourceStage = stages.get(edge.source) ?? 'other';
    const targetStage = stages.get(edge.target) ?? 'other';
    return {
      source: edge.source,
      target: edge.target,
      relation: edge.relation,
      weight: edge.weight,
      all_weights: { weight: edge.weight },
      relationship_type: edge.relation,
      edge_info: details === null ? edge.properties : { ...edge.properties, ...storedFields(edge, details) },
      edge_class: edgeClass,
      bundle_key: `${sourceStage}|${targetStage}|${edgeClass}|${edge.relation}`,
      source_stage: sourceStage,
      target_stage: targetStage,
    };
  });
}

/** Presents the id by which search events name the edge, and what ratings say of it. */
function storedFields({ source, relation, target }: GraphView['edges'][number], { weights }: ViewDetails): object {
  const id = edgeId(source, relation, target);
  return { edge_object_id: id, feedback_weight: weights.get(id) ?? NEUTRAL_WEIGHT };
}
