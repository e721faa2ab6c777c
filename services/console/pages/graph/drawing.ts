import Graph from 'graphology';
import Sigma from 'sigma';
import { NodePointProgram } from 'sigma/rendering';
import { type ClusterLayer, createClusterLayer, type Ends, type Inks } from './cluster-layer.ts';
import type { Place } from './layout.ts';
import type { LayoutAnswer, LayoutRequest } from './layout-worker.ts';
import { source as workerSource } from './layout-worker.ts?worker';
import { type GraphNode, type GraphView, type Groups, isHub, type Shown } from './view-model.ts';

/** Colour of each group, for a light or a dark ground. */
interface Paint {
  readonly colours: ReadonlyMap<string, string>;
  readonly dark: boolean;
}

interface DrawingOptions {
  readonly groups: Groups;
  readonly paint: Paint;
  readonly shown: Shown;
  readonly selected?: string | null;
  /** Positions of nodes that were drawn before: what is added finds its place around them. */
  readonly known?: ReadonlyMap<string, Place>;
  onSelect(node: string | null): void;
  /** A double click on a node. */
  onExpand?(node: string): void;
  /** The layout has come to its end. */
  onSettled(): void;
}

export interface Drawing {
  filter(shown: Shown): void;
  select(node: string | null): void;
  /** Marks a way through the graph. */
  mark(nodes: readonly string[]): void;
  /** Brings a node to the middle of what `coveredPixels` at the right leave free. */
  focus(node: string, coveredPixels?: number): void;
  zoom(factor: number): void;
  /** Shows all of it. */
  fit(): void;
  repaint(paint: Paint): void;
  positions(): ReadonlyMap<string, Place>;
  /** The visible part, as a PNG. */
  picture(): Promise<Blob>;
  /** Stops the layout and gives the container back. */
  kill(): void;
}

/** A graph of more nodes is drawn by clusters from afar, and with the edges of what is in sight from near. */
const LARGE = 1200;
/** Edges of a large graph that are drawn at once. */
const MOST_EDGES = 1500;
/** Edges of a node whose labels are all written out. */
const MOST_LABELS = 12;

/** Draws a graph in the container; resolves when its first picture is there. */
export function draw(view: GraphView, container: HTMLElement, options: DrawingOptions): Promise<Drawing> {
  return new Promise((resolve) => {
    let drawing: ReturnType<typeof createDrawing> | undefined;
    const worker = startLayout(view, options, (answer) => {
      if (drawing === undefined) {
        drawing = createDrawing(view, container, { options, first: answer, stop: () => worker.terminate() });
        resolve(drawing);
      } else {
        drawing.move(answer);
      }
      if (answer.isDone) {
        worker.terminate();
        options.onSettled();
      }
    });
  });
}

function startLayout(view: GraphView, { known }: DrawingOptions, onAnswer: (answer: LayoutAnswer) => void): Worker {
  const url = URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => onAnswer(data);
  const places = new Map(view.nodes.map(({ id }, place) => [id, place]));
  const hubs = view.nodes.map(isHub);
  const isLarge = view.nodes.length > LARGE;
  const request = { source: [] as number[], target: [] as number[], weight: [] as number[] };
  for (const { source, target, edge_class: kind } of view.links) {
    const [from, to] = [places.get(source), places.get(target)];
    if (from === undefined || to === undefined) continue;
    // Every entity hangs on its type: as a force that would draw all of them into one star.
    const isOfHub = hubs[from] || hubs[to];
    if (isOfHub && isLarge) continue;
    request.source.push(from);
    request.target.push(to);
    request.weight.push(isOfHub ? 0.01 : kind === 'semantic' ? 2 : 1);
  }
  const before = view.nodes.flatMap(({ id }, place): [number, Place][] => {
    const position = known?.get(id);
    return position === undefined ? [] : [[place, position]];
  });
  worker.postMessage({
    ...request,
    order: view.nodes.length,
    isLarge,
    known: new Map(before),
  } satisfies LayoutRequest);
  return worker;
}

interface Start {
  readonly options: DrawingOptions;
  readonly first: LayoutAnswer;
  stop(): void;
}

