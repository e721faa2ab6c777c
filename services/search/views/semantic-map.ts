import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import { seededRandom } from '../../common/kernel/random.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { IndexKind } from '../../common/storage/ports/index-entry.ts';
import type { VectorIndex } from '../../common/storage/ports/vector-index.ts';
import type { GraphView } from './view-graph.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Nodes on a plane, in groups of like meaning, with those that are most like each. */
interface SemanticMap {
  readonly positions: ReadonlyMap<string, Point>;
  readonly clusters: readonly { readonly label: string; readonly nodes: readonly string[] }[];
  readonly neighbours: ReadonlyMap<string, readonly string[]>;
}

type Nodes = GraphView['nodes'];

const MAX_NODES = 2000;
const SEED = 42;
const KINDS: ReadonlyMap<string, IndexKind> = new Map<string, IndexKind>([
  [NODE_TYPES.chunk, 'chunk'],
  [NODE_TYPES.summary, 'summary'],
  [NODE_TYPES.entity, 'entity'],
]);
const NEIGHBOURS = 5;
/** With fewer nodes two principal components show as much. */
const LEAST_FOR_UMAP = 16;
const UMAP_NEIGHBOURS = 9;
const UMAP_EPOCHS = 50;
const RING = 1.15;
const JITTER = 0.03;
const SEPARATION = 0.02;

/** Lays the nodes of a view out by their vectors (search-recall.md §8.2). Null: none has a vector. */
export async function semanticMap(
  vectors: Pick<VectorIndex, 'fetch'>,
  scope: DatasetScope,
  view: Pick<GraphView, 'nodes' | 'edges'>,
): Promise<SemanticMap | null> {
  const random = seededRandom(SEED);
  const nodes = sampled(view.nodes, random);
  const found = await readVectors(vectors, scope, nodes);
  const ids = nodes.map(({ id }) => id).filter((id) => found.has(id));
  const rows = ids.map((id) => found.get(id) ?? new Float32Array());
  if (rows.length === 0) return null;
  const near = neighboursIn(view.edges);
  const group = await kMeans(rows, random);
  const alike = await mostAlike(rows);
  const plane = rows.length < LEAST_FOR_UMAP ? await project(rows) : await laidOut(rows, alike, random);
  const positions = new Map(plane.map((point, at) => [ids[at] ?? '', point]));
  const groupOf = new Map(ids.map((id, at) => [id, group[at] ?? 0]));
  for (const [index, { id }] of nodes.filter(({ id }) => !found.has(id)).entries()) {
    const beside = (near.get(id) ?? []).filter((other) => found.has(other));
    positions.set(
      id,
      besidePoint(
        beside.flatMap((other) => positions.get(other) ?? []),
        { index, random },
      ),
    );
    const most = mostFrequent(beside.flatMap((other) => groupOf.get(other) ?? []));
    if (most !== null) groupOf.set(id, most);
  }
  return {
    positions: separated(positions),
    clusters: clustersOf(nodes, groupOf, near),
    neighbours: new Map(
      alike.map((others, at) => [ids[at] ?? '', others.slice(0, NEIGHBOURS).flatMap(({ index }) => ids[index] ?? [])]),
    ),
  };
}

