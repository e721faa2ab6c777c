import Graph from 'graphology';
import Sigma from 'sigma';
import { arrange, isLarge, PULL, placeByStructure } from './layout.ts';
import { type GraphNode, type GraphView, groupOf } from './view-model.ts';

/** Colour of each group, for a light or a dark ground. */
export interface Paint {
  readonly colours: ReadonlyMap<string, string>;
  readonly dark: boolean;
}

export interface DrawingOptions {
  readonly paint: Paint;
  /** Nodes to show; null shows all. */
  readonly visible: ReadonlySet<string> | null;
  onSelect(node: string | null): void;
  /** The layout has come to its end. */
  onSettled(): void;
}

export interface Drawing {
  filter(visible: ReadonlySet<string> | null): void;
  select(node: string | null): void;
  /** Brings a node to the middle of what `coveredPixels` at the right leave free. */
  focus(node: string, coveredPixels: number): void;
  repaint(paint: Paint): void;
  /** What is to be seen, as a PNG. */
  picture(): Promise<Blob>;
  /** Stops the layout and gives the container back. */
  kill(): void;
}

export function draw(view: GraphView, container: HTMLElement, options: DrawingOptions): Drawing {
  const graph = buildGraph(view);
  let { paint, visible } = options;
  let selected: string | null = null;
  let hovered: string | null = null;
  // The edges of a large graph wait until its nodes stay: drawing them is most of the cost of a frame.
  let isSettled = !isLarge(graph);
  colour(graph, paint);
  const near = (node: string): boolean => {
    const centre = hovered ?? selected;
    return centre === null || node === centre || graph.areNeighbors(node, centre);
  };
  const renderer = new Sigma(graph, container, {
    ...labelSettings(graph, paint),
    hideEdgesOnMove: graph.size > 4000,
    zIndex: true,
    defaultEdgeType: isLarge(graph) ? 'line' : 'arrow',
    renderEdgeLabels: true,
    nodeReducer: (node, data) => ({
      ...data,
      hidden: visible !== null && !visible.has(node),
      color: near(node) ? data['color'] : inks(paint, graph).faded,
      label: near(node) ? data['label'] : '',
      highlighted: node === selected,
      zIndex: near(node) ? 1 : 0,
    }),
    edgeReducer: (edge, data) => {
      const centre = hovered ?? selected;
      const touches = centre !== null && graph.extremities(edge).includes(centre);
      return {
        ...data,
        hidden: centre === null ? !isSettled : !touches,
        color: touches ? inks(paint, graph).accent : inks(paint, graph).edge,
        size: touches ? 2 : data['size'],
        // What is structure says so only where somebody looks.
        label: touches || data['isFact'] ? data['label'] : null,
        forceLabel: touches && graph.degree(centre) <= MOST_LABELS,
      };
    },
  });
  const hover = (node: string | null): void => {
    hovered = node;
    renderer.refresh({ skipIndexation: true });
  };
  renderer.on('enterNode', ({ node }) => hover(node));
  renderer.on('leaveNode', () => hover(null));
  renderer.on('clickNode', ({ node }) => options.onSelect(node));
  renderer.on('clickStage', () => options.onSelect(null));
  const stop = arrange(graph, () => {
    isSettled = true;
    renderer.refresh();
    options.onSettled();
  });
  return {
    filter(next) {
      visible = next;
      renderer.refresh();
    },
    select(node) {
      selected = node;
      renderer.refresh({ skipIndexation: true });
    },
    focus: (node, coveredPixels) => focus(renderer, node, coveredPixels),
    repaint(next) {
      paint = next;
      colour(graph, paint);
      renderer.setSettings(labelSettings(graph, paint));
      renderer.refresh();
    },
    picture: () => picture(renderer, paint),
    kill() {
      stop();
      renderer.kill();
    },
  };
}

/** Edges of a node whose labels are all written out. */
const MOST_LABELS = 12;

