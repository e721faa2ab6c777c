/** The graph as it is drawn: what `/visualize/drawing` answers, or the data of the `/visualize` page. */
export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly entity_type?: string | undefined;
  readonly degree: number;
  readonly importance: number;
  readonly description?: string | null;
  readonly text?: string | null;
  /** In whose datasets it is; where those of several users are drawn as one. */
  readonly source_user?: string;
}

export interface GraphLink {
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  readonly edge_class: 'structural' | 'semantic';
  readonly edge_info?: { readonly text?: string | null; readonly chunkId?: string | null };
  /** ISO dates and stretches of time (`2019/2021-05`) of the fact. */
  readonly dates?: readonly string[];
}

export interface GraphView {
  readonly dataset: string;
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** Nodes of the whole graph, when the view holds only a part of it. */
  readonly total_nodes?: number;
}

/** The answer of `/visualize/drawing`; the data of the `/visualize` page hold the texts as well. */
export interface PackedGraph {
  readonly nodes: readonly Omit<GraphNode, 'degree' | 'importance'>[];
  readonly relations: readonly { readonly name: string; readonly edge_class: 'structural' | 'semantic' }[];
  readonly links: readonly (readonly [number, number, number, ...(readonly string[])[]])[];
  readonly sentences?: readonly string[];
  /** Which sentence states each link; -1: none. */
  readonly evidence?: readonly number[];
}

