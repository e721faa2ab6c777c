import { CODE_OPERATIONS, type CodeOperation } from '../../../common/domain/code-operations.ts';
import { isEngramError } from '../../../common/kernel/errors.ts';
import type { Json, JsonObject } from '../../../common/kernel/json.ts';
import type { CodeOutcome, SearchRequest } from '../../model.ts';
import type { SearchTarget, TypeDependencies } from '../target.ts';
import type { CodeGraph } from './code-graph.ts';
import {
  explore,
  findPath,
  focusOf,
  impactAnalysis,
  neighbors,
  type Operation,
  queryFacts,
  subgraph,
  traverse,
} from './operations.ts';
import { type CodeQuery, codeError, oneOf } from './options.ts';
import { architecture, ask, delta, flows, hubs, insights, numbersOf, search } from './survey.ts';

const NAMES = CODE_OPERATIONS.toSorted();

const OPERATIONS: Readonly<Record<CodeOperation, Operation>> = {
  explore,
  query_facts: queryFacts,
  traverse,
  find_path: findPath,
  impact_analysis: impactAnalysis,
  delta,
  insights,
  architecture,
  capabilities: (graph) => ({ operation: 'capabilities', version: 1, operations: NAMES, ...numbersOf(graph) }),
  search,
  neighbors,
  subgraph,
  flows,
  hubs,
  ask,
};

/** Operations that have nothing to say of a dataset without code; the others find nothing in it. */
const NEED_CODE: ReadonlySet<string> = new Set(['ask', 'flows']);
const WITHOUT_DIAGRAM: ReadonlySet<string> = new Set(['capabilities', 'search', 'flows', 'hubs', 'ask']);

/** Answers from the code of a dataset, without a model; of several datasets one may not know what is asked for. */
export async function codeSearch(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, isOneOfSeveral }: Pick<SearchTarget, 'dataset' | 'isOneOfSeveral'>,
): Promise<CodeOutcome> {
  const query = request.codeQuery ?? null;
  requireOperation(query);
  const graph = await deps.codeGraphs.read(dataset);
  try {
    return { kind: 'code', type: 'CODE', isFound: true, result: answerFrom(graph, query, request.query) };
  } catch (error) {
    if (!isOneOfSeveral || !isUnresolved(error)) throw error;
    const result = { seed_not_found: true, error: error.message, ...(error.extra as JsonObject) };
    return { kind: 'code', type: 'CODE', isFound: false, result };
  }
}

/** Whether an error says that a dataset does not hold the code that is asked for. */
export function isUnresolved(error: unknown): error is Error & { readonly extra: Readonly<Record<string, unknown>> } {
  if (!isEngramError(error) || error.wireName !== 'CodeSearchValidationError') return false;
  return ['not_found', 'ambiguous', 'no_code_graph'].includes(String(error.extra['code']));
}

function requireOperation(query: CodeQuery | null): CodeOperation {
  const operation = query?.['operation'] ?? 'explore';
  const known = CODE_OPERATIONS.find((name) => name === operation);
  if (known !== undefined) return known;
  throw codeError('unknown_operation', `Unsupported CODE operation ${oneOf(operation, NAMES)}.`, 'operation');
}

/** Runs the operation; without a query the text is what to explore when it names something, or else a question. */
export function answerFrom(graph: CodeGraph, given: CodeQuery | null, words: string): JsonObject {
  const query = given ?? { operation: isQuestion(graph, words) ? 'ask' : 'explore' };
  const operation = requireOperation(query);
  if (graph.nodes.size === 0 && NEED_CODE.has(operation)) {
    const advice = 'Add or remember source files and cognify them, or search the dataset that holds them.';
    throw codeError('no_code_graph', `CODE found no code graph in this dataset. ${advice}`);
  }
  const result = OPERATIONS[operation](graph, { operation, query, words });
  const drawn = diagramOf(result, query['diagram'] ?? operation === 'architecture', WITHOUT_DIAGRAM.has(operation));
  return drawn === null ? result : { ...result, diagram: drawn };
}

function isQuestion(graph: CodeGraph, words: string): boolean {
  if (!/\s/u.test(words.trim())) return false;
  try {
    focusOf(graph, { operation: 'explore', query: {}, words });
    return false;
  } catch (error) {
    if (isUnresolved(error)) return true;
    throw error;
  }
}

/** Draws the edges of a result as Mermaid or DOT; null when no drawing is wanted or the operation has none. */
function diagramOf({ edges }: JsonObject, wanted: unknown, isWithout: boolean): JsonObject | null {
  if (wanted !== true && wanted !== false && wanted !== 'mermaid' && wanted !== 'dot') {
    const known = ['mermaid', 'dot', 'or a boolean'];
    throw codeError('invalid_argument', `Unsupported CODE diagram ${oneOf(wanted, known)}.`, 'diagram');
  }
  if (wanted === false || isWithout || !Array.isArray(edges)) return null;
  const rows = edges as readonly Readonly<Record<'source' | 'target' | 'type' | 'source_id' | 'target_id', string>>[];
  const names = new Map(
    rows.flatMap((edge) => [[edge.source_id, edge.source] as const, [edge.target_id, edge.target] as const]),
  );
  const places = new Map([...names.keys()].map((id, at) => [id, `n${at}`]));
  const quoted = (text: string) => `"${text.replaceAll(/["\\\n]/gu, "'")}"`;
  if (wanted === 'dot') {
    const nodes = [...names].map(([id, name]) => `  ${places.get(id)} [label=${quoted(name)}];`);
    const lines = rows.map(({ source_id, target_id, type }) => {
      return `  ${places.get(source_id)} -> ${places.get(target_id)} [label=${quoted(type)}];`;
    });
    return drawn('dot', ['digraph code {', ...nodes, ...lines, '}']);
  }
  const nodes = [...names].map(([id, name]) => `  ${places.get(id)}[${quoted(name)}]`);
  const lines = rows.map(({ source_id, target_id, type }) => {
    return `  ${places.get(source_id)} -->|${type}| ${places.get(target_id)}`;
  });
  return drawn('mermaid', ['flowchart LR', ...nodes, ...lines]);

  function drawn(format: string, source: readonly string[]): JsonObject {
    return { format, source: source.join('\n'), nodes: names.size, edges: rows.length };
  }
}

/** The result as one line of JSON with sorted keys: the context of CODE. */
export function compactJson(value: Json | undefined): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
