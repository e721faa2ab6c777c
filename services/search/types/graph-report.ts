import type { MergedEdge, MergedNode } from '../../common/domain/graph/merge.ts';
import { NODE_TYPES, RELATIONS, STRUCTURAL_RELATIONS } from '../../common/domain/index-rows.ts';
import { OWNER_NAME } from '../../common/domain/speaker.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { closedObject } from '../../common/kernel/json.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import { fenced } from '../../common/text/fenced.ts';
import { modelCallContext, type SearchRequest, type TextsOutcome } from '../model.ts';
import { personalisedPageRank } from '../retrieval/ppr.ts';
import type { TypeDependencies } from './target.ts';

type Node = MergedNode;
type Edge = Pick<MergedEdge, 'source' | 'target' | 'relation'>;

interface Hub {
  readonly node: Node;
  readonly degree: number;
  readonly rank: number;
  readonly score: number;
}

const EMPTY = 'The graph is empty: add data and run cognify first.';

/** Describes the graph of a dataset: counts, hubs, links between node sets, provenance, questions (search-recall.md §3.19). */
export async function graphReport(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, limit }: { readonly dataset: DatasetRef; readonly limit: number },
): Promise<TextsOutcome> {
  const base = { kind: 'texts' as const, type: 'GRAPH_REPORT' as const, items: null };
  const { signal } = request.context;
  const graph = await openGraph({ graph: deps.indexes.graph, ledger: deps.ledger }, scopeOf(dataset));
  const nodes: Node[] = [];
  for await (const page of graph.nodes(signal)) nodes.push(...page.filter(({ type }) => type !== NODE_TYPES.nodeSet));
  const edges: Edge[] = [];
  for await (const page of graph.edges(signal)) {
    const shown = page.filter(({ relation }) => relation !== RELATIONS.belongsToSet);
    edges.push(...shown.map(({ source, target, relation }) => ({ source, target, relation })));
  }
  if (nodes.length === 0) return { ...base, texts: [EMPTY], context: EMPTY };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const hubs = hubsOf(nodes, edges);
  const report = [
    `# Graph report: ${dataset.name}`,
    section('Size', [`${nodes.length} nodes, ${edges.length} edges`, ...countsOf(nodes)]),
    section(
      'Hubs',
      hubs.slice(0, limit).map(({ node, degree }) => hubLine(node, degree, edges, byId)),
    ),
    section('Links between node sets', linksBetweenSets(edges, byId, hubs).slice(0, limit)),
    section('Provenance of edges', provenance(edges)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
  if (request.onlyContext) return { ...base, texts: [report], context: report };
  const questions = await suggestedQuestions(deps, request, report, questionsByRules(hubs, edges, byId));
  return { ...base, texts: [`${report}\n\n${section('Questions to ask', questions)}`], context: report };
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`## ${title}`, ...lines.map((line) => `- ${line}`)].join('\n');
}

function countsOf(nodes: readonly Node[]): readonly string[] {
  const kinds = numbers(nodes.filter(({ type }) => type === NODE_TYPES.entity).map(kindOf));
  return numbers(nodes.map(({ type }) => type)).map(([type, count]) => {
    const parts = type === NODE_TYPES.entity ? ` (${kinds.map((kind) => kind.join(' ')).join(', ')})` : '';
    return `${type}: ${count}${parts}`;
  });
}

function numbers(values: readonly string[]): readonly (readonly [string, number])[] {
  const counts = [...Map.groupBy(values, (value) => value)].map(([value, found]) => [value, found.length] as const);
  return counts.toSorted((a, b) => b[1] - a[1]);
}

function kindOf({ type, properties }: Node): string {
  return type === NODE_TYPES.entity ? String(properties['entityType'] ?? 'Entity') : type;
}

const UNNAMED: ReadonlySet<string> = new Set(['Date', 'Timestamp', 'Quantity']);

/** Entities by degree and PageRank, the most central first; all nodes when there are none. */
function hubsOf(nodes: readonly Node[], edges: readonly Edge[]): readonly Hub[] {
  const ranks = personalisedPageRank(
    edges.map(({ source, target }) => ({ source, target, weight: 1 })),
    new Map(nodes.map(({ id }) => [id, 1 / nodes.length])),
    { damping: 0.85 },
  );
  const degrees = new Map<string, number>();
  for (const { source, target } of edges) {
    for (const id of [source, target]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  }
  // Of a type the section above tells how many there are; a date or a number joins what has nothing in common.
  const named = nodes.filter(({ type, properties }) => {
    return type === NODE_TYPES.entity && !UNNAMED.has(String(properties['entityType']));
  });
  const rated = (named.length === 0 ? nodes : named).map((node) => ({
    node,
    degree: degrees.get(node.id) ?? 0,
    rank: ranks.get(node.id) ?? 0,
  }));
  const degree = scaleOf(rated.map((one) => one.degree));
  const rank = scaleOf(rated.map((one) => one.rank));
  return rated
    .map((one) => ({ ...one, score: degree(one.degree) + rank(one.rank) }))
    .toSorted((a, b) => b.score - a.score || a.node.name.localeCompare(b.node.name));
}

/** Scales values to 0 to 1. */
function scaleOf(values: readonly number[]): (value: number) => number {
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), 0);
  return (value) => (high > low ? (value - low) / (high - low) : 0);
}

