import { z } from 'zod';
import type { SearchResult } from '../../client/index.ts';
import { CODE_OPERATIONS } from '../../common/domain/code-operations.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { datasetsArgument, givenText, optionalText, topK } from '../arguments.ts';
import { findDatasets } from '../datasets.ts';
import { defineTool, type Tool, type ToolCall, ToolError } from '../tool.ts';

const SEARCH_TYPES =
  'GRAPH_COMPLETION (an answer from graph and passages), HYBRID_COMPLETION, RAG_COMPLETION (an answer from passages), CHUNKS (passages), CHUNKS_LEXICAL (passages with these words), SUMMARIES, TRIPLET_COMPLETION, TEMPORAL (what was at a time), GRAPH_COMPLETION_DECOMPOSITION (several questions in one), BROAD (counts and lists over everything), GRAPH_REPORT, CODING_RULES, CODE (what imports, defines or depends on a module, class or function), CYPHER (a graph query, where the server allows it), FEELING_LUCKY (chooses)';

const resultOutput = z.object({
  text: z.string(),
  source: z.string().describe('graph, session, trace …'),
  dataset: z.string().nullable(),
  dataset_id: z.string().nullable(),
  document: z.string().nullable(),
  data_id: z.string().nullable().describe('Id of the item: get_document reads the whole of it'),
  chunk_id: z.string().nullable(),
  score: z.number().nullable(),
});
type FoundResult = z.infer<typeof resultOutput>;

const resultsOutput = z.object({ results: z.array(resultOutput) });

export const findTools: readonly Tool[] = [
  defineTool({
    name: 'ask',
    title: 'Ask memory',
    effect: 'read',
    idempotent: false,
    description: `Ask a question and get the answer from memory, with the passages it rests on. Use it first for anything the user may have told or stored before: people, projects, decisions, documents, dates. It answers "Nothing in memory answers this question" rather than guess, with the quotes that come nearest: judge them yourself.

Ask one whole question with names instead of keywords. With \`session_id\` follow-up questions ("and her brother?") are understood.`,
    input: z.object({
      question: z.string().min(1).describe('The question, in a whole sentence.'),
      datasets: datasetsArgument,
      session_id: optionalText('Conversation that the question belongs to.'),
      system_prompt: optionalText('How a language model should answer, when one is configured.'),
      top_k: topK(15),
    }),
    output: z.object({
      answered: z.boolean().describe('False: memory does not know'),
      answers: z.array(
        z.object({
          dataset: z.string().nullable(),
          answer: z.string(),
          nearest: z.array(z.string()).describe('When memory does not know: the quotes that come nearest'),
          sources: z.array(
            z.object({
              document: z.string(),
              data_id: z.string().nullable(),
              chunk_id: z.string().nullable(),
              excerpt: z.string().nullable(),
            }),
          ),
        }),
      ),
    }),
    async run(input, call) {
      const items = await recall(call, {
        query: input.question,
        datasets: input.datasets,
        session: givenText(input.session_id),
        topK: input.top_k,
        type: 'HYBRID_COMPLETION',
        systemPrompt: givenText(input.system_prompt),
        scope: ['graph'],
      });
      const all = items.map((item) => ({
        dataset: item.dataset_name ?? null,
        ...withoutEvidence(textOf(item)),
        nearest: [...(item.metadata?.nearest ?? [])],
      }));
      const known = all.filter(({ answer }) => answer !== NOTHING_FITS && answer !== '');
      // Datasets that know nothing say so one by one; one of them is enough, and only when none knows.
      const answers = known.length > 0 ? known : all.slice(0, 1);
      const text = answers.map((each) => answerText(each, answers.length > 1)).join('\n\n');
      return { text: text === '' ? NOTHING_FITS : text, data: { answered: known.length > 0, answers } };
    },
  }),
  defineTool({
    name: 'recall',
    title: 'Recall',
    effect: 'read',
    idempotent: false,
    description: `Look something up in memory and get what was found: passages of documents, notes of sessions, or an answer, as fits the question. Use ask for an answer with sources, recall for the material itself or for what was said in a session.

With \`session_id\` the notes of that session come first.`,
    input: z.object({
      query: z.string().min(1).describe('What to look for, in words or as a question.'),
      search_type: optionalText(`How to search; chosen by the question when left out. ${SEARCH_TYPES}.`),
      datasets: datasetsArgument,
      session_id: optionalText('Session whose notes are looked at first.'),
      system_prompt: optionalText('How a language model should answer, when one is configured.'),
      top_k: topK(15),
    }),
    output: resultsOutput,
    async run(input, call) {
      const items = await recall(call, {
        query: input.query,
        datasets: input.datasets,
        session: givenText(input.session_id),
        topK: input.top_k,
        type: givenText(input.search_type)?.toUpperCase() ?? null,
        systemPrompt: givenText(input.system_prompt),
      });
      return resultsAnswer(items.map(presentItem));
    },
  }),
  defineTool({
    name: 'search',
    title: 'Search',
    effect: 'read',
    idempotent: false,
    description: `Search memory in one given way. Types: ${SEARCH_TYPES}. When in doubt use ask.`,
    input: z.object({
      search_query: z.string().min(1).describe('Question or words to search for.'),
      search_type: z.string().default('GRAPH_COMPLETION').describe('One of the types above, in any case.'),
      top_k: topK(10),
      datasets: datasetsArgument,
      system_prompt: optionalText('How a language model should answer, when one is configured.'),
      code_query: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          `With CODE: \`operation\` (${CODE_OPERATIONS.join(', ')}) and its options, such as {"operation": "impact_analysis", "name": "auth.ts"}.`,
        ),
    }),
    output: resultsOutput,
    async run(input, { api }) {
      const chosen = await findDatasets(api, input.datasets);
      const answer = await api.post<unknown>('/api/v1/search', {
        query: input.search_query,
        search_type: input.search_type.toUpperCase(),
        top_k: input.top_k,
        ...(chosen === null ? {} : { dataset_ids: chosen.map(({ id }) => id) }),
        ...(givenText(input.system_prompt) === null ? {} : { system_prompt: givenText(input.system_prompt) }),
        ...(input.code_query === undefined ? {} : { code_query: input.code_query }),
      });
      const { results, faults } = searchResults(answer);
      // A dataset without data is no failure of a search in many.
      if (results.length === 0 && faults.length > 0) throw new ToolError(faults.join('\n'));
      return resultsAnswer(results);
    },
  }),
  defineTool({
    name: 'explain',
    title: 'Explain a search',
    effect: 'read',
    idempotent: false,
    description:
      'Show why memory finds what it finds: the passages for a question in their order, with the lanes that found each (words, meaning, entities, graph, dates), its rank in each and the scores. Use it when an answer is wrong or missing, to see whether the passage is there at all.',
    input: z.object({
      question: z.string().min(1).describe('The question that was asked.'),
      datasets: datasetsArgument,
      top_k: topK(5),
    }),
    output: z.object({
      results: z.array(
        resultOutput.extend({
          relevance: z.number().nullable(),
          lanes: z.record(z.string(), z.object({ rank: z.number(), score: z.number().nullable() })),
        }),
      ),
    }),
    async run({ question, datasets, top_k }, call) {
      const items = await recall(call, {
        query: question,
        datasets,
        session: null,
        topK: top_k,
        type: 'CHUNKS',
        systemPrompt: null,
        scope: ['graph'],
        explain: true,
      });
      const results = items.slice(0, top_k).map((item) => ({ ...presentItem(item), ...laneFigures(item) }));
      const text = results.map((each, index) => explainText(each, index + 1)).join('\n');
      return { text: text === '' ? 'Nothing was found for this question.' : text, data: { results } };
    },
  }),
];

