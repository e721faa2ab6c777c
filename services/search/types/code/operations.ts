import type { JsonObject } from '../../../common/kernel/json.ts';
import { type CodeGraph, edgesOf, factOf, factsOf, isOfKind } from './code-graph.ts';
import type { CodeNode } from './code-node.ts';
import {
  type CodeQuery,
  codeError,
  count,
  directionOf,
  flag,
  kindsOf,
  offsetOf,
  relationsOf,
  resolveSeed,
  text,
  texts,
} from './options.ts';
import { isRelation, pathTo, presentWalk, stepsFrom, type Walk, walk } from './walk.ts';

/** One request to the graph. `words`: the text of the query. */
export interface Asked {
  readonly operation: string;
  readonly query: CodeQuery;
  readonly words: string;
}

export type Operation = (graph: CodeGraph, asked: Asked) => JsonObject;

/** The one node that the options name, else the text of the query. */
export function focusOf(graph: CodeGraph, { operation, query, words }: Asked): CodeNode {
  const repo = text(query, 'repo');
  const id = text(query, 'id', 'node_id');
  const seed = id ?? text(query, 'name', 'focus') ?? words.trim();
  const what = whatOf(operation);
  if (seed === '') throw codeError('invalid_argument', `CODE ${what} requires a non-empty name or id.`, 'name');
  return resolveSeed(graph, seed, { what, param: id === null ? 'name' : 'id', repo });
}

function whatOf(operation: string): string {
  if (operation === 'impact_analysis') return 'impact target';
  return operation === 'neighbors' ? 'neighbors anchor' : `${operation} seed`;
}

const SEED_KEYS = {
  name: ['name', 'names', 'focus', 'seed', 'seeds', 'start', 'starts', 'target', 'targets'],
  id: ['id', 'ids', 'node_id', 'node_ids', 'seed_ids', 'start_id', 'start_ids', 'target_id', 'target_ids'],
} as const;

/** The nodes that the options name, each once, else the text of the query. */
function seedsOf(graph: CodeGraph, asked: Asked, most = Number.POSITIVE_INFINITY): readonly CodeNode[] {
  const { operation, query } = asked;
  const repo = text(query, 'repo');
  const found = (['name', 'id'] as const).flatMap((param) =>
    texts(query, ...SEED_KEYS[param])
      .slice(0, most)
      .map((seed) => resolveSeed(graph, seed, { what: whatOf(operation), param, repo })),
  );
  return found.length === 0 ? [focusOf(graph, asked)] : [...new Set(found)].slice(0, most);
}

export const explore: Operation = (graph, asked) => {
  const { query } = asked;
  const focus = focusOf(graph, asked);
  const found = walk(graph, [focus], {
    direction: directionOf(query, 'both'),
    maxDepth: count(query, 'max_depth', [1, 2]),
    maxNodes: count(query, 'max_nodes', [100, 500]),
    relations: relationsOf(query),
    kinds: kindsOf(query, 'node_types'),
  });
  return { operation: 'explore', focus: factWithRelations(graph, focus, []), ...presentWalk(graph, found) };
};

function factWithRelations(graph: CodeGraph, node: CodeNode, relations: readonly string[]): JsonObject {
  const shown = edgesOf(graph, graph.from.get(node.id)?.filter((edge) => isRelation(edge, relations)) ?? []);
  if (shown.length === 0) return factOf(node);
  return { ...factOf(node), relations: shown.map(({ type, target_id, target }) => ({ type, target_id, target })) };
}