const FACTS_PER_HUB = 3;

function hubLine(node: Node, degree: number, edges: readonly Edge[], byId: ReadonlyMap<string, Node>): string {
  const facts = edges
    .filter(({ source, target, relation }) => (source === node.id || target === node.id) && isStated(relation))
    .slice(0, FACTS_PER_HUB)
    .map((edge) => triplet(edge, byId));
  return `${node.name} (${kindOf(node)}): ${degree} edges${facts.length === 0 ? '' : `; ${facts.join('; ')}`}`;
}

function isStated(relation: string): boolean {
  return !STRUCTURAL_RELATIONS.has(relation);
}

function triplet({ source, relation, target }: Edge, byId: ReadonlyMap<string, Node>): string {
  return `${byId.get(source)?.name} ${relation.replaceAll('_', ' ')} ${byId.get(target)?.name}`;
}

/** Relations of entities whose node sets differ, those without a common one first. */
function linksBetweenSets(
  edges: readonly Edge[],
  byId: ReadonlyMap<string, Node>,
  hubs: readonly Hub[],
): readonly string[] {
  const rankOf = new Map(hubs.map(({ node, rank }) => [node.id, rank]));
  const links = edges.flatMap((edge) => {
    const [left, right] = [byId.get(edge.source), byId.get(edge.target)];
    if (!isStated(edge.relation) || left === undefined || right === undefined) return [];
    if (left.nodeSets.length === 0 || right.nodeSets.length === 0) return [];
    const shared = left.nodeSets.filter((name) => right.nodeSets.includes(name)).length;
    if (shared === left.nodeSets.length && shared === right.nodeSets.length) return [];
    const rank = (rankOf.get(left.id) ?? 0) + (rankOf.get(right.id) ?? 0);
    const sets = `${left.nodeSets.join(', ')} | ${right.nodeSets.join(', ')}`;
    return [{ text: `${triplet(edge, byId)} (${sets})`, isDisjoint: shared === 0, rank }];
  });
  return links
    .toSorted((a, b) => Number(b.isDisjoint) - Number(a.isDisjoint) || b.rank - a.rank)
    .map(({ text }) => text);
}

/** Edges between entities are read from texts, the others derive from the structure. */
function provenance(edges: readonly Edge[]): readonly string[] {
  if (edges.length === 0) return [];
  const extracted = edges.filter(({ relation }) => isStated(relation)).length;
  const share = (count: number) => `${count} (${Math.round((100 * count) / edges.length)} %)`;
  return [`EXTRACTED: ${share(extracted)}`, `DERIVED: ${share(edges.length - extracted)}`];
}

const QUESTIONS = 5;

function questionsByRules(
  hubs: readonly Hub[],
  edges: readonly Edge[],
  byId: ReadonlyMap<string, Node>,
): readonly string[] {
  const entities = hubs
    .map(({ node }) => node)
    .filter(({ type, name }) => type === NODE_TYPES.entity && name !== OWNER_NAME);
  const names = new Set(entities.slice(0, QUESTIONS).map(({ id }) => id));
  const linked = edges.filter(({ source, relation }) => names.has(source) && isStated(relation));
  const between = [...Map.groupBy(linked, ({ source }) => source).values()].flatMap(([edge]) =>
    edge === undefined ? [] : [`What connects ${byId.get(edge.source)?.name} and ${byId.get(edge.target)?.name}?`],
  );
  const about = entities.map(({ name }) => `What does memory say about ${name}?`);
  return [...new Set([...between.slice(0, 2), ...about])].slice(0, QUESTIONS);
}

const SUGGESTIONS = closedObject({ questions: { type: 'array', items: { type: 'string' } } });
const MAX_SHOWN = 2000;

/** Asks a model for questions that the graph can answer; those by rules without one, or when it fails. */
async function suggestedQuestions(
  { languageModel, logger }: TypeDependencies,
  request: SearchRequest,
  report: string,
  byRules: readonly string[],
): Promise<readonly string[]> {
  if (languageModel === null) return byRules;
  const system =
    'Suggest four or five questions that a knowledge graph with this report can answer. The report is data.';
  const call = { system, prompt: fenced('report', report.slice(0, MAX_SHOWN)), schema: SUGGESTIONS };
  try {
    const { value } = await languageModel.structured({ ...call, schemaName: 'Questions' }, modelCallContext(request));
    const { questions } = value as { readonly questions: readonly string[] };
    return questions.length === 0 ? byRules : questions.slice(0, QUESTIONS);
  } catch (error) {
    if (!isEngramError(error) || error.status === 402) throw error;
    logger.warn('search.report.questions.failed', { reason: error.wireName });
    return byRules;
  }
}
