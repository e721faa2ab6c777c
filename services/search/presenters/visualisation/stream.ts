import { slices } from '../../../common/kernel/slices.ts';
import type { GraphView } from '../../views/view-graph.ts';
import { nodeSetColours } from './document.ts';
import { presentLinks } from './links.ts';
import { presentNodes } from './nodes.ts';

const CHUNK_NODES = 1000;

/** Presents the view as server-sent events: meta, chunks, summaries, done (search-recall.md §8.4). */
export function* viewEvents(
  view: GraphView,
  query: { readonly neighborhood_depth: number; readonly max_nodes: number },
): Generator<string> {
  const nodes = presentNodes(view);
  const links = presentLinks(view);
  yield event('meta', {
    seeds: view.seeds,
    seed_source: view.seedSource,
    depth: query.neighborhood_depth,
    max_nodes: query.max_nodes,
    chunk_size: CHUNK_NODES,
  });
  const sent = new Set<string>();
  const pending = new Set(links);
  let chunks = 0;
  for (const part of slices(nodes, CHUNK_NODES)) {
    for (const { id } of part) sent.add(id);
    const ready = [...pending].filter(({ source, target }) => sent.has(source) && sent.has(target));
    for (const link of ready) pending.delete(link);
    yield event('chunk', {
      index: chunks,
      nodes: part.map(({ id, name, type, entity_type, stage, ...node }) => ({
        id,
        name,
        type,
        entity_type,
        stage,
        is_unnamed: node['is_unnamed'],
        belongs_to_set: node['belongs_to_set'],
        source_node_set: setsOf(node)[0] ?? null,
      })),
      links: ready.map(({ source, target, relation, edge_class }) => ({ source, target, relation, edge_class })),
    });
    chunks += 1;
  }
  for (const [index, part] of [...slices(nodes, CHUNK_NODES)].entries()) {
    const colours = index === 0 ? { color_maps: { node_set: nodeSetColours(nodes.flatMap(setsOf)) } } : {};
    yield event('summary', {
      ...colours,
      nodes: Object.fromEntries(
        part.map((node) => [
          node.id,
          { importance: node.importance, label_priority: node['label_priority'], entity_type: node.entity_type },
        ]),
      ),
    });
  }
  yield event('done', { nodes: nodes.length, links: links.length, chunks });
}

function setsOf(node: Readonly<Record<string, unknown>>): readonly string[] {
  return node['belongs_to_set'] as readonly string[];
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
