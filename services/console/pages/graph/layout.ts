import type Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import LayoutWorker from 'graphology-layout-forceatlas2/worker';

/** Edge attribute that the layout reads: how much an edge pulls. */
export const PULL = 'pull';

/** Positions come from a seed, so the same graph is drawn the same way each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

/**
 * A shape to begin with, in one pass over the edges: documents on a spiral, everything else between the neighbours that
 * were placed before it. From there the layout needs a few rounds where random positions need hundreds.
 */
export function placeByStructure(graph: Graph, anchors: readonly string[]): void {
  const random = seeded(42);
  const spread = 10 * Math.sqrt(graph.order);
  const placed = new Map<string, { readonly x: number; readonly y: number }>();
  const queue: string[] = [];
  const put = (node: string, x: number, y: number): void => {
    placed.set(node, { x, y });
    queue.push(node);
    graph.mergeNodeAttributes(node, { x, y });
  };
  for (const [index, anchor] of anchors.entries()) {
    // A sunflower: equal areas, whatever the number.
    const radius = spread * Math.sqrt((index + 0.5) / anchors.length);
    put(anchor, radius * Math.cos(index * 2.39996), radius * Math.sin(index * 2.39996));
  }
  const around = (node: string): void => {
    let [x, y, count] = [0, 0, 0];
    graph.forEachEdge(node, (_edge, attributes, source, target) => {
      const position = placed.get(source === node ? target : source);
      if (position === undefined || (attributes[PULL] as number) < 1) return;
      x += position.x;
      y += position.y;
      count += 1;
    });
    const jitter = spread / (count === 0 ? 1 : 12);
    const angle = random() * 2 * Math.PI;
    const distance = jitter * Math.sqrt(random());
    put(node, x / (count || 1) + distance * Math.cos(angle), y / (count || 1) + distance * Math.sin(angle));
  };
  const reach = (): void => {
    for (let next = 0; next < queue.length; next += 1) {
      graph.forEachEdge(queue[next], (_edge, attributes, source, target) => {
        const other = source === queue[next] ? target : source;
        if ((attributes[PULL] as number) >= 1 && !placed.has(other)) around(other);
      });
    }
  };
  reach();
  graph.forEachNode((node) => {
    if (placed.has(node)) return;
    around(node);
    reach();
  });
}

/**
 * Lets the nodes find their places in a worker while the page is in use; `onSettled` is called when they stay. The worker
 * moves a copy: the graph that is drawn takes its positions over only as often as the machine can draw them. Returns what
 * ends it early.
 */
export function arrange(graph: Graph, onSettled: () => void): () => void {
  if (graph.order < 2) {
    onSettled();
    return () => undefined;
  }
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: graph.order > 300,
    slowDown: 3,
    gravity: 0.4,
    scalingRatio: 12,
  };
  if (!isLarge(graph)) forceAtlas2.assign(graph, { iterations: 40, getEdgeWeight: PULL, settings });
  const copy = graph.copy();
  const layout = new LayoutWorker(copy, { getEdgeWeight: PULL, settings });
  const end = performance.now() + layoutMs(graph.order);
  let isStopped = false;
  const step = (): void => {
    if (isStopped) return;
    const start = performance.now();
    const isOver = start > end;
    if (isOver) layout.kill();
    graph.updateEachNodeAttributes(
      (node, attributes) => {
        const { x, y } = copy.getNodeAttributes(node);
        return { ...attributes, x, y };
      },
      { attributes: ['x', 'y'] },
    );
    if (isOver) {
      onSettled();
      return;
    }
    // The second frame begins when the first is drawn: two thirds of the time stay free for the reader.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => setTimeout(step, Math.max(30, 2 * (performance.now() - start)))),
    );
  };
  layout.start();
  requestAnimationFrame(() => setTimeout(step, 100));
  return () => {
    isStopped = true;
    layout.kill();
  };
}

/** A graph whose edges take long to draw. */
export function isLarge(graph: Graph): boolean {
  return graph.order > 1500;
}

/** How long the layout may go on moving nodes, by the size of the graph. */
function layoutMs(nodes: number): number {
  return Math.min(10_000, 1500 + nodes * 2);
}
