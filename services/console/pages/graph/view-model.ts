/** The graph as the server puts it into the page; a part of the `/visualize/json` document. */
export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly entity_type?: string;
  readonly degree: number;
  readonly importance: number;
  readonly description?: string | null;
  readonly text?: string | null;
  readonly [property: string]: unknown;
}

export interface GraphLink {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly edge_class: 'structural' | 'semantic';
  readonly edge_info?: { readonly text?: string | null };
}

export interface GraphView {
  readonly dataset: string;
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** Nodes of the whole graph, when the view holds only a part of it. */
  readonly total_nodes?: number;
}

const TYPE_LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    TextDocument: 'Document',
    DocumentChunk: 'Passage',
    TextSummary: 'Summary',
    EntityType: 'Entity type',
    NodeSet: 'Node set',
  }),
);

/** Key by which the legend groups: an entity shows its own type, everything else its node type. */
export function groupOf(node: GraphNode): string {
  return node.type === 'Entity' ? (node.entity_type ?? 'Entity') : (TYPE_LABELS.get(node.type) ?? node.type);
}

/** The view without the summaries that say their whole passage again, as those of short passages do. */
export function withoutRepeats(view: GraphView): GraphView {
  const nodes = new Map(view.nodes.map((node) => [node.id, node]));
  const repeats = new Set<string>();
  for (const { source, target } of view.links) {
    const ends = [nodes.get(source), nodes.get(target)];
    const summary = ends.find((node) => node?.type === 'TextSummary');
    const passage = ends.find((node) => node?.type === 'DocumentChunk');
    if (summary?.text && summary.text.trim() === passage?.text?.trim()) repeats.add(summary.id);
  }
  return {
    ...view,
    nodes: view.nodes.filter(({ id }) => !repeats.has(id)),
    links: view.links.filter(({ source, target }) => !repeats.has(source) && !repeats.has(target)),
    ...(view.total_nodes === undefined ? {} : { total_nodes: view.total_nodes - repeats.size }),
  };
}

/** Types with the number of their nodes, the most frequent first. */
export function countGroups(list: readonly GraphNode[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of list) counts.set(groupOf(node), (counts.get(groupOf(node)) ?? 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}

/** Finds nodes that contain all words, the best first. */
export function nodeFinder(nodes: readonly GraphNode[]): (text: string, limit: number) => readonly GraphNode[] {
  const searchable = nodes.map((node) => ({
    node,
    key: `${node.name} ${node.description ?? ''} ${node.text ?? ''}`.toLowerCase(),
  }));
  return (text, limit) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    return searchable
      .filter(({ key }) => words.every((word) => key.includes(word)))
      .sort((a, b) => rank(b.node, words) - rank(a.node, words) || b.node.degree - a.node.degree)
      .slice(0, limit)
      .map(({ node }) => node);
  };
}

/** The name itself before a longer one, a name before a passage that begins with the words. */
function rank(node: GraphNode, words: readonly string[]): number {
  const name = node.name.toLowerCase();
  if (!words.every((word) => name.includes(word))) return 0;
  if (node.type === 'DocumentChunk' || node.type === 'TextSummary') return 1;
  return name === words.join(' ') ? 3 : 2;
}

/** A step of a path: the edge that is gone along, in either direction, and the node that it leads to. */
export interface PathStep {
  readonly link: GraphLink;
  readonly to: string;
}

/** The shortest way from one node to another; null where there is none. Types connect everything and nothing: they are left out. */
export function shortestPath({ nodes, links }: GraphView, from: string, to: string): readonly PathStep[] | null {
  const types = new Set(nodes.filter(({ type }) => type === 'EntityType').map(({ id }) => id));
  const steps = new Map<string, PathStep[]>();
  for (const link of links) {
    for (const [start, end] of [
      [link.source, link.target],
      [link.target, link.source],
    ] as const) {
      if (types.has(end) && end !== to) continue;
      const known = steps.get(start);
      if (known === undefined) steps.set(start, [{ link, to: end }]);
      else known.push({ link, to: end });
    }
  }
  const reached = new Map<string, PathStep & { readonly from: string }>();
  const queue = [from];
  for (let next = 0; next < queue.length && !reached.has(to); next += 1) {
    const at = queue[next] ?? '';
    for (const step of steps.get(at) ?? []) {
      if (step.to === from || reached.has(step.to)) continue;
      reached.set(step.to, { ...step, from: at });
      queue.push(step.to);
    }
  }
  const path: PathStep[] = [];
  for (let step = reached.get(to); step !== undefined; step = reached.get(step.from)) path.unshift(step);
  return path.length === 0 ? null : path;
}
