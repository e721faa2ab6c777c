/** An edge of an undirected weighted graph; parallel edges add up. */
export interface WeightedEdge {
  readonly source: string;
  readonly target: string;
  readonly weight: number;
}

interface PageRankOptions {
  /** Probability of following an edge instead of returning to the seeds; 0.5 as in HippoRAG 2. */
  readonly damping?: number;
  /** A node is not pushed when its residual is below epsilon × degree: bounds the work by 1 / (epsilon · (1 − damping)). */
  readonly epsilon?: number;
}

/**
 * Computes personalised PageRank by forward push (Andersen, Chung and Lang 2006) on a graph in memory. Mass that was not
 * pushed is lost, so values are lower bounds; only their order is used. Seeds without edges keep their mass.
 */
export function personalisedPageRank(
  edges: readonly WeightedEdge[],
  seeds: ReadonlyMap<string, number>,
  options: PageRankOptions = {},
): ReadonlyMap<string, number> {
  const damping = options.damping ?? 0.5;
  const epsilon = options.epsilon ?? 1e-5;
  const mass = new Map<string, number>();
  let total = 0;
  for (const weight of seeds.values()) if (weight > 0) total += weight;
  if (total === 0) return mass;
  const placeOf = readPlaces(edges);
  const queue: Place[] = [];
  for (const [id, weight] of seeds) {
    if (weight <= 0) continue;
    const seed = placeOf(id);
    seed.residual = weight / total;
    seed.isQueued = true;
    queue.push(seed);
  }
  for (let head = 0; head < queue.length; head++) {
    const place = queue[head] as Place;
    const { id, degree, residual } = place;
    place.isQueued = false;
    place.residual = 0;
    mass.set(id, (mass.get(id) ?? 0) + (degree === 0 ? residual : (1 - damping) * residual));
    for (const [next, weight] of place.neighbours) {
      next.residual += (damping * residual * weight) / degree;
      if (next.residual < epsilon * next.degree || next.isQueued) continue;
      queue.push(next);
      next.isQueued = true;
    }
  }
  return mass;
}

/** A node with what the walk knows of it: to look each up by id for each step would take longer than the walk. */
interface Place {
  readonly id: string;
  readonly neighbours: Map<Place, number>;
  degree: number;
  residual: number;
  isQueued: boolean;
}

/** Returns what gives the node of an id. */
function readPlaces(edges: readonly WeightedEdge[]): (id: string) => Place {
  const places = new Map<string, Place>();
  const placeOf = (id: string): Place => {
    const known = places.get(id);
    if (known !== undefined) return known;
    const made = { id, neighbours: new Map<Place, number>(), degree: 0, residual: 0, isQueued: false };
    places.set(id, made);
    return made;
  };
  const add = (from: Place, to: Place, weight: number) => {
    from.neighbours.set(to, (from.neighbours.get(to) ?? 0) + weight);
    from.degree += weight;
  };
  for (const { source, target, weight } of edges) {
    if (weight <= 0 || source === target) continue;
    const [one, other] = [placeOf(source), placeOf(target)];
    add(one, other, weight);
    add(other, one, weight);
  }
  return placeOf;
}