export const queryFacts: Operation = (graph, { query, words }) => {
  const byWords = Object.keys(query).every((key) => key === 'operation') ? words.trim() : '';
  const part = (text(query, 'name') ?? byWords).toLowerCase();
  const names = texts(query, 'names').map((name) => name.toLowerCase());
  const kinds = kindsOf(query, 'kind', 'kinds');
  const files = texts(query, 'file', 'files');
  const prefix = text(query, 'file_prefix') ?? '';
  const repo = text(query, 'repo');
  const relations = relationsOf(query);
  const property = text(query, 'property', 'prop');
  const value = text(query, 'property_value', 'prop_value');
  const [offset, limit] = [offsetOf(query), count(query, 'limit', [100, 500])];
  const found = [...graph.nodes.values()].filter((node) => {
    const name = node.name.toLowerCase();
    const own = property === null ? undefined : new Map(Object.entries(factOf(node))).get(property);
    return (
      isOfKind(node, kinds) &&
      name.includes(part) &&
      (names.length === 0 || names.includes(name)) &&
      (files.length === 0 || files.includes(node.file ?? '')) &&
      (node.file ?? '').startsWith(prefix) &&
      (repo === null || node.repo === repo) &&
      (relations.length === 0 || stepsFrom(graph, node.id, 'forward', relations).length > 0) &&
      (property === null || (value === null ? own !== undefined : own === value))
    );
  });
  const facts = found.slice(offset, offset + limit).map((node) => {
    return factWithRelations(graph, node, relations);
  });
  const page = { total: found.length, offset, limit, has_more: offset + facts.length < found.length };
  return { operation: 'query_facts', facts, ...page };
};

export const traverse: Operation = (graph, asked) => {
  const { query } = asked;
  const direction = directionOf(query, 'forward');
  const seeds = seedsOf(graph, asked);
  const isRolled = flag(query, true, 'type_rollup') && direction === 'reverse';
  const found = walk(graph, isRolled ? withMembers(graph, seeds) : seeds, {
    direction,
    maxDepth: count(query, 'max_depth', [5, 20]),
    maxNodes: count(query, 'max_nodes', [100, 500]),
    relations: relationsOf(query),
    kinds: kindsOf(query, 'node_types'),
  });
  return { operation: 'traverse', ...presentWalk(graph, found) };
};

/** The seeds and, of the classes among them, the members. */
function withMembers(graph: CodeGraph, seeds: readonly CodeNode[]): readonly CodeNode[] {
  const members = seeds
    .filter(({ symbolKind }) => symbolKind === 'class')
    .flatMap(({ id }) => stepsFrom(graph, id, 'forward', ['defines']))
    .flatMap(({ next }) => graph.nodes.get(next) ?? []);
  return [...new Set([...seeds, ...members])];
}

export const findPath: Operation = (graph, asked) => {
  const { query } = asked;
  const end = (side: 'source' | 'target', ids: readonly string[], names: readonly string[]) => {
    const id = text(query, ...ids);
    const seed = id ?? text(query, ...names);
    const param = id === null ? 'name' : 'id';
    const what = `path ${side}`;
    if (seed === null) throw codeError('invalid_argument', `CODE ${what} requires a non-empty name or id.`, side);
    return resolveSeed(graph, seed, { what, param, repo: text(query, `${side}_repo`, 'repo') });
  };
  const from = end('source', ['source_id', 'from_id', 'id'], ['source', 'from', 'name']);
  const to = end('target', ['target_id', 'to_id'], ['target', 'to']);
  const targets = flag(query, true, 'target_rollup') ? withMembers(graph, [to]) : [to];
  const maxDepth = count(query, 'max_depth', [10, 20]);
  const way = pathTo(graph, from, new Set(targets.map(({ id }) => id)), maxDepth);
  const nodes = way === null ? [] : [from, ...way.flatMap(({ target }) => graph.nodes.get(target) ?? [])];
  const last = nodes.at(-1);
  return {
    operation: 'find_path',
    from: factOf(from),
    to: factOf(to),
    found: way !== null,
    path: nodes.map((node, depth) => ({ ...factOf(node), depth })),
    edges: edgesOf(graph, way ?? []),
    ...(last === undefined || last === to ? {} : { matched_to: factOf(last) }),
  };
};

/** Ways by which a change of a symbol reaches others. */
export const USES = ['calls', 'references', 'handled_by', 'extends', 'implements'];

