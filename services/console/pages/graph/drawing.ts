import Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import LayoutWorker from 'graphology-layout-forceatlas2/worker';
import Sigma from 'sigma';
import { type GraphView, groupOf } from './view-model.ts';

export interface Drawing {
  /** Nodes to show; null shows all. */
  filter(visible: ReadonlySet<string> | null): void;
  select(node: string | null): void;
  focus(node: string): void;
  recolour(colours: ReadonlyMap<string, string>, dark: boolean): void;
  readonly graph: Graph;
}

/** Positions come from a seed, so the same graph is drawn the same way each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

function buildGraph(view: GraphView): Graph {
  const graph = new Graph({ multi: true, type: 'directed' });
  const random = seeded(42);
  for (const node of view.nodes) {
    graph.addNode(node.id, {
      label: node.name.length > 48 ? `${node.name.slice(0, 47)}…` : node.name,
      group: groupOf(node),
      size: 3 + 9 * Math.sqrt(node.importance),
      x: random() * 100,
      y: random() * 100,
    });
  }
  for (const link of view.links) {
    if (graph.hasNode(link.source) && graph.hasNode(link.target)) {
      graph.addEdge(link.source, link.target, {
        relation: link.relation,
        structural: link.edge_class === 'structural',
        size: 0.6,
      });
    }
  }
  return graph;
}

/** How long the layout may go on moving nodes, by the size of the graph. */
function layoutMs(nodes: number): number {
  return Math.min(12_000, 1500 + nodes * 3);
}

export function draw(view: GraphView, container: HTMLElement, onSelect: (node: string | null) => void): Drawing {
  const graph = buildGraph(view);
  const settings = {
    ...forceAtlas2.inferSettings(graph),
    barnesHutOptimize: graph.order > 300,
    slowDown: 4,
    gravity: 0.6,
  };
  // A few rounds before the first frame give it a shape; the rest happens in a worker while the page is in use.
  forceAtlas2.assign(graph, { iterations: graph.order > 1500 ? 10 : 60, settings });
  let visible: ReadonlySet<string> | null = null;
  let selected: string | null = null;
  let hovered: string | null = null;
  let edgeColour = '#c8ccd8';
  const near = (node: string): boolean => {
    const centre = hovered ?? selected;
    return centre === null || node === centre || graph.areNeighbors(node, centre);
  };
  const renderer = new Sigma(graph, container, {
    hideEdgesOnMove: graph.size > 4000,
    labelDensity: 0.5,
    labelGridCellSize: 110,
    labelRenderedSizeThreshold: graph.order > 800 ? 9 : 6,
    labelFont: 'system-ui, sans-serif',
    labelSize: 12,
    zIndex: true,
    nodeReducer: (node, data) => ({
      ...data,
      hidden: visible !== null && !visible.has(node),
      color: near(node) ? data['color'] : edgeColour,
      label: near(node) ? data['label'] : '',
      highlighted: node === selected,
      zIndex: near(node) ? 1 : 0,
    }),
    edgeReducer: (edge, data) => {
      const centre = hovered ?? selected;
      const touches = centre !== null && graph.extremities(edge).includes(centre);
      return {
        ...data,
        hidden: centre !== null && !touches,
        color: touches ? data['accent'] : edgeColour,
        size: touches ? 1.6 : data['size'],
      };
    },
  });
  renderer.on('enterNode', ({ node }) => {
    hovered = node;
    renderer.refresh({ skipIndexation: true });
  });
  renderer.on('leaveNode', () => {
    hovered = null;
    renderer.refresh({ skipIndexation: true });
  });
  renderer.on('clickNode', ({ node }) => onSelect(node));
  renderer.on('clickStage', () => onSelect(null));
  if (graph.order > 1) {
    const layout = new LayoutWorker(graph, { settings });
    layout.start();
    setTimeout(() => layout.kill(), layoutMs(graph.order));
  }
  return {
    graph,
    filter(next) {
      visible = next;
      renderer.refresh();
    },
    select(node) {
      selected = node;
      renderer.refresh({ skipIndexation: true });
    },
    focus(node) {
      const position = renderer.getNodeDisplayData(node);
      if (position) void renderer.getCamera().animate({ x: position.x, y: position.y, ratio: 0.25 }, { duration: 400 });
    },
    recolour(colours, dark) {
      edgeColour = dark ? '#3a4157' : '#d4d8e2';
      graph.updateEachNodeAttributes((_node, attributes) => ({
        ...attributes,
        color: colours.get(attributes['group'] as string) ?? '#888888',
      }));
      graph.updateEachEdgeAttributes((_edge, attributes) => ({ ...attributes, accent: dark ? '#e8ebf5' : '#30364a' }));
      renderer.setSetting('labelColor', { color: dark ? '#e8ebf5' : '#1d2233' });
      renderer.setSetting('defaultDrawNodeHover', (context, data, options) =>
        drawHover(context, data, { options, dark }),
      );
      renderer.refresh();
    },
  };
}

type HoverDrawing = ReturnType<Sigma['getSettings']>['defaultDrawNodeHover'];

function drawHover(
  context: Parameters<HoverDrawing>[0],
  data: Parameters<HoverDrawing>[1],
  { options, dark }: { readonly options: Parameters<HoverDrawing>[2]; readonly dark: boolean },
): void {
  const label = data.label;
  if (!label) return;
  const size = options.labelSize;
  context.font = `600 ${size}px ${options.labelFont}`;
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
