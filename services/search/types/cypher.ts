import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { closedObject, type JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import type { CypherRows } from '../../common/storage/ports/graph-store.ts';
import { modelCallContext, type RecordsOutcome, type SearchRequest } from '../model.ts';
import { createVisibility, hasSearchableMemory } from '../retrieval/visibility.ts';
import type { QueryType } from '../search-types.ts';
import type { TypeDependencies } from './target.ts';

/** Maximum model calls of one NATURAL_LANGUAGE search in a dataset (search-recall.md §3.12). */
const MAX_ATTEMPTS = 3;

/**
 * Runs the caller's query (CYPHER), or one that a model writes (NATURAL_LANGUAGE). Runs nothing for `onlyContext`, since
 * neither has a context, nor for a dataset without memory.
 */
export async function cypherSearch(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, type }: { readonly dataset: DatasetRef; readonly type: QueryType },
): Promise<RecordsOutcome> {
  const nothing: RecordsOutcome = { kind: 'records', type, cypher: null, columns: [], records: [], isCut: false };
  if (request.onlyContext || !(await hasSearchableMemory(deps.store, dataset))) return nothing;
  const query = createGraphQuery(deps, request, dataset);
  if (type === 'CYPHER') return asOutcome(type, request.query, await query(request.query));
  return (await naturalLanguage(deps, request, query)) ?? nothing;
}

/** Returns the rows of the first generated query that has any, else the last query; null when none could be run. */
async function naturalLanguage(
  { languageModel }: TypeDependencies,
  request: SearchRequest,
  query: GraphQuery,
): Promise<RecordsOutcome | null> {
  if (languageModel === null) throw modelNeeded();
  const vocabulary = await readVocabulary(query);
  const failed: FailedAttempt[] = [];
  let last: RecordsOutcome | null = null;
  request.listener?.generating();
  while (failed.length < MAX_ATTEMPTS) {
    const asked = { question: request.query, vocabulary, failed };
    const cypher = await writeQuery(languageModel, asked, modelCallContext(request));
    try {
      last = asOutcome('NATURAL_LANGUAGE', cypher, await query(cypher));
      if (last.records.length > 0) return last;
      failed.push({ cypher, problem: 'It found nothing.' });
    } catch (error) {
      // The model can correct a refused query, but not an unavailable store.
      if (!isEngramError(error) || error.wireName !== 'CypherSearchError') throw error;
      failed.push({ cypher, problem: error.message });
    }
  }
  return last;
}

/** Returns the 422 for a search that needs a language model. */
export function modelNeeded() {
  const text =
    'NATURAL_LANGUAGE search needs a language model, and none is configured. Set LLM_API_KEY or LLM_ENDPOINT.';
  return engramError('LLMAPIKeyNotSetError', text);
}

function asOutcome(type: QueryType, cypher: string, { columns, rows, isCut }: CypherRows): RecordsOutcome {
  return { kind: 'records', type, cypher, columns, records: rows, isCut };
}

/** Creates the query function of one request, which looks up each item in the ledger once for all its queries. */
function createGraphQuery(
  { indexes, ledger }: TypeDependencies,
  request: SearchRequest,
  dataset: DatasetRef,
): GraphQuery {
  const { graph } = indexes;
  const scope = scopeOf(dataset);
  const visibility = createVisibility(ledger, scope);
  const asked = { caller: request.principal.id, committed: visibility.filter };
  return (text) => graph.cypher(scope, { ...asked, text }, request.context.signal);
}

type GraphQuery = (text: string) => Promise<CypherRows>;

interface FailedAttempt {
  readonly cypher: string;
  readonly problem: string;
}

const SYSTEM_PROMPT = `You translate a question into one Cypher query over a knowledge graph.
- Only MATCH, OPTIONAL MATCH, WHERE, UNWIND, WITH, UNION, RETURN, ORDER BY, SKIP and LIMIT are understood: no CALL, no procedures, no parameters, nothing that writes. Each value in WITH needs a name (AS).
- Use only the labels, relationship types and properties listed, in backticks where they are listed so.
- Compare names without regard to case: toLower(n.name) CONTAINS 'oslo'. Leave the direction of a relationship open when it is not certain.
- What a text says about an entity stands in its description and in the text of the DocumentChunk that contains it.
- Return the values that answer the question rather than whole nodes, and at most 100 rows.`;

/** Maximum characters of a failed query in the prompt: models may write endless ones. */
const MAX_SHOWN_LENGTH = 4000;

const SCHEMA = closedObject({ cypher: { type: 'string', description: 'The query, without explanation' } });