function createDrawing(view: GraphView, container: HTMLElement, { options, first, stop }: Start) {
  const isLarge = view.nodes.length > LARGE;
  const ends = endsOf(view);
  const graph = buildGraph(view, options.groups, first);
  if (!isLarge) for (let link = 0; link < view.links.length; link += 1) addLink(graph, view, link);
  let { paint, shown } = options;
  let selected = options.selected ?? null;
  let hovered: string | null = null;
  let marked: ReadonlySet<string> = new Set();
  /** The links of a large graph that are drawn. */
  let wanted: ReadonlySet<number> | null = null;
  colour(graph, paint);
  const isNear = (node: string): boolean => {
    if (marked.size > 0) return marked.has(node);
    const centre = (isLarge ? null : hovered) ?? selected;
    return centre === null || node === centre || graph.areNeighbors(node, centre);
  };
  const renderer: Sigma = new Sigma(graph, container, {
    ...labelSettings(isLarge, paint),
    zIndex: true,
    minCameraRatio: isLarge ? 0.002 : 0.03,
    maxCameraRatio: 3,
    defaultEdgeType: 'arrow',
    renderEdgeLabels: true,
    // A change of this setting reads all nodes again: a large graph is seen from afar at first.
    renderLabels: !isLarge,
    hideLabelsOnMove: isLarge,
    nodeProgramClasses: isLarge ? { circle: NodePointProgram } : {},
    // The renderer hands copies out: they may be changed.
    nodeReducer: (node, data) => {
      const near = isNear(node);
      data['hidden'] = shown.nodes[data['at'] as number] === 0 && node !== selected && !marked.has(node);
      if (!near) {
        data['color'] = inks(paint).faded;
        data['label'] = '';
      }
      data['highlighted'] = node === selected;
      data['forceLabel'] = marked.has(node);
      data['zIndex'] = near ? 1 : 0;
      return data;
    },
    edgeReducer: (edge, data) => {
      const [source, target] = graph.extremities(edge) as [string, string];
      const centre = (isLarge ? null : hovered) ?? selected;
      const touches =
        marked.size > 0 ? marked.has(source) && marked.has(target) : source === centre || target === centre;
      const isQuiet = (marked.size > 0 || centre !== null) && !touches;
      const at = data['at'] as number;
      data['hidden'] = shown.links[at] === 0 || isQuiet || wanted?.has(at) === false;
      const isFact = data['isFact'] === true;
      data['color'] = touches && (isFact || marked.size > 0) ? inks(paint).accent : inks(paint).edge;
      if (touches) data['size'] = isFact ? 2 : 1.2;
      // The renderer makes them thicker the nearer one comes.
      if (isLarge) data['size'] *= Math.sqrt(renderer.getCamera().ratio);
      // Structural edges have labels only around a chosen node with few edges.
      const isFew = touches && (marked.size > 0 || graph.degree(centre) <= MOST_LABELS);
      if (!isFew && !isFact) data['label'] = null;
      data['forceLabel'] = isFew;
      return data;
    },
  });
  const clusters =
    first.clusters === undefined ? null : createClusterLayer(renderer, { view, ends, list: first.clusters });
  clusters?.filter(shown);
  clusters?.paint(inks(paint));
  keepFrame(renderer, graph, clusters);

  // The renderer follows the window alone: the place of the picture changes with what is beside it, too.
  const place = new ResizeObserver(() => {
    const { width, height } = renderer.getDimensions();
    if (container.offsetWidth !== width || container.offsetHeight !== height) renderer.scheduleRefresh();
  });
  place.observe(container);

  let refreshing: ReturnType<typeof setTimeout> | undefined;
  /** The edges between what is in sight, and those of the selected node. */
  const showNear = (): void => {
    if (clusters === null) {
      renderer.refresh();
      return;
    }
    const isFar = clusters.isFar();
    if (renderer.getSetting('renderLabels') === isFar) renderer.setSetting('renderLabels', !isFar);
    wanted = linksInSight(renderer, { view, ends, shown, selected, marked, isFar });
    // Removing an edge costs as much as drawing all nodes: it is hidden until there are many.
    if (graph.size > 4 * MOST_EDGES) graph.clearEdges();
    for (const link of wanted) if (!graph.hasEdge(String(link))) addLink(graph, view, link);
    if (selected === null && marked.size === 0) renderer.refresh({ partialGraph: { edges: graph.edges() } });
    else renderer.refresh();
  };
  const showNearSoon = (): void => {
    clearTimeout(refreshing);
    refreshing = setTimeout(showNear, 150);
  };
  if (isLarge) {
    renderer.getCamera().on('updated', showNearSoon);
    showNearSoon();
  }

  const hover = (node: string | null): void => {
    hovered = node;
    container.style.cursor = node === null ? '' : 'pointer';
    if (!isLarge) renderer.refresh({ skipIndexation: true });
  };
  renderer.on('enterNode', ({ node }) => hover(node));
  renderer.on('leaveNode', () => hover(null));
  renderer.on('clickNode', ({ node }) => options.onSelect(node));
  renderer.on('clickStage', ({ event }) => {
    if (clusters?.open(event) !== true) options.onSelect(null);
  });
  renderer.on('doubleClickNode', ({ node, preventSigmaDefault }) => {
    if (options.onExpand === undefined) return;
    preventSigmaDefault();
    options.onExpand(node);
  });
  return {
    move({ x, y }: LayoutAnswer): void {
      graph.updateEachNodeAttributes(
        (_node, data) => {
          data['x'] = x[data['at'] as number];
          data['y'] = y[data['at'] as number];
          return data;
        },
        { attributes: ['x', 'y'] },
      );
      keepFrame(renderer, graph, clusters);
    },
    filter(next: Shown): void {
      shown = next;
      clusters?.filter(next);
      showNear();
      if (isLarge) renderer.refresh();
    },
    select(node: string | null): void {
      const wasQuiet = selected === null && marked.size === 0;
      selected = node;
      showNear();
      if (isLarge && node === null && !wasQuiet) renderer.refresh();
    },
    mark(nodes: readonly string[]): void {
      if (nodes.length === 0 && marked.size === 0) return;
      const wasQuiet = selected === null && marked.size === 0;
      marked = new Set(nodes);
      showNear();
      if (isLarge && !wasQuiet) renderer.refresh();
      if (nodes.length > 0) frame(renderer, nodes);
    },
    focus: (node: string, coveredPixels = 0) => focus(renderer, node, coveredPixels),
    zoom(factor: number): void {
      void renderer.getCamera().animatedZoom({ factor, duration: 200 });
    },
    fit(): void {
      void renderer.getCamera().animatedReset({ duration: 300 });
    },
    repaint(next: Paint): void {
      paint = next;
      clusters?.paint(inks(paint));
      colour(graph, paint);
      renderer.setSettings(labelSettings(isLarge, paint));
      renderer.refresh();
    },
    positions: () => new Map(graph.mapNodes((node, { x, y }) => [node, { x: x as number, y: y as number }])),
    picture: () => picture(renderer, container, paint),
    kill(): void {
      clearTimeout(refreshing);
      place.disconnect();
      stop();
      renderer.kill();
    },
  };
}

