import { containment, RELATIONS } from '../../common/domain/index-rows.ts';
import type { EdgeEvidence, NeighbourOptions } from '../../common/storage/ports/graph-store.ts';
import type { NamedEntity } from './candidates.ts';
import type { LaneContext, LaneHit } from './lanes.ts';
import { personalisedPageRank, type WeightedEdge } from './ppr.ts';

/** A link from one passage to another through an entity that the query does not name. */
export interface PassageLink {
  readonly from: string;
  readonly to: string;
  readonly entityId: string;
  /** 0 to 1: grows with the specificity of the entity, and when one of the passages is about it. */
  readonly weight: number;
}

/** The graph of entities and passages around the passages of the first hop. */
export interface Neighbourhood {
  /** Entities of the passages of the first hop. */
  readonly mentions: readonly EdgeEvidence[];
  readonly links: readonly PassageLink[];
  readonly edges: readonly WeightedEdge[];
}

interface Appearance {
  readonly chunkId: string;
  readonly isSubject: boolean;
}

/** Factor of the limit that is taken as a hub's number of passages, which is unknown. */
const HUB_FACTOR = 4;

/**
 * Reads the second hop: the entities of the seed passages, and the passages that share them. Two look-ups, bounded by
 * seeds × entities and entities × passages, in one trip where the store is far.
 */
export async function neighbourhood(
  context: LaneContext,
  seeds: readonly string[],
  named: readonly NamedEntity[],
  rowCount: number,
): Promise<Neighbourhood> {
  const { passagesPerEntity } = context.settings;
  if (seeds.length === 0) return { mentions: [], links: [], edges: [] };
  const { first, arriving } = await firstHop(context, seeds);
  const known = new Set(named.map((entity) => entity.entityId));
  const bridges = [...new Set(first.map((edge) => edge.target))].filter((id) => !known.has(id));
  if (bridges.length === 0) return { mentions: first, links: [], edges: weighted(first) };
  const second = await arriving(bridges);
  const appearances = byEntity(second);
  const links: PassageLink[] = [];
  /** Where the link between two passages is in the list. */
  const found = new Map<string, Map<string, number>>();
  for (const edge of first) {
    const places = appearances.get(edge.target);
    if (places === undefined) continue;
    const specificity = specificityOf(places.length, passagesPerEntity, rowCount);
    const isHub = places.length > passagesPerEntity;
    const fromSubject = containment(edge).isSubject;
    const ofSource = found.get(edge.source) ?? new Map<string, number>();
    found.set(edge.source, ofSource);
    for (const place of places) {
      if (place.chunkId === edge.source) continue;
      const direct = place.isSubject ? 1 : isHub ? 0 : fromSubject ? 1 : context.settings.sharedLinkWeight;
      const weight = specificity * direct;
      if (weight <= 0) continue;
      const link = { from: edge.source, to: place.chunkId, entityId: edge.target, weight };
      const at = ofSource.get(place.chunkId);
      if (at === undefined) ofSource.set(place.chunkId, links.push(link) - 1);
      else if (weight > (links[at] as PassageLink).weight) links[at] = link;
    }
  }
  return { mentions: first, links, edges: weighted([...first, ...second]) };
}

/** Answers show the edges of the first hop; of those that arrive at entities only the weight is needed. */
async function firstHop({ graph, scope, visibility, settings, signal }: LaneContext, seeds: readonly string[]) {
  const limits = { leaving: settings.entitiesPerPassage, arriving: settings.passagesPerEntity + 1 };
  if (graph.pathsOver !== undefined && scope.withheld === undefined) {
    const found = await graph.pathsOver(scope, seeds, { relation: RELATIONS.contains, ...limits }, signal);
    const seen = await visibility.filter([...found.leaving, ...found.arriving]);
    const isSeen = new Set(seen);
    const arriving = async (ids: readonly string[]) => {
      const wanted = new Set(ids);
      return found.arriving.filter((edge) => wanted.has(edge.target) && isSeen.has(edge));
    };
    return { first: found.leaving.filter((edge) => isSeen.has(edge)), arriving };
  }
  const contained = async (ids: readonly string[], options: NeighbourOptions) =>
    visibility.filter(await graph.neighbours(scope, ids, { ...options, relations: [RELATIONS.contains] }, signal));
  return {
    first: await contained(seeds, { direction: 'out', limitPerNode: limits.leaving }),
    arriving: (entities: readonly string[]) =>
      contained(entities, { direction: 'in', limitPerNode: limits.arriving, withProperties: false }),
  };
}

function byEntity(edges: readonly EdgeEvidence[]): ReadonlyMap<string, readonly Appearance[]> {
  const places = new Map<string, Map<string, Appearance>>();
  for (const edge of edges) {
    const known = places.get(edge.target) ?? new Map<string, Appearance>();
    const isSubject = containment(edge).isSubject || known.get(edge.source)?.isSubject === true;
    known.set(edge.source, { chunkId: edge.source, isSubject });
    places.set(edge.target, known);
  }
  return new Map([...places].map(([entity, known]) => [entity, [...known.values()]]));
}

/** Returns 1 for an entity of a single passage, towards 0 for one of all passages. */
function specificityOf(appearances: number, limit: number, rowCount: number): number {
  const frequency = appearances > limit ? limit * HUB_FACTOR : appearances;
  return Math.min(1, Math.log(1 + rowCount / Math.max(1, frequency)) / Math.log(1 + Math.max(1, rowCount)));
}

function weighted(edges: readonly EdgeEvidence[]): readonly WeightedEdge[] {
  return edges.map((edge) => ({
    source: edge.source,
    target: edge.target,
    weight: 1 + Math.log(containment(edge).mentions),
  }));
}

/** Weight of passages as seeds of the walk, relative to the entities that the query names (HippoRAG 2). */
const PASSAGE_SEED_WEIGHT = 0.05;
/** Coarse, because only the order of the first passages matters and the work grows with its inverse. */
const WALK_EPSILON = 1e-4;

/**
 * Ranks passages by personalised PageRank from the entities of the query and, weakly, from the passages of the first hop.
 * Empty when the query names no entity, since the walk would only repeat the first hop.
 */
export function graphHits(
  edges: readonly WeightedEdge[],
  named: readonly NamedEntity[],
  passages: readonly LaneHit[],
  limit: number,
): readonly LaneHit[] {
  if (named.length === 0) return [];
  const seeds = new Map<string, number>();
  for (const entity of named) seeds.set(entity.entityId, entity.information / Math.max(1, entity.chunks.size));
  const top = Math.max(...passages.map((passage) => passage.score), Number.MIN_VALUE);
  for (const passage of passages) seeds.set(passage.id, (PASSAGE_SEED_WEIGHT * passage.score) / top);
  const entityEdges = named.flatMap((entity) =>
    [...entity.chunks.keys()].map((chunk) => ({ source: chunk, target: entity.entityId, weight: 1 })),
  );
  const isPassage = new Set([...edges, ...entityEdges].map((edge) => edge.source));
  return [...personalisedPageRank([...edges, ...entityEdges], seeds, { epsilon: WALK_EPSILON })]
    .filter(([id]) => isPassage.has(id))
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
