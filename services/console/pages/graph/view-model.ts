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