function endsOf({ nodes, links }: GraphView): Ends {
  const places = new Map(nodes.map(({ id }, place) => [id, place]));
  return {
    source: Int32Array.from(links, ({ source }) => places.get(source) ?? -1),
    target: Int32Array.from(links, ({ target }) => places.get(target) ?? -1),
  };
}

interface Sight {
  readonly view: GraphView;
  readonly ends: Ends;
  readonly shown: Shown;
  readonly selected: string | null;
  readonly marked: ReadonlySet<string>;
  /** Whether only edges that somebody asked for are drawn. */
  readonly isFar: boolean;
}

function linksInSight(renderer: Sigma, { view, ends, shown, selected, marked, isFar }: Sight): ReadonlySet<number> {
  const { width, height } = renderer.getDimensions();
  const [a, b] = [renderer.viewportToGraph({ x: 0, y: 0 }), renderer.viewportToGraph({ x: width, y: height })];
  const graph = renderer.getGraph();
  const isInSight = Uint8Array.from(view.nodes, ({ id }, at) => {
    if (shown.nodes[at] === 0) return 0;
    const { x, y } = graph.getNodeAttributes(id);
    return x > Math.min(a.x, b.x) && x < Math.max(a.x, b.x) && y > Math.min(a.y, b.y) && y < Math.max(a.y, b.y) ? 1 : 0;
  });
  const facts: number[] = [];
  const others: number[] = [];
  const asked: number[] = [];
  for (const [at, { source, target, edge_class: kind }] of view.links.entries()) {
    const [from, to] = [ends.source[at] as number, ends.target[at] as number];
    if (from < 0 || to < 0 || shown.links[at] === 0 || shown.nodes[from] === 0 || shown.nodes[to] === 0) continue;
    const isAsked = source === selected || target === selected || (marked.has(source) && marked.has(target));
    if (isAsked) asked.push(at);
    else if (!isFar && isInSight[from] === 1 && isInSight[to] === 1) (kind === 'semantic' ? facts : others).push(at);
  }
  const near =
    facts.length > MOST_EDGES ? [] : facts.length + others.length > MOST_EDGES ? facts : [...facts, ...others];
  return new Set([...asked.slice(0, MOST_EDGES), ...near]);
}

