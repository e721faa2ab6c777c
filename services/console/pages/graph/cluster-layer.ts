import type Sigma from 'sigma';
import type { Cluster } from './layout.ts';
import type { GraphView, Shown } from './view-model.ts';

/** Numbers of the nodes at the ends of each link. */
export interface Ends {
  readonly source: Int32Array;
  readonly target: Int32Array;
}

export interface Inks {
  readonly ground: string;
  readonly text: string;
  readonly edge: string;
  readonly faded: string;
  readonly accent: string;
}

export interface ClusterLayer {
  /** The part of the plane that the clusters take. */
  readonly frame: { x: [number, number]; y: [number, number] };
  filter(shown: Shown): void;
  paint(inks: Inks): void;
  /** Whether clusters are to be told apart, and their nodes are not. */
  isFar(): boolean;
  /** Goes near the cluster at a point; false when there is none, or it fills the screen already. */
  open(point: { readonly x: number; readonly y: number }): boolean;
}

interface ClusterLayerOptions {
  readonly view: GraphView;
  readonly ends: Ends;
  readonly list: readonly Cluster[];
}

/** Lines between clusters that are drawn: more would hide everything. */
const MOST_LINES = 250;
/** Radius of a cluster on the screen from which its nodes have names of their own. */
const NEAR_PIXELS = 190;
/** Radius up to which the nodes are only dots. */
const FAR_PIXELS = 90;