export function unpacked({ nodes, relations, links, sentences, evidence }: PackedGraph, dataset: string): GraphView {
  const degrees = new Int32Array(nodes.length);
  for (const [source, target] of links) {
    degrees[source] = (degrees[source] ?? 0) + 1;
    degrees[target] = (degrees[target] ?? 0) + 1;
  }
  const most = Math.log1p(degrees.reduce((a, b) => Math.max(a, b), 1));
  return {
    dataset,
    nodes: nodes.map((node, at) => {
      const degree = degrees[at] ?? 0;
      return { ...node, degree, importance: Math.log1p(degree) / most };
    }),
    links: links.flatMap(([source, target, relation, dates], at) => {
      const [from, to, kind] = [nodes[source], nodes[target], relations[relation]];
      if (from === undefined || to === undefined || kind === undefined) return [];
      const link = { source: from.id, target: to.id, relation: kind.name, edge_class: kind.edge_class };
      const text = sentences?.[evidence?.[at] ?? -1];
      return [{ ...link, ...(dates && { dates }), ...(text && { edge_info: { text } }) }];
    }),
  };
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
/** Whether everything hangs on the node, which therefore says nothing of how things belong together. */
export const isHub = ({ type }: GraphNode): boolean => type === 'EntityType' || type === 'NodeSet';

/** Hubs hide how things belong together, and a summary says its passage again: they are shown when asked for. */
const HIDDEN_AT_FIRST: readonly string[] = ['Entity type', 'Node set', 'Summary'];
/** The types that are told apart by colours; the rarer ones share one. */
const MOST_TYPES = 8;
const REST = 'Other types';

/** Returns the type to show: an entity has a type of its own, everything else its node type. */
export function kindOf(node: GraphNode): string {
  return node.type === 'Entity' ? (node.entity_type ?? 'Entity') : (TYPE_LABELS.get(node.type) ?? node.type);
}

/** The entries of the legend. */
export interface Groups {
  /** With the number of their nodes, the most frequent first. */
  readonly counts: ReadonlyMap<string, number>;
  /** The types that have no entry of their own. */
  readonly rest: readonly string[];
  readonly hiddenAtFirst: ReadonlySet<string>;
  of(node: GraphNode): string;
}

export function groupsOf(nodes: readonly GraphNode[]): Groups {
  const kinds = counted(nodes.map(kindOf));
  const fixed = new Set(['Document', 'Passage', 'Summary', 'Entity type']);
  const types = [...kinds.keys()].filter((kind) => !fixed.has(kind));
  const rest = new Set(types.length > MOST_TYPES ? types.slice(MOST_TYPES - 1) : []);
  const of = (node: GraphNode): string => (rest.has(kindOf(node)) ? REST : kindOf(node));
  const counts = counted(nodes.map(of));
  const hidden = HIDDEN_AT_FIRST.filter((group) => counts.has(group));
  return { counts, rest: [...rest], of, hiddenAtFirst: new Set(hidden.length < counts.size ? hidden : []) };
}

/** The number of nodes of each group that is in a part of the graph, in the order of the whole. */
export function countsIn(groups: Groups, nodes: readonly GraphNode[]): ReadonlyMap<string, number> {
  const counts = counted(nodes.map(groups.of));
  return new Map(
    [...groups.counts.keys()].flatMap((group) => (counts.has(group) ? [[group, counts.get(group) ?? 0]] : [])),
  );
}

function counted(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}

/** Milliseconds, the end exclusive. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

const DAY_MS = 86_400_000;

/** The time that an ISO date (`2019`, `2019-05`, `2019-05-12 10:30:00`) or a stretch of time (`2019/2021`) covers. */
export function periodOf(date: string): Period | null {
  const [start = '', end = start] = date.split('/');
  const from = start === '' ? Number.NEGATIVE_INFINITY : Date.parse(start.replace(' ', 'T'));
  const last = end === '' ? Number.POSITIVE_INFINITY : Date.parse(end.replace(' ', 'T'));
  if (Number.isNaN(from) || Number.isNaN(last)) return null;
  const until = new Date(last);
  if (/^\d{4}$/.test(end)) until.setUTCFullYear(until.getUTCFullYear() + 1);
  else if (/^\d{4}-\d\d$/.test(end)) until.setUTCMonth(until.getUTCMonth() + 1);
  return { from, until: /^\d{4}(-\d\d)?$/.test(end) ? until.getTime() : last + DAY_MS };
}

/** The distinct dates of facts in their order, with the number of facts of each. */
export function datesIn({ links }: GraphView): ReadonlyMap<string, number> {
  const counts = counted(links.flatMap(({ dates }) => dates ?? []));
  const dated = [...counts].flatMap(([date, count]) => {
    const period = periodOf(date);
    return period === null || !Number.isFinite(period.from) ? [] : [{ date, count, at: period.from }];
  });
  return new Map(dated.sort((a, b) => a.at - b.at).map(({ date, count }) => [date, count]));
}

const BARS = 60;

/** How many facts there are along the dates, as bars of a height up to 1. */
export function barsOf(counts: ReadonlyMap<string, number>): readonly number[] {
  const sums = new Array<number>(Math.min(BARS, counts.size)).fill(0);
  for (const [at, count] of [...counts.values()].entries()) {
    const bar = Math.floor((at / counts.size) * sums.length);
    sums[bar] = (sums[bar] ?? 0) + count;
  }
  const most = Math.max(1, ...sums);
  return sums.map((sum) => Math.sqrt(sum / most));
}

/** The time from one of the dates to another; null for all of them. */
export function periodBetween(dates: readonly string[], low: number, high: number): Period | null {
  const [first, last] = [periodOf(dates[low] ?? ''), periodOf(dates[high] ?? '')];
  if ((low === 0 && high === dates.length - 1) || first === null || last === null) return null;
  return { from: first.from, until: Math.max(last.until, first.until) };
}

interface Filter {
  /** Groups that are not shown. */
  readonly hidden: ReadonlySet<string>;
  /** Only facts of this time. */
  readonly period?: Period | null;
  /** With a period, also what has no date. */
  readonly withUndated?: boolean;
}

/** For each node and each link of a view 1 when it is shown, 0 when it is not. */
export interface Shown {
  readonly nodes: Uint8Array;
  readonly links: Uint8Array;
}

export function shownOf(view: GraphView, groups: Groups, { hidden, period, withUndated }: Filter): Shown {
  const nodes = Uint8Array.from(view.nodes, (node) => (hidden.has(groups.of(node)) ? 0 : 1));
  const links = new Uint8Array(view.links.length).fill(1);
  if (!period) return { nodes, links };
  const places = new Map(view.nodes.map(({ id }, place) => [id, place]));
  const overlaps = new Map<string, boolean>();
  const isWithin = (date: string): boolean => {
    const known = overlaps.get(date);
    if (known !== undefined) return known;
    const span = periodOf(date);
    const result = span !== null && span.from < period.until && span.until > period.from;
    overlaps.set(date, result);
    return result;
  };
  const touched = new Uint8Array(view.nodes.length);
  const dated = new Uint8Array(view.nodes.length);
  for (const [at, { source, target, dates }] of view.links.entries()) {
    const isShown = dates === undefined ? withUndated === true : dates.some(isWithin);
    links[at] = isShown ? 1 : 0;
    for (const place of [places.get(source), places.get(target)]) {
      if (place === undefined || dates === undefined) continue;
      dated[place] = 1;
      if (isShown) touched[place] = 1;
    }
  }
  for (let place = 0; place < nodes.length; place += 1) {
    const isShown = dated[place] === 1 ? touched[place] === 1 : withUndated === true;
    if (!isShown) nodes[place] = 0;
  }
  return { nodes, links };
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

/** Finds nodes that contain all words, the best first. */
export function nodeFinder(nodes: readonly GraphNode[]): (text: string, limit: number) => readonly GraphNode[] {
  let keys: readonly string[] | undefined;
  return (text, limit) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    keys ??= nodes.map((node) => `${node.name} ${node.description ?? ''} ${node.text ?? ''}`.toLowerCase());
    return keys
      .flatMap((key, at) => (words.every((word) => key.includes(word)) ? [nodes[at] as GraphNode] : []))
      .map((node) => ({ node, rank: rank(node, words) }))
      .sort((a, b) => b.rank - a.rank || b.node.degree - a.node.degree)
      .slice(0, limit)
      .map(({ node }) => node);
  };
}

/** The name itself before its beginning and its middle, a thing before a passage or a type. */
function rank({ name, type }: GraphNode, words: readonly string[]): number {
  const text = name.toLowerCase();
  if (!words.every((word) => text.includes(word))) return 0;
  if (type === 'DocumentChunk' || type === 'TextSummary' || type === 'EntityType') return 1;
  return text === words.join(' ') ? 4 : text.startsWith(words[0] ?? '') ? 3 : 2;
}

/** A step of a path: the edge that is gone along, in either direction, and the node that it leads to. */
export interface PathStep {
  readonly link: GraphLink;
  readonly to: string;
}

/**
 * The shortest way from one node to another; null where there is none. A step over a passage counts double: a fact says
 * more than a mention in the same text. Hubs connect everything and nothing: they are left out.
 */
export function shortestPath({ nodes, links }: GraphView, from: string, to: string): readonly PathStep[] | null {
  const hubs = new Set(nodes.filter(isHub).map(({ id }) => id));
  const steps = new Map<string, PathStep[]>();
  for (const link of links) {
    for (const [start, end] of [
      [link.source, link.target],
      [link.target, link.source],
    ] as const) {
      if (hubs.has(end) && end !== to) continue;
      const known = steps.get(start);
      if (known === undefined) steps.set(start, [{ link, to: end }]);
      else known.push({ link, to: end });
    }
  }
  const lengths = new Map([[from, 0]]);
  const reached = new Map<string, PathStep & { readonly from: string }>();
  /** Nodes by their length; each step adds one or two. */
  const queues: string[][] = [[from]];
  for (let length = 0; length < queues.length && (lengths.get(to) ?? Infinity) > length; length += 1) {
    for (const at of queues[length] ?? []) {
      if ((lengths.get(at) ?? 0) < length) continue;
      for (const step of steps.get(at) ?? []) {
        const next = length + (step.link.edge_class === 'semantic' ? 1 : 2);
        if (next >= (lengths.get(step.to) ?? Infinity)) continue;
        lengths.set(step.to, next);
        reached.set(step.to, { ...step, from: at });
        const queue = queues[next];
        if (queue === undefined) queues[next] = [step.to];
        else queue.push(step.to);
      }
    }
  }
  const path: PathStep[] = [];
  for (let step = reached.get(to); step !== undefined; step = reached.get(step.from)) path.unshift(step);
  return path.length === 0 ? null : path;
}

/** The part of a view within some steps of the given nodes, at most `most` nodes; no step leads over a type. */
export function neighbourhoodOf(view: GraphView, centres: readonly string[], depth: number, most: number): GraphView {
  const hubs = new Set(view.nodes.filter(isHub).map(({ id }) => id));
  const known = new Set(view.nodes.map(({ id }) => id));
  const reached = new Set(centres.filter((id) => known.has(id)));
  let edge = new Set(reached);
  for (let step = 0; step < depth && edge.size > 0; step += 1) {
    const next = new Map<string, number>();
    for (const { source, target, edge_class: kind } of view.links) {
      for (const [from, to] of [
        [source, target],
        [target, source],
      ] as const) {
        if (!edge.has(from) || reached.has(to) || (hubs.has(from) && step > 0)) continue;
        next.set(to, (next.get(to) ?? 0) + (kind === 'semantic' ? 2 : 1));
      }
    }
    // Where there are too many, those that hang together most.
    const best = [...next].sort((a, b) => b[1] - a[1]).slice(0, Math.max(0, most - reached.size));
    edge = new Set(best.map(([id]) => id));
    for (const id of edge) reached.add(id);
  }
  return {
    ...view,
    nodes: view.nodes.filter(({ id }) => reached.has(id)),
    links: view.links.filter(({ source, target }) => reached.has(source) && reached.has(target)),
  };
}