/** The picture stays where it is while nodes move; types far outside do not make the rest small. */
function keepFrame(renderer: Sigma, graph: Graph, clusters: ClusterLayer | null): void {
  if (clusters !== null) {
    renderer.setCustomBBox(clusters.frame);
    return;
  }
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  graph.forEachNode((_node, { x, y, group }) => {
    if (group === 'Entity type' && graph.order > 1) return;
    left = Math.min(left, x as number);
    right = Math.max(right, x as number);
    low = Math.min(low, y as number);
    high = Math.max(high, y as number);
  });
  if (left <= right) renderer.setCustomBBox({ x: [left, right], y: [low, high] });
}

function buildGraph(view: GraphView, groups: Groups, { x, y }: LayoutAnswer): Graph {
  const graph = new Graph({ multi: true, type: 'directed' });
  // Sizes shrink with the average distance of two nodes on the screen, compared with that in a small graph.
  const scale = Math.min(1, Math.max(0.2, 32 / Math.sqrt(view.nodes.length)));
  for (const [at, node] of view.nodes.entries()) {
    const place = { x: x[at] as number, y: y[at] as number };
    graph.addNode(node.id, {
      ...place,
      at,
      label: shortLabel(node),
      group: groups.of(node),
      size: sizeOf(node) * scale,
    });
  }
  return graph;
}

function addLink(graph: Graph, view: GraphView, at: number): void {
  const link = view.links[at];
  if (link === undefined || !graph.hasNode(link.source) || !graph.hasNode(link.target)) return;
  const isFact = link.edge_class === 'semantic';
  const label = link.relation.replaceAll('_', ' ');
  graph.addEdgeWithKey(String(at), link.source, link.target, { at, label, isFact, size: isFact ? 1.2 : 0.6 });
}

/** Names are what a reader looks for: the labels of passages and summaries come out when one zooms in. */
function sizeOf({ type, importance }: GraphNode): number {
  if (type === 'TextDocument') return 5;
  if (type === 'DocumentChunk') return 2.5 + 2.5 * Math.sqrt(importance);
  return type === 'TextSummary' ? 2.5 : 4.5 + 9 * importance ** 1.5;
}

function shortLabel({ name, type }: GraphNode): string {
  const length = type === 'DocumentChunk' || type === 'TextSummary' ? 32 : 48;
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}

function colour(graph: Graph, { colours }: Paint): void {
  graph.updateEachNodeAttributes(
    (_node, data) => {
      data['color'] = colours.get(data['group'] as string) ?? '#888888';
      return data;
    },
    { attributes: ['color'] },
  );
}

/** Opaque: the renderer does not blend. */
function inks({ dark }: Paint): Inks {
  return dark
    ? { ground: '#1a1b1e', text: '#e8ebf5', edge: '#4a5164', faded: '#2b3245', accent: '#aab4d0' }
    : { ground: '#ffffff', text: '#1d2233', edge: '#d0d5e0', faded: '#e3e6ed', accent: '#5f6883' };
}

