import { type GraphEdge, type GraphNode, keyOf, type Properties, type Value } from './values.ts';

/** A graph in memory that queries run on. */
export interface CypherGraph {
  readonly nodes: readonly GraphNode[];
  labelled(label: string): readonly GraphNode[];
  /** The nodes whose property has the value; the first call for a property looks at every node. */
  seek(key: string, value: Value): readonly GraphNode[];
}

export interface GraphBuilder extends CypherGraph {
  /** `properties` is called when a query first looks at them; with `id` given, nodes are sought by it without that. */
  addNode(labels: readonly string[], properties: () => Properties, id?: string): GraphNode;
  addEdge(source: GraphNode, type: string, target: GraphNode, properties: () => Properties): GraphEdge;
}

class StoredNode implements GraphNode {
  readonly kind = 'node';
  readonly place: number;
  readonly labels: readonly string[];
  readonly out: GraphEdge[] = [];
  readonly in: GraphEdge[] = [];
  readonly #properties: () => Properties;
  constructor(place: number, labels: readonly string[], properties: () => Properties) {
    this.place = place;
    this.labels = labels;
    this.#properties = properties;
  }
  get properties(): Properties {
    return this.#properties();
  }
}

class StoredEdge implements GraphEdge {
  readonly kind = 'edge';
  readonly place: number;
  readonly type: string;
  readonly source: GraphNode;
  readonly target: GraphNode;
  readonly #properties: () => Properties;
  constructor(place: number, type: string, source: GraphNode, target: GraphNode, properties: () => Properties) {
    this.place = place;
    this.type = type;
    this.source = source;
    this.target = target;
    this.#properties = properties;
  }
  get properties(): Properties {
    return this.#properties();
  }
}

export function createGraph(): GraphBuilder {
  const nodes: GraphNode[] = [];
  const ids: (string | undefined)[] = [];
  const byLabel = new Map<string, GraphNode[]>();
  const byProperty = new Map<string, ReadonlyMap<string, readonly GraphNode[]>>();
  let edges = 0;
  const indexOf = (key: string) => {
    const found = byProperty.get(key);
    if (found) return found;
    const made = new Map<string, GraphNode[]>();
    for (const node of nodes) {
      const value = (key === 'id' ? ids[node.place] : undefined) ?? node.properties.get(key);
      if (value !== undefined && value !== null) append(made, keyOf(value), node);
    }
    byProperty.set(key, made);
    return made;
  };
  return {
    nodes,
    labelled: (label) => byLabel.get(label) ?? [],
    seek: (key, value) => indexOf(key).get(keyOf(value)) ?? [],
    addNode(labels, properties, id) {
      const node = new StoredNode(nodes.length, labels, properties);
      nodes.push(node);
      ids.push(id);
      byProperty.clear();
      for (const label of labels) append(byLabel, label, node);
      return node;
    },
    addEdge(source, type, target, properties) {
      const edge = new StoredEdge(edges, type, source, target, properties);
      edges += 1;
      source.out.push(edge);
      target.in.push(edge);
      return edge;
    },
  };
}

function append<Key, Entry>(groups: Map<Key, Entry[]>, key: Key, entry: Entry): void {
  const group = groups.get(key);
  if (group) group.push(entry);
  else groups.set(key, [entry]);
}
