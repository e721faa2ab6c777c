import type { SearchEvent } from '../../views/search-events.ts';
import type { ViewDetails } from '../../views/view-details.ts';
import type { GraphView } from '../../views/view-graph.ts';
import { presentDrawing } from './drawing.ts';
import { presentLinks } from './links.ts';
import { presentMemoryMap } from './memory-map.ts';
import { presentNodes, STAGES } from './nodes.ts';
import { presentSchemaGraph } from './schema-graph.ts';
import { presentSearchEvent } from './search-event.ts';

/**
 * Presents the object of `/visualize/json` (search-recall.md §8.1). Null: there is no relational schema. Without `details`
 * nodes say of their making what their properties do.
 */
export function presentVisualisation(
  view: GraphView,
  details: ViewDetails | null,
  events: readonly SearchEvent[] = [],
): Readonly<Record<string, unknown>> {
  const nodes = presentNodes(view, details);
  const links = presentLinks(view, details);
  const present = new Set(nodes.map(({ stage }) => stage));
  const valuesOf = (field: string) =>
    [...new Set(nodes.map((node) => node[field]).filter((value) => typeof value === 'string'))].sort();
  return {
    nodes,
    links,
    color_maps: {
      task: coloursOf(valuesOf('source_task')),
      pipeline: coloursOf(valuesOf('source_pipeline')),
      node_set: nodeSetColours(nodes.flatMap((node) => node['belongs_to_set'] as readonly string[])),
      user: coloursOf(valuesOf('source_user')),
    },
    schema_graph: presentSchemaGraph(nodes, links),
    schema_data: null,
    pipeline_stages: STAGES.filter((stage) => present.has(stage)),
    edge_classes: countBy(links.map(({ edge_class }) => edge_class)),
    bundles: countBy(links.map(({ bundle_key }) => bundle_key)),
    provenance_index: Object.fromEntries(
      nodes.flatMap(({ id, provenance }) => (provenance === undefined ? [] : [[id, provenance]])),
    ),
    has_meaningful_topological_rank: nodes.some((node) => Number(node['topological_rank']) > 0),
    memory_map: presentMemoryMap(nodes, links, details),
    search_events: events.map(presentSearchEvent),
  };
}

/** Returns a colour for each node set. */
export function nodeSetColours(names: Iterable<string>): Readonly<Record<string, string>> {
  return coloursOf([...new Set(names)].sort());
}

/** Presents the data of the page: the drawing of the view, with its texts and the sentences that state its facts. */
export async function presentPageData(
  view: GraphView,
  dataset: string,
  /** Addresses of those in whose datasets each node is; of views of several users. */
  users: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): Promise<Readonly<Record<string, unknown>>> {
  const { nodes, relations, links } = await presentDrawing({
    async *nodes() {
      yield view.nodes;
    },
    async *edges() {
      yield view.edges;
    },
  });
  const places = new Map<string, number>();
  return {
    dataset,
    nodes: nodes.map((node, at) => {
      const { description = '', properties = {} } = view.nodes[at] ?? {};
      const text = properties['text'];
      const of = users.get(node.id);
      return {
        ...node,
        ...(description && { description }),
        ...(typeof text === 'string' && { text }),
        ...(of && { source_user: [...of].sort().join(', ') }),
      };
    }),
    relations,
    links,
    // Both ends of each edge of a view are in it: the links have the places of the edges.
    evidence: view.edges.map(({ properties: { text } }) => {
      if (typeof text !== 'string') return -1;
      const place = places.get(text) ?? places.size;
      places.set(text, place);
      return place;
    }),
    sentences: [...places.keys()],
    ...(view.totalNodes === null ? {} : { total_nodes: view.totalNodes }),
  };
}

function countBy(values: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
}

const PINNED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    session_learnings: '#FFC53D',
    user_sessions_from_cache: '#00C2AA',
    agent_trace_feedbacks: '#FF7A59',
  }),
);

/** Returns a colour for each value: hues 137.5 degrees apart, lightness 0.6, saturation 0.65. */
function coloursOf(values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    values.map((value, index) => [value, PINNED.get(value) ?? hexColour((index * 137.5) % 360)]),
  );
}

/** Returns a hue with saturation 0.65 and lightness 0.6 as `#rrggbb` (CSS Color 4, §7.1: HSL to sRGB). */
function hexColour(hue: number): string {
  const amplitude = 0.65 * Math.min(0.6, 1 - 0.6);
  const channel = (offset: number): string => {
    const k = (offset + hue / 30) % 12;
    const value = 0.6 - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