interface RecallItem {
  readonly source: string;
  readonly text?: string | null;
  readonly content?: string | null;
  readonly question?: string | null;
  readonly answer?: string | null;
  readonly score?: number | null;
  readonly dataset_id?: string | null;
  readonly dataset_name?: string | null;
  readonly metadata?: {
    readonly data_id?: string;
    readonly chunk_id?: string;
    readonly document_name?: string;
    readonly explain?: Explanation;
    readonly nearest?: readonly string[];
  };
}

interface Explanation {
  readonly relevance?: number | null;
  readonly lanes?: Readonly<Record<string, { readonly rank: number; readonly score?: number | null }>>;
}

interface RecallQuestion {
  readonly query: string;
  readonly datasets: readonly string[];
  readonly session: string | null;
  readonly topK: number;
  readonly type: string | null;
  readonly systemPrompt: string | null;
  readonly scope?: readonly string[];
  readonly explain?: boolean;
}

async function recall({ api }: ToolCall, asked: RecallQuestion): Promise<readonly RecallItem[]> {
  const chosen = await findDatasets(api, asked.datasets);
  return api.post<readonly RecallItem[]>('/api/v1/recall', {
    query: asked.query,
    search_type: asked.type,
    top_k: asked.topK,
    include_references: true,
    ...(chosen === null ? {} : { dataset_ids: chosen.map(({ id }) => id) }),
    ...(asked.session === null ? {} : { session_id: asked.session }),
    ...(asked.systemPrompt === null ? {} : { system_prompt: asked.systemPrompt }),
    ...(asked.scope === undefined ? {} : { scope: asked.scope }),
    ...(asked.explain === true ? { explain: true } : {}),
  });
}

function textOf({ text, content, question, answer }: RecallItem): string {
  const own = text ?? content;
  if (own != null) return own;
  return [...(question ? [`Question: ${question}`] : []), ...(answer ? [answer] : [])].join('\n');
}

function presentItem(item: RecallItem): FoundResult {
  const { metadata = {} } = item;
  return {
    text: textOf(item),
    source: item.source,
    dataset: item.dataset_name ?? null,
    dataset_id: item.dataset_id ?? null,
    document: metadata.document_name ?? null,
    data_id: metadata.data_id ?? null,
    chunk_id: metadata.chunk_id ?? null,
    score: item.score ?? null,
  };
}

function resultsAnswer(results: FoundResult[]) {
  const text = results.map(resultText).join('\n\n');
  return { text: text === '' ? 'Nothing was found.' : text, data: { results } };
}

