import Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import { linearRandom } from '../../../common/kernel/random.ts';
import { folded, groupNodes, type Network } from './communities.ts';

export interface Place {
  x: number;
  y: number;
}

/** Nodes that belong together, drawn within a circle. */
export interface Cluster extends Place {
  readonly members: readonly number[];
  readonly radius: number;
}

/** Equal areas around the middle, like the seeds of a sunflower. */
function sunflower(index: number, count: number, radius: number): Place {
  const distance = radius * Math.sqrt((index + 0.5) / count);
  return { x: distance * Math.cos(index * 2.39996), y: distance * Math.sin(index * 2.39996) };
}

/**
 * A shape to begin with, in one pass over the edges: each node near the neighbours that were placed before it. From there
 * the forces need a few rounds where random positions need hundreds.
 */
function placeByStructure(network: Network, known: ReadonlyMap<number, Place>): Place[] {
  const { order, source, target, weight } = network;
  const random = linearRandom(42);
  const spread = 10 * Math.sqrt(order);
  const neighbours: number[][] = Array.from({ length: order }, () => []);
  for (let at = 0; at < source.length; at += 1) {
    if ((weight[at] as number) < 0.5) continue;
    neighbours[source[at] as number]?.push(target[at] as number);
    neighbours[target[at] as number]?.push(source[at] as number);
  }
  const places: (Place | undefined)[] = Array.from({ length: order }, (_, node) => known.get(node));
  const around = (node: number): Place => {
    const placed = (neighbours[node] ?? []).flatMap((other) => places[other] ?? []);
    const angle = random() * 2 * Math.PI;
    const distance = (spread / (placed.length === 0 ? 1 : 12)) * Math.sqrt(random());
    const sum = placed.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 });
    return {
      x: sum.x / (placed.length || 1) + distance * Math.cos(angle),
      y: sum.y / (placed.length || 1) + distance * Math.sin(angle),
    };
  };
  // The best connected first: they are the hubs that others gather around.
  const queue = [...known.keys()];
  const hubs = [...neighbours.keys()].sort(
    (a, b) => (neighbours[b]?.length ?? 0) - (neighbours[a]?.length ?? 0) || a - b,
  );
  for (const hub of hubs) {
    if (places[hub] === undefined) {
      places[hub] = around(hub);
      queue.push(hub);
    }
    for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
      for (const other of neighbours[node] ?? []) {
        if (places[other] !== undefined) continue;
        places[other] = around(other);
        queue.push(other);
      }
    }
  }
  return places.map((place) => place ?? { x: 0, y: 0 });
}

/** Lets the nodes push and pull each other; yields the positions after each part of the way. */
export function* relax(
  network: Network,
  rounds: number,
  known: ReadonlyMap<number, Place> = new Map(),
): Generator<readonly Place[]> {
  const graph = new Graph({ multi: true });
  for (const [node, { x, y }] of placeByStructure(network, known).entries()) graph.addNode(node, { x, y });
  for (let at = 0; at < network.source.length; at += 1) {
    graph.addEdge(network.source[at], network.target[at], { weight: network.weight[at] });
  }
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    // From here on the approximation takes less time than all pairs; its theta is that of Gephi.
    barnesHutOptimize: network.order > 150,
    barnesHutTheta: 1.2,
    slowDown: 3,
    gravity: 0.4,
    scalingRatio: 12,
  };
  const step = network.order > 400 ? 10 : 30;
  const places = () => graph.mapNodes((_node, { x, y }) => ({ x: x as number, y: y as number }));
  yield places();
  for (let done = 0; done < rounds; done += step) {
    const iterations = Math.min(step, rounds - done);
    forceAtlas2.assign(graph, { iterations, getEdgeWeight: 'weight', settings });
    yield places();
  }
}

/** Length for each node in a cluster, of which there is one for each node of its area. */
const UNIT = 10;