/** Puts the layers over each other in the moment after drawing, when a browser still has them. */
function picture(renderer: Sigma, { dark }: Paint): Promise<Blob> {
  return new Promise((resolve, reject) => {
    renderer.once('afterRender', () => {
      const layers = Object.values(renderer.getCanvases());
      const target = document.createElement('canvas');
      target.width = layers[0]?.width ?? 0;
      target.height = layers[0]?.height ?? 0;
      const context = target.getContext('2d');
      if (context === null) return reject(new Error('This browser cannot draw the picture.'));
      context.fillStyle = dark ? '#12161f' : '#ffffff';
      context.fillRect(0, 0, target.width, target.height);
      for (const layer of layers) context.drawImage(layer, 0, 0);
      target.toBlob((blob) => (blob === null ? reject(new Error('The picture is empty.')) : resolve(blob)));
    });
    renderer.refresh();
  });
}

function buildGraph(view: GraphView): Graph {
  const graph = new Graph({ multi: true, type: 'directed' });
  for (const node of view.nodes) {
    graph.addNode(node.id, { label: shortLabel(node), group: groupOf(node), size: sizeOf(node, view.nodes.length) });
  }
  for (const { source, target, relation, edge_class } of view.links) {
    if (!graph.hasNode(source) || !graph.hasNode(target)) continue;
    // Every entity hangs on its type: as a force that would draw all of them into one star.
    const pull = graph.getNodeAttribute(target, 'group') === 'Entity type' ? 0.001 : edge_class === 'semantic' ? 2 : 1;
    const isFact = edge_class === 'semantic';
    const label = relation.replaceAll('_', ' ');
    graph.addEdge(source, target, { label, isFact, size: isFact ? 1.2 : 0.6, [PULL]: pull });
  }
  placeByStructure(
    graph,
    view.nodes.filter(({ type }) => type === 'TextDocument').map(({ id }) => id),
  );
  return graph;
}

/** Names are what a reader looks for: the labels of passages and summaries come out when one zooms in. */
function sizeOf({ type, importance }: GraphNode, nodes: number): number {
  const scale = nodes > 1500 ? 0.65 : 1;
  if (type === 'TextDocument') return 8 * scale;
  if (type === 'DocumentChunk') return (2.5 + 2.5 * Math.sqrt(importance)) * scale;
  return (type === 'TextSummary' ? 2.5 : 3.5 + 10 * Math.sqrt(importance)) * scale;
}

function shortLabel({ name, type }: GraphNode): string {
  const length = type === 'DocumentChunk' || type === 'TextSummary' ? 32 : 48;
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}

function colour(graph: Graph, { colours }: Paint): void {
  graph.updateEachNodeAttributes(
    (_node, attributes) => ({ ...attributes, color: colours.get(attributes['group'] as string) ?? '#888888' }),
    { attributes: ['color'] },
  );
}

/** Edges of a large graph are a mist, not a floor. Opaque: the renderer does not blend. */
function inks(
  { dark }: Paint,
  { size }: Graph,
): { readonly edge: string; readonly faded: string; readonly accent: string } {
  const isMist = size > 3000;
  return dark
    ? { edge: isMist ? '#1f2533' : '#333a4e', faded: '#2b3245', accent: '#aab4d0' }
    : { edge: isMist ? '#e6e9f1' : '#d4d8e2', faded: '#dfe3ec', accent: '#6a7390' };
}

function labelSettings(graph: Graph, { dark }: Paint) {
  return {
    labelDensity: 0.6,
    labelGridCellSize: 120,
    labelRenderedSizeThreshold: isLarge(graph) ? 4.5 : 5.5,
    labelFont: 'system-ui, sans-serif',
    labelSize: 12,
    labelColor: { color: dark ? '#e8ebf5' : '#1d2233' },
    edgeLabelFont: 'system-ui, sans-serif',
    edgeLabelSize: 11,
    edgeLabelColor: { color: dark ? '#aab4d0' : '#4b5268' },
    defaultDrawNodeHover: ((context, data, settings) => drawHover(context, data, { settings, dark })) as HoverDrawing,
  };
}

function focus(renderer: Sigma, node: string, coveredPixels: number): void {
  const position = renderer.getNodeDisplayData(node);
  if (position === undefined) return;
  const state = { ...renderer.getCamera().getState(), x: position.x, y: position.y, ratio: 0.3 };
  const toGraph = (x: number) => renderer.viewportToFramedGraph({ x, y: 0 }, { cameraState: state }).x;
  const shift = toGraph(coveredPixels / 2) - toGraph(0);
  void renderer.getCamera().animate({ ...state, x: state.x + shift }, { duration: 400 });
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