/** Returns the nodes by id; of very many, a random part that is always the same. */
function sampled(nodes: Nodes, random: () => number): Nodes {
  const sorted = nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (sorted.length <= MAX_NODES) return sorted;
  for (let at = 0; at < MAX_NODES; at += 1) {
    const other = at + Math.floor(random() * (sorted.length - at));
    const [one, two] = [sorted[at], sorted[other]];
    if (one !== undefined && two !== undefined) [sorted[at], sorted[other]] = [two, one];
  }
  return sorted.slice(0, MAX_NODES).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Reads the committed vector of each node that has one, at length 1. */
async function readVectors(
  vectors: Pick<VectorIndex, 'fetch'>,
  scope: DatasetScope,
  nodes: Nodes,
): Promise<ReadonlyMap<string, Float32Array>> {
  const origins = new Map(
    nodes.map(({ id, evidence }) => [id, new Set(evidence.map(({ item, generation }) => `${item} ${generation}`))]),
  );
  const found = new Map<string, Float32Array>();
  for (const [type, kind] of KINDS) {
    const ids = nodes.filter((node) => node.type === type).map(({ id }) => id);
    for (const slice of slices(ids, 500)) {
      for (const { id, item, generation, vector } of await vectors.fetch(scope, kind, slice)) {
        const length = Math.hypot(...vector);
        const isCommitted = origins.get(id)?.has(`${item} ${generation}`) ?? false;
        if (isCommitted && length > 0)
          found.set(
            id,
            vector.map((value) => value / length),
          );
      }
    }
  }
  return found;
}

/**
 * Lays vectors out by UMAP, so that those that are alike are near each other: of the ten most alike of 2,000 passages a third are
 * among the twenty nearest points, where two principal components have a twentieth. Takes half a second of processor time.
 */
async function laidOut(
  rows: readonly Float32Array[],
  alike: readonly (readonly Alike[])[],
  random: () => number,
): Promise<readonly Point[]> {
  const { UMAP } = await import('umap-js');
  const nNeighbors = Math.min(UMAP_NEIGHBOURS, rows.length - 1) + 1;
  const umap = new UMAP({ random, nComponents: 2, nNeighbors, nEpochs: UMAP_EPOCHS, negativeSampleRate: 3 });
  // Each row is the first of its own neighbours.
  umap.setPrecomputedKNN(
    alike.map((others, at) => [at, ...others.map(({ index }) => index)]),
    alike.map((others) => [0, ...others.map(({ likeness }) => Math.max(0, 1 - likeness))]),
  );
  const epochs = umap.initializeFit(rows.map((row) => [...row]));
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    umap.step();
    await yieldToOthers();
  }
  const points = umap.getEmbedding();
  const [xs, ys] = [stretched(points.map(([x = 0]) => x)), stretched(points.map(([, y = 0]) => y))];
  return rows.map((_, at) => ({ x: xs[at] ?? 0, y: ys[at] ?? 0 }));
}

/** Projects vectors on their two principal components, each stretched to −1 … 1. */
async function project(rows: readonly Float32Array[]): Promise<readonly Point[]> {
  const mean = meanOf(rows);
  const centred = rows.map((row) => row.map((value, at) => value - (mean[at] ?? 0)));
  const x = await component(centred);
  for (const [index, row] of centred.entries()) {
    for (let at = 0; at < row.length; at += 1) row[at] = (row[at] ?? 0) - (x.scores[index] ?? 0) * (x.axis[at] ?? 0);
  }
  const y = await component(centred);
  const [xs, ys] = [stretched(x.scores), stretched(y.scores)];
  return rows.map((_, at) => ({ x: xs[at] ?? 0, y: ys[at] ?? 0 }));
}

const ITERATIONS = 50;

/** Finds the axis on which the rows differ most, by power iteration; its largest value is positive. */
async function component(rows: readonly Float32Array[]) {
  const dimensions = rows[0]?.length ?? 0;
  let axis = new Float32Array(dimensions).map((_, at) => 1 / (at + 1));
  for (let round = 0; round < ITERATIONS; round += 1) {
    const next = new Float32Array(dimensions);
    for (const row of rows) {
      const score = dot(row, axis);
      for (let at = 0; at < dimensions; at += 1) next[at] = (next[at] ?? 0) + score * (row[at] ?? 0);
    }
    const length = Math.hypot(...next);
    if (length < 1e-12) break;
    axis = next.map((value) => value / length);
    if (round % 5 === 0) await yieldToOthers();
  }
  const largest = axis.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  if (largest < 0) axis = axis.map((value) => -value);
  return { axis, scores: rows.map((row) => dot(row, axis)) };
}

function stretched(values: readonly number[]): readonly number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return values.map((value) => (most - least < 1e-9 ? 0 : (2 * (value - least)) / (most - least) - 1));
}

/** Returns a place in the middle of others, or on a ring around everything. */
function besidePoint(
  others: readonly Point[],
  { index, random }: { readonly index: number; readonly random: () => number },
): Point {
  if (others.length === 0) return { x: RING * Math.cos(index * 2.4), y: RING * Math.sin(index * 2.4) };
  const middle = (axis: 'x' | 'y') => others.reduce((sum, point) => sum + point[axis], 0) / others.length;
  const jitter = () => (random() * 2 - 1) * JITTER;
  return { x: middle('x') + jitter(), y: middle('y') + jitter() };
}