/** Draws a large graph from afar: circles with a name, and lines where many edges go from one to the other. */
export function createClusterLayer(renderer: Sigma, { view, ends, list }: ClusterLayerOptions): ClusterLayer {
  // The types know only the style.
  renderer.createCanvasContext('clusters', { beforeLayer: 'edges' } as object);
  renderer.createCanvasContext('clusterNames', { afterLayer: 'labels', style: { pointerEvents: 'none' } } as object);
  renderer.resize(true);
  const names = list.map(({ members }) => nameOf(view, members));
  const clusterOf = new Int32Array(view.nodes.length);
  for (const [number, { members }] of list.entries()) for (const node of members) clusterOf[node] = number;
  const bySize = [...list.keys()].sort((a, b) => (list[b]?.members.length ?? 0) - (list[a]?.members.length ?? 0));
  let counts = new Int32Array(list.length);
  let lines: readonly Line[] = [];
  let inks: Inks | null = null;

  const place = ({ x, y, radius }: Cluster) => {
    const at = renderer.graphToViewport({ x, y });
    return { ...at, r: Math.abs(renderer.graphToViewport({ x: x + radius, y }).x - at.x) };
  };
  renderer.on('beforeRender', () => {
    const context = renderer.getCanvases()['clusters']?.getContext('2d');
    if (!context || inks === null) return;
    const { width, height } = renderer.getDimensions();
    context.clearRect(0, 0, width, height);
    const places = list.map(place);
    context.strokeStyle = inks.edge;
    context.globalAlpha = 0.6;
    for (const { from, to, weight } of lines) {
      const [a, b] = [places[from], places[to]];
      if (a === undefined || b === undefined || a.r > NEAR_PIXELS) continue;
      context.lineWidth = Math.log2(weight) / 2;
      context.beginPath();
      context.moveTo(a.x, a.y);
      context.lineTo(b.x, b.y);
      context.stroke();
    }
    context.globalAlpha = 1;
    for (const [number, { x, y, r }] of places.entries()) {
      if (counts[number] === 0 || x + r < 0 || y + r < 0 || x - r > width || y - r > height) continue;
      context.fillStyle = inks.ground;
      context.lineWidth = 1;
      context.beginPath();
      context.arc(x, y, r * 1.06, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  });
  renderer.on('afterRender', () => {
    const context = renderer.getCanvases()['clusterNames']?.getContext('2d');
    if (!context || inks === null) return;
    const { width, height } = renderer.getDimensions();
    context.clearRect(0, 0, width, height);
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = inks.ground;
    context.fillStyle = inks.text;
    const taken: Box[] = [];
    for (const number of bySize) {
      const cluster = list[number] as Cluster;
      const { x, y, r } = place(cluster);
      const isOutside = x + r < 0 || y + r < 0 || x - r > width || y - r > height;
      if (isOutside || r < 9 || r > NEAR_PIXELS || (counts[number] ?? 0) === 0) continue;
      const size = Math.min(17, Math.max(11, r / 4));
      context.font = `600 ${size}px system-ui, sans-serif`;
      const text = names[number] ?? '';
      const half = context.measureText(text).width / 2 + 4;
      const box = { left: x - half, right: x + half, top: y - size, bottom: y + size };
      if (taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
  });

  return {
    frame: {
      x: [Math.min(...list.map(({ x, radius }) => x - radius)), Math.max(...list.map(({ x, radius }) => x + radius))],
      y: [Math.min(...list.map(({ y, radius }) => y - radius)), Math.max(...list.map(({ y, radius }) => y + radius))],
    },
    filter(shown) {
      counts = new Int32Array(list.length);
      for (const [node, number] of clusterOf.entries()) {
        if (shown.nodes[node] === 1) counts[number] = (counts[number] ?? 0) + 1;
      }
      lines = linesBetween({ ends, clusterOf, shown, count: list.length });
    },
    paint(next) {
      inks = next;
    },
    isFar() {
      const { width, height } = renderer.getDimensions();
      const middle = list.map(place).filter(({ x, y, r }) => x > -r && y > -r && x < width + r && y < height + r);
      const radii = middle.map(({ r }) => r).sort((a, b) => b - a);
      return (radii[Math.floor(radii.length / 4)] ?? 0) < FAR_PIXELS;
    },
    open(point) {
      const found = list.find((cluster) => {
        const { x, y, r } = place(cluster);
        return r < NEAR_PIXELS && Math.hypot(point.x - x, point.y - y) < r;
      });
      if (found === undefined) return false;
      const { x, y } = renderer.viewportToFramedGraph(renderer.graphToViewport(found));
      const { width, height } = renderer.getDimensions();
      const ratio = (renderer.getCamera().ratio * place(found).r) / (Math.min(width, height) * 0.48);
      void renderer.getCamera().animate({ x, y, ratio }, { duration: 400 });
      return true;
    },
  };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;

interface Line {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

interface Between {
  readonly ends: Ends;
  readonly clusterOf: Int32Array;
  readonly shown: Shown;
  readonly count: number;
}

function linesBetween({ ends, clusterOf, shown, count }: Between): readonly Line[] {
  const weights = new Map<number, number>();
  for (const [at, source] of ends.source.entries()) {
    const target = ends.target[at] as number;
    if (source < 0 || target < 0 || shown.links[at] === 0) continue;
    if (shown.nodes[source] === 0 || shown.nodes[target] === 0) continue;
    const [from, to] = [clusterOf[source] as number, clusterOf[target] as number];
    if (from === to) continue;
    const key = Math.min(from, to) * count + Math.max(from, to);
    weights.set(key, (weights.get(key) ?? 0) + 1);
  }
  return [...weights]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_LINES)
    .filter(([, weight]) => weight > 1)
    .map(([key, weight]) => ({ from: Math.floor(key / count), to: key % count, weight }));
}

/** The best connected thing of a cluster; dates and numbers say least of what it is about. */
function nameOf({ nodes }: GraphView, members: readonly number[]): string {
  const score = (at: number): number => {
    const node = nodes[at];
    if (node === undefined) return 0;
    if (node.type === 'Entity')
      return /^(date|timestamp|quantity)$/i.test(node.entity_type ?? '') ? 0.5 : 1 + node.degree;
    return node.type === 'TextDocument' ? 1 : 0;
  };
  const best = members.reduce((a, b) => (score(b) > score(a) ? b : a), members[0] ?? 0);
  const name = nodes[best]?.name ?? '';
  return name.length > 26 ? `${name.slice(0, 25)}…` : name;
}