/** Those that use the targets, directly or through others; where no use is known, those that import their files. */
export const impactAnalysis: Operation = (graph, asked) => {
  const { query } = asked;
  const targets = seedsOf(graph, asked);
  const seeds = withMembers(graph, targets);
  const wanted = relationsOf(query);
  const limits = { maxDepth: count(query, 'max_depth', [3, 10]), maxNodes: count(query, 'max_nodes', [200, 500]) };
  const reach = (relations: readonly string[]) => walk(graph, seeds, { ...limits, relations, direction: 'reverse' });
  const isOfSymbols = targets.every(({ kind }) => kind === 'symbol');
  const uses = reach(wanted.length > 0 || !isOfSymbols ? wanted : USES);
  const isUsed = uses.found.some(({ depth }) => depth > 0);
  const { found, edges, stats } = isUsed || wanted.length > 0 ? uses : reach([]);
  const dependents = found.filter(({ depth }) => depth > 0);
  const byDepth = Map.groupBy(dependents, ({ depth }) => String(depth));
  const own = new Set(targets.map(({ repo }) => repo));
  const others = [...new Set(dependents.flatMap(({ node }) => (own.has(node.repo) ? [] : (node.repo ?? []))))].sort();
  const forward = flag(query, false, 'include_dependencies', 'include_forward')
    ? presentWalk(graph, walk(graph, seeds, { ...limits, relations: wanted, direction: 'forward' }))
    : null;
  return {
    operation: 'impact_analysis',
    targets: factsOf(targets),
    impact_seeds: seeds.map((node) => ({ ...factOf(node), depth: 0 })),
    by_depth: Object.fromEntries(
      [...byDepth].map(([depth, rows]) => [depth, rows.map((row) => ({ ...factOf(row.node), depth: row.depth }))]),
    ),
    edges: edgesOf(graph, edges),
    total_dependents: dependents.length,
    cross_repo_impact: others,
    summary: `${impactOf(targets, dependents)}${isUsed || !isOfSymbols ? '' : ' No use of it is known: these import its file.'}`,
    stats,
    ...(forward === null ? {} : { forward_dependencies: forward }),
  };
};

function impactOf(targets: readonly CodeNode[], dependents: Walk['found']): string {
  const direct = dependents.filter(({ depth }) => depth === 1).length;
  const files = new Set(dependents.flatMap(({ node }) => node.file ?? []));
  const names = targets.map(({ name }) => name).join(', ');
  return `${dependents.length} depend on ${names}: ${direct} directly, ${dependents.length - direct} through others, in ${files.size} files.`;
}

export const neighbors: Operation = (graph, asked) => {
  const { query } = asked;
  const anchor = focusOf(graph, asked);
  const [offset, limit] = [offsetOf(query), count(query, 'limit', [50, 200])];
  const steps = stepsFrom(graph, anchor.id, directionOf(query, 'both'), relationsOf(query));
  const shown = steps.slice(offset, offset + limit);
  const page = { total: steps.length, offset, limit, has_more: offset + shown.length < steps.length };
  return {
    operation: 'neighbors',
    anchor: factOf(anchor),
    neighbors: shown.flatMap(({ edge, next }) => {
      const node = graph.nodes.get(next);
      const direction = edge.source === anchor.id ? 'out' : 'in';
      const at = `${edge.file}:${edge.line}`;
      return node === undefined ? [] : [{ relation: edge.type, direction, at, node: factOf(node) }];
    }),
    edges: edgesOf(
      graph,
      shown.map(({ edge }) => edge),
    ),
    ...page,
    truncated: page.has_more,
  };
};

export const subgraph: Operation = (graph, asked) => {
  const { query } = asked;
  const limits = {
    seeds: 20,
    depth: count(query, 'max_depth' in query ? 'max_depth' : 'depth', [1, 3]),
    max_nodes: count(query, 'max_nodes', [100, 500]),
    max_edges: count(query, 'max_edges', [300, 1000]),
  };
  const seeds = seedsOf(graph, asked, limits.seeds);
  const found = walk(graph, seeds, {
    direction: directionOf(query, 'both'),
    maxDepth: limits.depth,
    maxNodes: limits.max_nodes,
    relations: relationsOf(query),
    kinds: kindsOf(query, 'node_types'),
  });
  const reasons = [
    ...(found.stats['truncated'] === true ? ['max_nodes'] : []),
    ...(found.edges.length > limits.max_edges ? ['max_edges'] : []),
  ];
  const { nodes, edges } = presentWalk(graph, { ...found, edges: found.edges.slice(0, limits.max_edges) });
  const { nodes_visited, edges_traversed: edges_considered, max_depth_reached: depth_reached } = found.stats;
  return {
    operation: 'subgraph',
    seeds: factsOf(seeds),
    seeds_missing: [],
    nodes,
    edges,
    limits,
    truncated: reasons.length > 0,
    truncation_reason: reasons[0] ?? null,
    truncation_reasons: reasons,
    stats: { nodes_visited, edges_considered, depth_reached },
  };
};