/** Moves points away from a place that is taken, on a spiral. */
function separated(points: ReadonlyMap<string, Point>): ReadonlyMap<string, Point> {
  const taken = new Set<string>();
  const cell = ({ x, y }: Point) => `${Math.round(x / SEPARATION)} ${Math.round(y / SEPARATION)}`;
  const moved = new Map<string, Point>();
  for (const [id, { x, y }] of points) {
    let place = { x, y };
    for (let step = 1; taken.has(cell(place)); step += 1) {
      const radius = SEPARATION * Math.sqrt(step);
      place = { x: x + radius * Math.cos(step * 2.4), y: y + radius * Math.sin(step * 2.4) };
    }
    taken.add(cell(place));
    moved.set(id, place);
  }
  return moved;
}

const ROUNDS = 25;

/** Returns the group of each row. */
async function kMeans(rows: readonly Float32Array[], random: () => number): Promise<readonly number[]> {
  const k = Math.min(rows.length, 12, Math.max(2, Math.round(Math.sqrt(rows.length / 2))));
  const first = rows[Math.floor(random() * rows.length)] ?? new Float32Array();
  const centres = [first];
  const nearest = rows.map((row) => dot(row, first));
  while (centres.length < k) {
    // The row that is least like every centre.
    const next = rows[nearest.indexOf(Math.min(...nearest))] ?? first;
    centres.push(next);
    for (const [at, row] of rows.entries()) nearest[at] = Math.max(nearest[at] ?? -1, dot(row, next));
  }
  let groups: readonly number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = groups;
    groups = rows.map((row) => {
      const likeness = centres.map((centre) => dot(row, centre));
      return likeness.indexOf(Math.max(...likeness));
    });
    if (groups.every((group, at) => group === before[at])) break;
    for (const index of centres.keys()) {
      const members = rows.filter((_, at) => groups[at] === index);
      const mean = meanOf(members);
      const length = Math.hypot(...mean);
      if (members.length > 0 && length > 0) centres[index] = mean.map((value) => value / length);
    }
    await yieldToOthers();
  }
  return groups;
}

function clustersOf(
  nodes: Nodes,
  groupOf: ReadonlyMap<string, number>,
  near: ReadonlyMap<string, readonly string[]>,
): SemanticMap['clusters'] {
  const degree = ({ id }: Nodes[number]) => near.get(id)?.length ?? 0;
  const groups = Map.groupBy(
    nodes.filter(({ id }) => groupOf.has(id)),
    ({ id }) => groupOf.get(id) ?? 0,
  );
  return [...groups.values()]
    .toSorted((a, b) => b.length - a.length)
    .map((members) => {
      const entities = members.filter(({ type }) => type === NODE_TYPES.entity);
      const names = entities.toSorted((a, b) => degree(b) - degree(a)).map(({ name }) => name.slice(0, 40));
      const label = names.slice(0, 3).join(', ') || (mostFrequent(members.map(({ type }) => type)) ?? '');
      return { label, nodes: members.map(({ id }) => id) };
    });
}

interface Alike {
  readonly index: number;
  /** Cosine. */
  readonly likeness: number;
}

/** Returns the rows that are most like each, best first. */
async function mostAlike(rows: readonly Float32Array[]): Promise<readonly (readonly Alike[])[]> {
  const alike: (readonly Alike[])[] = [];
  for (const [at, row] of rows.entries()) {
    const likeness = rows.map((other, index) => (index === at ? -2 : dot(row, other)));
    const best: Alike[] = [];
    while (best.length < Math.min(UMAP_NEIGHBOURS, rows.length - 1)) {
      const index = likeness.indexOf(Math.max(...likeness));
      best.push({ index, likeness: likeness[index] ?? 0 });
      likeness[index] = -2;
    }
    alike.push(best);
    if (at % 50 === 0) await yieldToOthers();
  }
  return alike;
}

function neighboursIn(edges: GraphView['edges']): ReadonlyMap<string, readonly string[]> {
  const near = new Map<string, string[]>();
  const add = (id: string, other: string) => {
    const known = near.get(id);
    if (known === undefined) near.set(id, [other]);
    else known.push(other);
  };
  for (const { source, target } of edges) {
    add(source, target);
    add(target, source);
  }
  return near;
}

function meanOf(rows: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(rows[0]?.length ?? 0);
  for (const row of rows) for (let at = 0; at < mean.length; at += 1) mean[at] = (mean[at] ?? 0) + (row[at] ?? 0);
  return mean.map((value) => value / rows.length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

function mostFrequent<Value>(values: readonly Value[]): Value | null {
  const counts = [...Map.groupBy(values, (value) => value)].toSorted((a, b) => b[1].length - a[1].length);
  return counts[0]?.[0] ?? null;
}
