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
  const { neighbours, degree } = adjacency(edges);
  const mass = new Map<string, number>();
  const residual = new Map<string, number>();
  let total = 0;
  for (const weight of seeds.values()) if (weight > 0) total += weight;
  if (total === 0) return mass;
  const queue: string[] = [];
  for (const [id, weight] of seeds) {
    if (weight <= 0) continue;
    residual.set(id, weight / total);
    queue.push(id);
  }
  const queued = new Set(queue);
  for (let head = 0; head < queue.length; head++) {
    const id = queue[head] as string;
    queued.delete(id);
    const pushed = residual.get(id) ?? 0;
    residual.set(id, 0);
    const strength = degree.get(id) ?? 0;
    mass.set(id, (mass.get(id) ?? 0) + (strength === 0 ? pushed : (1 - damping) * pushed));
    for (const [next, weight] of neighbours.get(id) ?? []) {
      const grown = (residual.get(next) ?? 0) + (damping * pushed * weight) / strength;
      residual.set(next, grown);
      if (grown < epsilon * (degree.get(next) ?? 1) || queued.has(next)) continue;
      queue.push(next);
      queued.add(next);
    }
  }
  return mass;
}

function adjacency(edges: readonly WeightedEdge[]) {
  const neighbours = new Map<string, Map<string, number>>();
  const degree = new Map<string, number>();
  const add = (from: string, to: string, weight: number) => {
    const known = neighbours.get(from) ?? new Map<string, number>();
    known.set(to, (known.get(to) ?? 0) + weight);
    neighbours.set(from, known);
    degree.set(from, (degree.get(from) ?? 0) + weight);
  };
  for (const { source, target, weight } of edges) {
    if (weight <= 0 || source === target) continue;
    add(source, target, weight);
    add(target, source, weight);
  }
  return { neighbours, degree };
}