/** Divides a large graph into clusters, and puts those next to each other that have most to do with each other. */
export function placeClusters(network: Network): readonly Cluster[] {
  const groups = groupNodes(network);
  const labels = new Int32Array(network.order);
  for (const [number, members] of groups.entries()) for (const node of members) labels[node] = number;
  const between = folded(network, labels, groups.length);
  const kept = between.source.flatMap((from, at) => (from === between.target[at] ? [] : [at]));
  const joined = {
    order: groups.length,
    source: kept.map((at) => between.source[at] as number),
    target: kept.map((at) => between.target[at] as number),
    weight: kept.map((at) => Math.log1p(between.weight[at] as number)),
  };
  const clusters = groups.map((members) => ({ members, x: 0, y: 0, radius: UNIT * Math.sqrt(members.length) }));
  let places: readonly Place[] = [];
  for (const next of relax(joined, 120)) places = next;
  const room = Math.sqrt(clusters.reduce((sum, { radius }) => sum + radius ** 2, 0) / 0.5);
  const distances = places.map(({ x, y }) => Math.hypot(x, y)).sort((a, b) => a - b);
  const scale = room / (distances[Math.floor(distances.length * 0.9)] || 1);
  for (const [at, cluster] of clusters.entries()) {
    cluster.x = (places[at]?.x ?? 0) * scale;
    cluster.y = (places[at]?.y ?? 0) * scale;
  }
  separate(clusters);
  return clusters;
}

const GAP = 1.12;
const SEPARATING_ROUNDS = 60;

/** Pushes circles apart that lie over each other, and draws all of them to the middle a little. */
function separate(clusters: readonly { x: number; y: number; readonly radius: number }[]): void {
  const widest = clusters.reduce((most, { radius }) => Math.max(most, radius), 0);
  const sorted = [...clusters];
  for (let round = 0; round < SEPARATING_ROUNDS; round += 1) {
    // The last rounds only push.
    const pull = round < SEPARATING_ROUNDS * 0.6 ? 0.985 : 1;
    for (const cluster of sorted) {
      cluster.x *= pull;
      cluster.y *= pull;
    }
    for (let push = 0; push < 2; push += 1) {
      sorted.sort((a, b) => a.x - b.x);
      for (const [at, a] of sorted.entries()) {
        for (let other = at + 1; other < sorted.length; other += 1) {
          const b = sorted[other] as (typeof sorted)[number];
          if (b.x - a.x >= (a.radius + widest) * GAP) break;
          const [dx, dy] = [b.x - a.x || 0.1 * (at + 1), b.y - a.y || 0.1];
          const least = (a.radius + b.radius) * GAP;
          if (Math.abs(dx) >= least || Math.abs(dy) >= least) continue;
          const distance = Math.hypot(dx, dy);
          if (distance >= least) continue;
          const shift = (least - distance) / distance / 2;
          a.x -= dx * shift;
          a.y -= dy * shift;
          b.x += dx * shift;
          b.y += dy * shift;
        }
      }
    }
  }
}

/** Positions of the members of a cluster before anything is known of them. */
export function fill({ members, x, y, radius }: Cluster): readonly Place[] {
  return members.map((_, index) => {
    const place = sunflower(index, members.length, radius);
    return { x: x + place.x, y: y + place.y };
  });
}

const ROUNDS_IN_CLUSTER = 40;

/** Arranges the members of a cluster by the edges between them, within its circle. */
export function arrangeCluster(network: Network, { x, y, radius }: Cluster): readonly Place[] {
  let places: readonly Place[] = [];
  for (const next of relax(network, ROUNDS_IN_CLUSTER)) places = next;
  const middle = { x: median(places.map((place) => place.x)), y: median(places.map((place) => place.y)) };
  const distances = places.map((place) => Math.hypot(place.x - middle.x, place.y - middle.y)).sort((a, b) => a - b);
  const reach = distances[Math.floor(distances.length * 0.95)] || 1;
  return places.map((place) => {
    const [dx, dy] = [place.x - middle.x, place.y - middle.y];
    const scale = radius / Math.max(reach, Math.hypot(dx, dy));
    return { x: x + dx * scale, y: y + dy * scale };
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