/** Generates a query with one model call. The result is as untrusted as a client's query. */
async function writeQuery(
  model: LanguageModel,
  asked: {
    readonly question: string;
    readonly vocabulary: GraphVocabulary;
    readonly failed: readonly FailedAttempt[];
  },
  context: ModelCallContext,
): Promise<string> {
  const { question, vocabulary, failed } = asked;
  const parts = [describe(vocabulary), `Question: ${question}`, ...failed.map(describeFailure)];
  const call = { system: SYSTEM_PROMPT, prompt: parts.join('\n\n'), schema: SCHEMA, schemaName: 'CypherQuery' };
  const { value } = await model.structured(call, context);
  return withoutFence(String((value as JsonObject)['cypher'] ?? ''));
}

function describe({ labels, relations, entityTypes }: GraphVocabulary): string {
  const end = (label: string) => (label === '' ? '()' : `(:${quoted(label)})`);
  const lines = [
    'Labels of nodes and their properties:',
    ...labels.map(({ label, properties }) => `- ${quoted(label)}: ${properties.map(quoted).join(', ')}`),
    'Relationship types (their name is also in the property relationship_name):',
    ...relations.map(({ source, relation, target }) => `- ${end(source)}-[:${quoted(relation)}]->${end(target)}`),
  ];
  if (entityTypes.length > 0) lines.push(`Names of EntityType nodes: ${entityTypes.join(', ')}`);
  return lines.join('\n');
}

function quoted(name: string): string {
  return /^\w+$/u.test(name) ? name : `\`${name}\``;
}

function describeFailure({ cypher, problem }: FailedAttempt, index: number): string {
  return `Attempt ${index + 1} failed; write another query.\nQuery: ${cypher.slice(0, MAX_SHOWN_LENGTH)}\nProblem: ${problem}`;
}

/** Removes a Markdown fence around the code. */
function withoutFence(text: string): string {
  return (/^\s*```(?:\w+\n|\s)?([\s\S]*?)```\s*$/u.exec(text)?.[1] ?? text).trim();
}

/** Names that queries over a dataset can use, most used first; of a large graph a sample. */
interface GraphVocabulary {
  readonly labels: readonly { readonly label: string; readonly properties: readonly string[] }[];
  /** An end without a label has ''. */
  readonly relations: readonly { readonly source: string; readonly relation: string; readonly target: string }[];
  /** Names of the `EntityType` nodes. */
  readonly entityTypes: readonly string[];
}

/** Limits of the sample and of the names in a prompt. */
const SAMPLED_NODES = 20_000;
const SAMPLED_RELATIONS = 100_000;
const MAX_PROPERTIES = 200;
const MAX_RELATIONS = 100;
const MAX_ENTITY_TYPES = 50;

/** Names come from texts and are cut to fit a prompt. */
const MAX_NAME_LENGTH = 80;

/** One query for all names, in the guarded Cypher that clients use too. */
const VOCABULARY = `
  MATCH (n) WITH n LIMIT ${SAMPLED_NODES} UNWIND labels(n) AS label UNWIND keys(n) AS key
  RETURN 'property' AS kind, label AS source, key AS name, null AS target, count(*) AS uses
  ORDER BY uses DESC, source, name LIMIT ${MAX_PROPERTIES}
  UNION ALL
  MATCH (a)-[r]->(b) WITH a, r, b LIMIT ${SAMPLED_RELATIONS}
  RETURN 'relation' AS kind, head(labels(a)) AS source, type(r) AS name, head(labels(b)) AS target, count(*) AS uses
  ORDER BY uses DESC, name LIMIT ${MAX_RELATIONS}
  UNION ALL
  MATCH (n:${NODE_TYPES.entityType})
  RETURN 'entityType' AS kind, null AS source, n.name AS name, null AS target, max(n.mentions) AS uses
  ORDER BY uses DESC, name LIMIT ${MAX_ENTITY_TYPES}`;

async function readVocabulary(query: GraphQuery): Promise<GraphVocabulary> {
  const { rows } = await query(VOCABULARY);
  const names = rows.map(([kind, ...rest]) => [kind, ...rest.slice(0, 3).map(nameOf)] as const);
  const properties = new Map<string, string[]>();
  for (const [kind, source = '', name = ''] of names) {
    if (kind === 'property') properties.set(source, [...(properties.get(source) ?? []), name]);
  }
  return {
    labels: [...properties].map(([label, keys]) => ({ label, properties: keys })),
    relations: names.flatMap(([kind, source = '', relation = '', target = '']) =>
      kind === 'relation' ? [{ source, relation, target }] : [],
    ),
    entityTypes: names.flatMap(([kind, , name = '']) => (kind === 'entityType' ? [name] : [])),
  };
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_NAME_LENGTH) : '';
}
