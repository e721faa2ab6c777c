import type { JsonObject } from '../../../common/kernel/json.ts';
import { STOP_WORDS } from '../../../common/text/language/stop-words.ts';
import { type CodeGraph, edgesOf, factOf, factsOf, placeOf } from './code-graph.ts';
import type { CodeEdge, CodeNode } from './code-node.ts';
import { type Asked, impactAnalysis, type Operation } from './operations.ts';
import { codeError, count, labelOf, offsetOf, text, tierOf } from './options.ts';
import { routesAt } from './routes-at.ts';
import { presentWalk, stepsFrom, stepsWithMembers, type Walk, walk } from './walk.ts';

interface Ranked {
  readonly terms: readonly string[];
  readonly hits: readonly { readonly node: CodeNode; readonly score: number }[];
}

/** Words that only code has: `priceOf`, `cart_total`, `Cart.add`, `src/cart.ts`, `GET`. */
const CODE_WORD = /[a-z\d][A-Z]|[_/]|[\p{L}\p{N}]\.[\p{L}\p{N}]|^[A-Z]{2,}/u;
const BREAKS = /\b(?:break|impact|affect|chang|depend|delet|remov|renam|safe)/iu;

/** The nodes whose names say most of the words, best first; the words of a question count where it has no words of code. */
function ranked(graph: CodeGraph, words: string, repo: string | null): Ranked {
  const all = words
    .split(/[^\p{L}\p{N}_./@:#$-]+/u)
    .map((word) => word.replace(/^[./:-]+(?=[\p{L}\p{N}])|[./:-]+$/gu, ''))
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word.toLowerCase()));
  const ofCode = all.filter((word) => CODE_WORD.test(word));
  const asked = ofCode.length > 0 ? ofCode : all;
  const terms = asked.map((word) => word.toLowerCase());
  const hits = inRepo(graph, repo)
    .map((node) => {
      const exact = asked.includes(node.name) ? 1 : 0;
      return { node, score: terms.reduce((sum, word) => sum + tierOf(node, word), exact) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  return { terms, hits };
}

function inRepo(graph: CodeGraph, repo: string | null): readonly CodeNode[] {
  return [...graph.nodes.values()].filter((node) => repo === null || node.repo === repo);
}

function wordsOf({ operation, query, words }: Asked, ...keys: readonly string[]): string {
  const asked = text(query, ...keys) ?? words.trim();
  if (asked === '') throw codeError('invalid_argument', `CODE ${operation} requires a non-empty text.`, keys[0]);
  return asked;
}

/** One page of a list, as the answers of the contract have it. */
function page<Row>(rows: readonly Row[], { query }: Asked, limits: readonly [number, number]) {
  const [offset, limit] = [offsetOf(query), count(query, 'limit', limits)];
  const shown = rows.slice(offset, offset + limit);
  return { shown, figures: { total: rows.length, offset, limit, has_more: offset + shown.length < rows.length } };
}

export const search: Operation = (graph, asked) => {
  const words = wordsOf(asked, 'text', 'query', 'name');
  const { terms, hits } = ranked(graph, words, text(asked.query, 'repo'));
  const { shown, figures } = page(hits, asked, [10, 50]);
  const facts = shown.map(({ node, score }) => ({ ...factOf(node), score, matched: ['name'] }));
  return { operation: 'search', query: words, terms, hits: facts, ...figures };
};

/** Answers with what the graph says of the nodes that the question names; each citation is a place in a file. */
export const ask: Operation = (graph, asked) => {
  const { query } = asked;
  const question = wordsOf(asked, 'question', 'text', 'query');
  const repo = text(query, 'repo');
  const { terms, hits } = ranked(graph, question, repo);
  const best = hits[0]?.score ?? 0;
  const addressed = routesIn(graph, question).filter((node) => repo === null || node.repo === repo);
  // A part of a name says little beside a whole one.
  const alike = hits.filter(({ score }) => (best >= 3 ? score >= best : 2 * score >= best)).map(({ node }) => node);
  const named = addressed.length > 0 ? addressed : alike;
  const isListed = addressed.length === 0 && (alike.length === 0 || best < 3);
  const listed = isListed ? inRepo(graph, repo).filter((node) => terms.some((term) => isKind(node, term))) : [];
  const seeds = (listed.length > 0 ? listed : named).slice(0, count(query, 'seeds', [5, 10]));
  const near = walk(graph, seeds, { direction: 'both', maxDepth: 1, maxNodes: count(query, 'max_nodes', [60, 200]) });
  const lines = listed.length > 0 ? listLines(listed) : seeds.map((node) => lineOf(graph, node));
  const impact = BREAKS.test(question) && listed.length === 0 ? seeds.map((node) => impactLine(graph, node)) : [];
  const { nodes, edges } = presentWalk(graph, near);
  return {
    operation: 'ask',
    question,
    terms,
    answer: [...lines, ...impact].join('\n') || 'The code graph names nothing of the question.',
    seeds: factsOf(seeds),
    flows: flowsOf(graph, reaching(graph, seeds)).slice(0, 5).map(presentFlow),
    neighborhood: { nodes, edges },
    citations: citationsOf(graph, seeds, near.edges).slice(0, count(query, 'citations', [25, 60])),
    coverage: { code_graph: true, seeds: seeds.length, truncated: near.stats['truncated'] === true },
    next: seeds.slice(0, 3).map((node) => {
      const why = `Every caller, callee and other link of ${node.name}.`;
      return { code_query: { operation: 'neighbors', id: node.id }, why };
    }),
    truncated: near.stats['truncated'] === true,
  };
};

/** The routes that the words of a question give the address of: `DELETE /stock/{sku}`. */
function routesIn(graph: CodeGraph, question: string): readonly CodeNode[] {
  const [address] = /(?<![\p{L}\p{N}_.])(?:[A-Z]{3,7} )?\/[^\s`'"?,]*/u.exec(question) ?? [];
  return address === undefined ? [] : routesAt(graph, address);
}

/** The nodes whose flow may pass through the seeds. */
function reaching(graph: CodeGraph, seeds: readonly CodeNode[]): readonly CodeNode[] {
  const relations = ['calls', 'handled_by'];
  const { found } = walk(graph, seeds, { ...FLOW, direction: 'reverse', relations });
  return found.map(({ node }) => node);
}

/** `routes`, `classes`, `modules` */
function isKind({ kind, symbolKind }: CodeNode, term: string): boolean {
  const names = [kind, symbolKind ?? '', ...(kind === 'route' ? ['endpoint'] : [])].filter(Boolean);
  return names.some((name) => [name, `${name}s`, `${name}es`, name.replace(/y$/u, 'ies')].includes(term));
}

const LISTED = 50;

function listLines(nodes: readonly CodeNode[]): readonly string[] {
  const lines = nodes.slice(0, LISTED).map((node) => `${labelOf(node)} (${placeOf(node)})`);
  return nodes.length > LISTED ? [...lines, `and ${nodes.length - LISTED} more`] : lines;
}

const NAMES_TOLD = 10;
const VERBS: readonly (readonly [CodeEdge['type'], string, string])[] = [
  ['calls', 'calls', 'called by'],
  ['references', 'uses', 'used by'],
  ['handled_by', 'handled by', 'handles'],
  ['implements', 'implements', 'implemented by'],
  ['extends', 'extends', 'extended by'],
  ['imports', 'imports', 'imported by'],
  ['defines', 'defines', 'defined by'],
];

/** One line about a node: `priceOf (function, price.ts:4): called by Cart.total (cart.ts:5).` */
function lineOf(graph: CodeGraph, node: CodeNode): string {
  const parts = VERBS.flatMap(([type, out, into]) => [
    linksOf(graph, into, stepsFrom(graph, node.id, 'reverse', [type])),
    linksOf(graph, out, stepsWithMembers(graph, node, 'forward', [type])),
  ]).filter((part) => part !== '' && !part.startsWith('defined by'));
  const place = node.kind === 'dependency' ? '' : `, ${placeOf(node)}`;
  const known = parts.join('; ') || 'nothing else is known';
  return `${labelOf(node)} (${node.symbolKind ?? node.kind}${place}): ${known}.`;
}

/** `called by Cart.total (cart.ts:5) and 3 more`; '' for no steps. */
export function linksOf(graph: CodeGraph, verb: string, steps: ReturnType<typeof stepsFrom>): string {
  if (steps.length === 0) return '';
  const isInside = verb === 'defines';
  const names = steps.slice(0, NAMES_TOLD).map(({ edge, next }) => {
    const name = labelOf(graph.nodes.get(next) as CodeNode);
    return isInside ? name : name === edge.file ? `${name}:${edge.line}` : `${name} (${edge.file}:${edge.line})`;
  });
  const more = steps.length > names.length ? ` and ${steps.length - names.length} more` : '';
  return `${verb} ${names.join(', ')}${more}`;
}

function impactLine(graph: CodeGraph, node: CodeNode): string {
  const { summary } = impactAnalysis(graph, { operation: 'impact_analysis', query: { id: node.id }, words: '' });
  return String(summary);
}

function citationsOf(graph: CodeGraph, seeds: readonly CodeNode[], edges: readonly CodeEdge[]): readonly JsonObject[] {
  const own = seeds.flatMap((node) => {
    if (node.file === null) return [];
    return [{ ...citation(node), cite: placeOf(node), why: 'seed' }];
  });
  const stated = edges.flatMap(({ source, target, type, file, line }) => {
    const [from, to] = [graph.nodes.get(source), graph.nodes.get(target)];
    if (from === undefined || to === undefined || type === 'defines') return [];
    return [{ ...citation(from), file, line, cite: `${file}:${line}`, why: `${from.name} ${type} ${to.name}` }];
  });
  return [...own, ...stated];
}

function citation({ id, kind, name, file, line }: CodeNode): JsonObject {
  return { node_id: id, kind, name, file, ...(line === null ? {} : { line }) };
}

export const hubs: Operation = (graph, { query }) => {
  const rated = inRepo(graph, text(query, 'repo'))
    .map((node) => {
      const [out, into] = [graph.from.get(node.id)?.length ?? 0, graph.into.get(node.id)?.length ?? 0];
      return { node, figures: { degree: out + into, in_degree: into, out_degree: out } };
    })
    .sort((a, b) => b.figures.degree - a.figures.degree);
  const limit = count(query, 'limit', [20, 100]);
  const shown = rated.slice(0, limit).map(({ node, figures }) => ({ ...factOf(node), ...figures }));
  return { operation: 'hubs', hubs: shown, total: rated.length, limit };
};

interface Flow {
  readonly entry: CodeNode;
  readonly routes: readonly CodeNode[];
  readonly reached: Walk;
}

const FLOW = { direction: 'forward', maxDepth: 5, maxNodes: 100 } as const;

/**
 * Entry points with all that they call, those that reach most first: handlers of routes, else functions and modules that call
 * others and are called by none.
 */
function flowsOf(graph: CodeGraph, nodes: readonly CodeNode[]): readonly Flow[] {
  const handled = Map.groupBy(
    nodes.filter(({ kind }) => kind === 'route'),
    ({ id }) => stepsFrom(graph, id, 'forward', ['handled_by'])[0]?.next,
  );
  const isEntry = ({ id, kind }: CodeNode) => {
    if (handled.has(id)) return true;
    if (kind !== 'symbol' && kind !== 'module') return false;
    const isUsed = stepsFrom(graph, id, 'reverse', ['calls', 'references', 'imports']).length > 0;
    return !isUsed && stepsFrom(graph, id, 'forward', ['calls', 'imports']).length > 0;
  };
  return nodes
    .filter(isEntry)
    .map((entry) => {
      const relations = entry.kind === 'module' ? ['calls', 'imports'] : ['calls'];
      return { entry, routes: handled.get(entry.id) ?? [], reached: walk(graph, [entry], { ...FLOW, relations }) };
    })
    .sort((a, b) => rank(b) - rank(a));
}

/** Flows of routes come first. */
function rank({ routes, reached }: Flow): number {
  return reached.found.length + (routes.length > 0 ? FLOW.maxNodes : 0);
}

function presentFlow({ entry, routes, reached }: Flow): JsonObject {
  const place = ({ id, name, file, line }: CodeNode) => ({ name, node_id: id, file, line });
  const stages = reached.found.slice(1);
  const names = stages.slice(0, NAMES_TOLD).map(({ node }) => node.name);
  const more = stages.length > names.length ? ` and ${stages.length - names.length} more` : '';
  return {
    id: entry.id,
    name: routes[0] === undefined ? entry.name : labelOf(routes[0]),
    repo: entry.repo,
    mechanism: routes.length > 0 ? 'route' : entry.kind === 'module' ? 'module' : 'call',
    entry: place(entry),
    routes: routes.map((route) => ({ ...place(route), method: route.properties?.['method'] })),
    summary: `${placeOf(entry)} ${entry.name} reaches ${names.join(', ') || 'nothing else'}${more}.`,
    metrics: {
      reach: reached.found.length,
      modules: new Set(reached.found.map(({ node }) => node.file)).size,
      max_depth: reached.stats['max_depth_reached'],
    },
    stages: stages.map(({ node, depth }, at) => ({ ...place(node), order: at + 1, depth })),
  };
}

export const flows: Operation = (graph, asked) => {
  const found = flowsOf(graph, inRepo(graph, text(asked.query, 'repo')));
  const { shown, figures } = page(found, asked, [20, 50]);
  return { operation: 'flows', mode: 'list', flows: shown.map(presentFlow), ...figures };
};

/** The map of the modules and routes: what each module defines, and the imports between them and of packages. */
export const architecture: Operation = (graph, { query }) => {
  const nodes = inRepo(graph, text(query, 'repo')).filter(({ kind }) => kind !== 'symbol');
  const ids = new Set(nodes.map(({ id }) => id));
  const edges = [...graph.edges.keys()].filter(({ source, target }) => ids.has(source) && ids.has(target));
  const counted = (id: string, direction: 'forward' | 'reverse', type: string) =>
    stepsFrom(graph, id, direction, [type]).length;
  return {
    operation: 'architecture',
    repos: [...new Set(nodes.flatMap(({ repo }) => repo ?? []))],
    nodes: nodes.map((node) => ({
      ...factOf(node),
      imports: counted(node.id, 'forward', 'imports'),
      imported_by: counted(node.id, 'reverse', 'imports'),
      defines: counted(node.id, 'forward', 'defines'),
    })),
    edges: edgesOf(graph, edges),
    stats: { nodes_total: nodes.length, nodes_shown: nodes.length, edges_shown: edges.length, truncated: false },
  };
};

/** Findings of analysers: cognify runs none on code, so none are stored. */
export const insights: Operation = (_graph, asked) => {
  return { operation: 'insights', insights: [], ...page([], asked, [50, 200]).figures, by_source: {} };
};

/** Snapshots of repositories: none are taken, files are added one by one. */
export const delta: Operation = () => ({ operation: 'delta', repositories: [] });

/** The numbers of what the graph holds, by kind, kind of symbol and relation. */
export function numbersOf(graph: CodeGraph): JsonObject {
  const nodes = [...graph.nodes.values()];
  return {
    features: { docs: false, flows: nodes.length > 0 },
    counts: {
      nodes: nodes.length,
      edges: graph.edges.size,
      symbols: nodes.filter(({ kind }) => kind === 'symbol').length,
      repositories: new Set(nodes.flatMap(({ repo }) => repo ?? [])).size,
    },
    kinds: numbers(nodes.map(({ kind }) => kind)),
    symbol_kinds: numbers(nodes.flatMap(({ symbolKind }) => symbolKind ?? [])),
    relation_types: numbers([...graph.edges.keys()].map(({ type }) => type)),
  };
}

function numbers(values: readonly string[]): JsonObject {
  return Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));
}