function labelSettings(isLarge: boolean, paint: Paint) {
  const { text, accent } = inks(paint);
  return {
    labelDensity: 0.6,
    labelGridCellSize: 120,
    labelRenderedSizeThreshold: isLarge ? 4.5 : 5,
    labelFont: 'system-ui, sans-serif',
    labelSize: 12,
    labelColor: { color: text },
    edgeLabelFont: 'system-ui, sans-serif',
    edgeLabelSize: 11,
    edgeLabelColor: { color: accent },
    defaultDrawNodeHover: ((context, data, settings) =>
      drawHover(context, data, { settings, dark: paint.dark })) as HoverDrawing,
  };
}

function focus(renderer: Sigma, node: string, coveredPixels: number): void {
  const position = renderer.getNodeDisplayData(node);
  if (position === undefined) return;
  // Near enough for some twenty neighbours.
  const ratio = Math.min(0.4, Math.max(0.02, 6 / Math.sqrt(renderer.getGraph().order)));
  const state = { ...renderer.getCamera().getState(), x: position.x, y: position.y, ratio };
  const toGraph = (x: number) => renderer.viewportToFramedGraph({ x, y: 0 }, { cameraState: state }).x;
  const shift = toGraph(coveredPixels / 2) - toGraph(0);
  void renderer.getCamera().animate({ ...state, x: state.x + shift }, { duration: 400 });
}

/** Brings all of the nodes into sight. */
function frame(renderer: Sigma, nodes: readonly string[]): void {
  const places = nodes.flatMap((node) => renderer.getNodeDisplayData(node) ?? []);
  const [left, right] = [Math.min(...places.map(({ x }) => x)), Math.max(...places.map(({ x }) => x))];
  const [low, high] = [Math.min(...places.map(({ y }) => y)), Math.max(...places.map(({ y }) => y))];
  const ratio = Math.max(0.05, 1.6 * Math.max(right - left, high - low));
  void renderer.getCamera().animate({ x: (left + right) / 2, y: (low + high) / 2, ratio }, { duration: 400 });
}

/** Puts the layers over each other in the moment after drawing, when a browser still has them. */
function picture(renderer: Sigma, container: HTMLElement, paint: Paint): Promise<Blob> {
  return new Promise((resolve, reject) => {
    renderer.once('afterRender', () => {
      const layers = [...container.querySelectorAll('canvas')];
      const target = document.createElement('canvas');
      target.width = layers[0]?.width ?? 0;
      target.height = layers[0]?.height ?? 0;
      const context = target.getContext('2d');
      if (context === null) return reject(new Error('This browser cannot draw the picture.'));
      context.fillStyle = inks(paint).ground;
      context.fillRect(0, 0, target.width, target.height);
      for (const layer of layers) context.drawImage(layer, 0, 0);
      target.toBlob((blob) => (blob === null ? reject(new Error('The picture is empty.')) : resolve(blob)));
    });
    renderer.refresh();
  });
}

type HoverDrawing = ReturnType<Sigma['getSettings']>['defaultDrawNodeHover'];

function drawHover(
  context: Parameters<HoverDrawing>[0],
  data: Parameters<HoverDrawing>[1],
  { settings, dark }: { readonly settings: Parameters<HoverDrawing>[2]; readonly dark: boolean },
): void {
  const label = data.label;
  if (!label) return;
  const size = settings.labelSize;
  context.font = `600 ${size}px ${settings.labelFont}`;
  const width = context.measureText(label).width + 16;
  context.fillStyle = dark ? '#232a3d' : '#ffffff';
  context.strokeStyle = dark ? '#56607c' : '#c8ccd8';
  context.beginPath();
  context.roundRect(data.x + data.size + 2, data.y - size * 0.9, width, size * 1.8, 6);
  context.fill();
  context.stroke();
  context.fillStyle = dark ? '#ffffff' : '#1d2233';
  context.fillText(label, data.x + data.size + 10, data.y + size / 3);
}
