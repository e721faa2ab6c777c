import { useQuery } from '@tanstack/react-query';
import type { GraphLink, GraphNode, GraphView } from '../../pages/graph/view-model.ts';
import { engram } from '../api.ts';

/** A node with its texts, as `/visualize/json` shows it. */
interface FullNode extends GraphNode {
  readonly document_id?: string;
  readonly document_name?: string;
}

export interface Near {
  readonly centres: readonly string[];
  readonly depth: number;
}

interface Texts {
  readonly nodes: readonly FullNode[];
  readonly links: readonly GraphLink[];
}

const MOST_NODES = 1000;

/** The graph, or what is near some nodes of it, with descriptions, texts and the sentences that state its facts. */
export async function readTexts(dataset: string, near: Near | null, most = MOST_NODES): Promise<Texts> {
  const query =
    near === null
      ? { full: true }
      : {
          seed_node_ids: [...near.centres],
          neighborhood_depth: near.depth,
          neighborhood_seed_top_k: 100,
          max_nodes: most,
        };
  const answer = await engram.get('/api/v1/visualize/json', { query: { dataset_id: dataset, ...query } });
  const { nodes, links } = answer as unknown as Texts & Pick<GraphView, 'nodes'>;
  return { nodes, links };
}

const NEIGHBOURS_WITH_TEXT = 300;

/** A node with its texts, and the facts around it with their evidence. */
export function useNodeTexts(dataset: string, node: string) {
  return useQuery({
    queryKey: ['graph', dataset, 'node', node],
    queryFn: async () => {
      const { nodes, links } = await readTexts(dataset, { centres: [node], depth: 1 }, NEIGHBOURS_WITH_TEXT);
      return {
        node: nodes.find(({ id }) => id === node),
        nodes: new Map(nodes.map((each) => [each.id, each])),
        links: links.filter(({ source, target }) => source === node || target === node),
      };
    },
    staleTime: 60_000,
    structuralSharing: false,
  });
}

/** The sentences that state the edges of a path. */
export function usePathTexts(dataset: string, path: readonly string[] | null) {
  return useQuery({
    queryKey: ['graph', dataset, 'path', path],
    queryFn: async () => (await readTexts(dataset, { centres: path ?? [], depth: 1 }, path?.length)).links,
    enabled: path !== null,
    staleTime: 60_000,
  });
}

/** Where a passage stands. */
export async function readPassage(dataset: string, chunk: string): Promise<FullNode | undefined> {
  const { nodes } = await readTexts(dataset, { centres: [chunk], depth: 1 }, 1);
  return nodes.find(({ id }) => id === chunk);
}