function resultText({ text, document, dataset, source }: FoundResult, index: number, all: readonly unknown[]): string {
  const from = [document, dataset, ...(source === 'graph' ? [] : [source])].filter((part) => part !== null).join(', ');
  const cited = from === '' ? text : `${text.trimEnd()}\n   (${from})`;
  return all.length === 1 ? cited : `${index + 1}. ${cited}`;
}

/** Splits the list of sources off an answer: see clients.md §3.6 for its form. */
function withoutEvidence(text: string) {
  const at = text.indexOf('\n\nEvidence:\n');
  if (at < 0) return { answer: text.trim(), sources: [] };
  const sources = text
    .slice(at + '\n\nEvidence:\n'.length)
    .split(/\n(?=- )/u)
    .flatMap((line) => {
      const match = EVIDENCE.exec(line);
      if (match === null) return [];
      const [, document = '', ids = '', excerpt] = match;
      const idOf = (name: string) => new RegExp(`${name}: ([^,)]+)`, 'u').exec(ids)?.[1] ?? null;
      return [{ document, data_id: idOf('data_id'), chunk_id: idOf('chunk_id'), excerpt: excerpt ?? null }];
    });
  return { answer: text.slice(0, at).trim(), sources };
}

const EVIDENCE = /^- chunk \d+ of document (.+?)(?: \(([^()]*)\))?(?:: "?([\s\S]*?)"?)?\s*$/u;

interface Answer {
  readonly dataset: string | null;
  readonly answer: string;
  readonly nearest: readonly string[];
  readonly sources: readonly { readonly document: string; readonly excerpt: string | null }[];
}

function answerText({ dataset, answer, nearest, sources }: Answer, isOneOfSeveral: boolean): string {
  if (nearest.length > 0) return `${answer}\n\nNearest:\n${nearest.join('\n')}`;
  const head = isOneOfSeveral && dataset !== null ? `From dataset "${dataset}":\n${answer}` : answer;
  const names = [...new Set(sources.map(({ document }) => document))];
  return names.length === 0 ? head : `${head}\n\nSources: ${names.join(', ')}`;
}

function laneFigures({ metadata }: RecallItem) {
  const { relevance = null, lanes = {} } = metadata?.explain ?? {};
  const figures = Object.entries(lanes).map(
    ([lane, { rank, score }]) => [lane, { rank, score: score ?? null }] as const,
  );
  return { relevance, lanes: Object.fromEntries(figures) };
}

function explainText(
  { text, document, relevance, lanes }: FoundResult & ReturnType<typeof laneFigures>,
  place: number,
): string {
  const found = Object.entries(lanes)
    .toSorted(([, one], [, other]) => one.rank - other.rank)
    .map(([lane, { rank }]) => `${lane} #${rank}`);
  const figure = relevance === null ? '' : `, relevance ${relevance.toFixed(2)}`;
  return `${place}. ${document ?? 'passage'}${figure}; found by ${found.join(', ') || 'no lane'}\n   ${text.replaceAll(/\s+/gu, ' ').slice(0, 300)}`;
}

/** Results come by dataset with access control, bare without. */
function searchResults(answer: unknown): { readonly results: FoundResult[]; readonly faults: readonly string[] } {
  const entries = Array.isArray(answer) ? (answer as readonly unknown[]) : [answer];
  const results = entries.flatMap((entry) => {
    if (!isOfDataset(entry)) return rowsOf(entry).map((row) => presentRow(row, null, null));
    const { dataset_id: id, dataset_name: name, search_result: result } = entry;
    return faultOf(entry) === null ? rowsOf(result).map((row) => presentRow(row, id, name)) : [];
  });
  return { results, faults: entries.flatMap((entry) => (isOfDataset(entry) ? (faultOf(entry) ?? []) : [])) };
}

/** Why a dataset has no results: its error, or that it does not hold the code asked for. */
function faultOf({ error, search_result: result }: SearchResult): string | null {
  if (error !== undefined) return error;
  const { seed_not_found: isMissing, error: fault } = (result ?? {}) as Readonly<Record<string, unknown>>;
  return isMissing === true ? String(fault) : null;
}

function isOfDataset(entry: unknown): entry is SearchResult {
  return typeof entry === 'object' && entry !== null && 'search_result' in entry;
}

function rowsOf(result: unknown): readonly unknown[] {
  if (result === null || result === undefined || result === '') return [];
  return Array.isArray(result) ? result.flatMap(rowsOf) : [result];
}

function presentRow(row: unknown, datasetId: string | null, dataset: string | null): FoundResult {
  const fields = (typeof row === 'object' && row !== null ? row : { text: String(row) }) as Readonly<
    Record<string, unknown>
  >;
  const textField = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null);
  const documentId = textField('document_id');
  return {
    text: textField('text') ?? JSON.stringify(row),
    source: 'graph',
    dataset,
    dataset_id: datasetId,
    document: textField('document_name'),
    data_id: documentId,
    chunk_id: documentId === null ? null : textField('id'),
    score: typeof fields['score'] === 'number' ? fields['score'] : null,
  };
}
