import type { DatasetId } from '../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { type EngramError, engramError, isEngramError } from '../common/kernel/errors.ts';
import { type CallContext, callerOf, type Messenger } from '../common/platform/messaging/messenger.ts';
import { requireWholeIndex } from '../common/records/cognify/index-rebuilds.ts';
import type { SourceAccess } from '../common/records/integrations/source-access.ts';
import { markShown } from './answers/mark-shown.ts';
import { joinElements } from './answers/references.ts';
import { type Conversation, defaultConversation } from './conversation/conversation.ts';
import type { SearchDependencies } from './dependencies.ts';
import type { DatasetOutcome, SearchOutcome, SearchRequest } from './model.ts';
import { influenceOf } from './retrieval/learned-weights.ts';
import { embedQuery, type QueryEmbedding, type QueryVector, retrievePassages } from './retrieval/retrieve-passages.ts';
import { hasSearchableMemory } from './retrieval/visibility.ts';
import { type AnsweredType, type CompletionType, isCompletion, isRow, type RowType } from './search-types.ts';
import { checkRequest } from './types/check-request.ts';
import { limitOf, runSearch, searchRowsTogether } from './types/run-search.ts';
import type { SearchTarget } from './types/target.ts';

/**
 * Searches the datasets concurrently and returns their outcomes in the same order. A failed dataset returns its error as an
 * outcome; the call throws when all fail, or one fails with 402 or 403. Without access control the outcomes are merged into
 * one, which has no dataset unless there is exactly one.
 */
export async function searchDatasets(
  parts: SearchDependencies,
  request: SearchRequest,
  target: {
    readonly type: AnsweredType;
    readonly datasets: readonly DatasetRef[];
    /** The conversation of the session that the caller named. */
    readonly conversation?: Conversation | null;
  },
): Promise<readonly DatasetOutcome[]> {
  const { type, datasets } = target;
  checkRequest(parts, request, type);
  if (datasets.length === 0) return [];
  const deps = { ...parts, ...(UNCOPIED.has(type) ? null : await parts.here(datasets)) };
  const isOneStore = !deps.settings.accessControl && datasets.length > 1 && type !== 'CODE';
  const conversation =
    target.conversation ?? (isOneStore && isCompletion(type) ? await defaultConversation(deps, request, null) : null);
  const embedding = NO_VECTOR.has(type) ? null : embedQuery(deps, request);
  const influence = influenceOf(deps.settings, request.principal.id, datasets.length);
  const isOneOfSeveral = datasets.length > 1;
  const asked = { type, conversation, influence, isOneOfSeveral };
  const outcomes =
    isOneOfSeveral && (isRow(type) || (isCompletion(type) && type !== 'AGENTIC_COMPLETION'))
      ? await searchTogether(deps, request, { ...asked, type, datasets, embedding })
      : await Promise.all(datasets.map((dataset) => searchOne(deps, request, embedding, { ...asked, dataset })));
  const errors = outcomes.flatMap(({ error }) => error ?? []);
  const fatal = errors.find((error) => error.status === 402 || error.status === 403);
  if (fatal !== undefined) throw fatal;
  if (errors.length === outcomes.length) {
    throw errors.find((error) => error.wireName !== 'NoDataError') ?? (errors[0] as EngramError);
  }
  return isOneStore ? [mergedOutcome(outcomes)] : outcomes;
}

/** Types that compare no vectors with the query. */
const NO_VECTOR: ReadonlySet<AnsweredType> = new Set([
  ...(['CHUNKS_LEXICAL', 'SKILLS', 'CYPHER', 'NATURAL_LANGUAGE', 'CODING_RULES', 'GRAPH_REPORT', 'CODE'] as const),
]);

/** Types that read nothing that is copied. */
const UNCOPIED: ReadonlySet<AnsweredType> = new Set([
  ...(['SKILLS', 'CYPHER', 'NATURAL_LANGUAGE', 'GRAPH_REPORT', 'CODE'] as const),
]);

/** Types that answer a dataset without memory with nothing (search-recall.md §1.6). */
const ALLOW_EMPTY: ReadonlySet<AnsweredType> = new Set([
  ...(['CYPHER', 'NATURAL_LANGUAGE', 'SKILLS', 'CODING_RULES', 'TEMPORAL'] as const),
]);

async function searchOne(
  deps: SearchDependencies,
  request: SearchRequest,
  embedding: QueryEmbedding | null,
  asked: Omit<SearchTarget, 'vector'>,
): Promise<DatasetOutcome> {
  const { dataset, type } = asked;
  return outcomeOf(deps, request, dataset, async () => {
    const target = { ...asked, vector: (await embedding?.of(dataset)) ?? null };
    const outcome = await deps.limitSearches(() => {
      request.context.signal?.throwIfAborted();
      return runInConversation(deps, request, target);
    });
    await requireMemory(deps, request, { dataset, type, outcome });
    await markBeforeReply(deps, request, dataset, outcome);
    return outcome;
  });
}

async function markBeforeReply(
  deps: SearchDependencies,
  request: SearchRequest,
  dataset: DatasetRef,
  outcome: SearchOutcome,
): Promise<void> {
  const marking = markShown(deps, request, dataset, outcome);
  if (deps.beforeReply === undefined) await marking;
  else deps.beforeReply(marking);
}

/** Returns the outcome of a dataset, or its error. */
async function outcomeOf(
  deps: SearchDependencies,
  request: SearchRequest,
  dataset: DatasetRef,
  work: () => Promise<SearchOutcome>,
): Promise<DatasetOutcome> {
  try {
    return { dataset, outcome: await work(), error: null };
  } catch (error) {
    request.context.signal?.throwIfAborted();
    return { dataset, outcome: null, error: wireError(deps, dataset, error) };
  }
}

/** Throws `NoDataError` when nothing was found because the dataset has no memory. */
async function requireMemory(
  deps: SearchDependencies,
  { context }: SearchRequest,
  found: { readonly dataset: DatasetRef; readonly type: AnsweredType; readonly outcome: SearchOutcome },
): Promise<void> {
  const { dataset, type, outcome } = found;
  if (ALLOW_EMPTY.has(type) || !isEmpty(outcome) || (await hasSearchableMemory(deps.store, dataset))) return;
  await requireWholeIndex(deps.store, scopeOf(dataset));
  throw await noDataError(deps.messenger, dataset, context);
}

interface JointTarget extends Omit<SearchTarget, 'vector' | 'dataset' | 'type'> {
  readonly type: RowType | CompletionType;
  readonly datasets: readonly DatasetRef[];
  readonly embedding: QueryEmbedding | null;
}

/**
 * Ranks all datasets as one. Rows keep their rank over all; a question is answered once, from one dataset: an answer is shared
 * and erased with the dataset that it is made from. Datasets that fail are left out of the ranking.
 */
async function searchTogether(
  deps: SearchDependencies,
  request: SearchRequest,
  target: JointTarget,
): Promise<readonly DatasetOutcome[]> {
  const { datasets } = target;
  const vectors = new Map<DatasetRef, QueryVector>();
  const failed = new Map<DatasetRef, DatasetOutcome>();
  const probe = async (dataset: DatasetRef, work: () => Promise<unknown>) => {
    const { error } = await outcomeOf(deps, request, dataset, async () => (await work()) as SearchOutcome);
    if (error !== null) failed.set(dataset, { dataset, outcome: null, error });
  };
  const { lookup = null } = target.conversation ?? {};
  const query = lookup === null || isRow(target.type) ? target.embedding : lookup.embedding;
  await Promise.all(
    datasets.map((dataset) => probe(dataset, async () => vectors.set(dataset, (await query?.of(dataset)) ?? null))),
  );
  const rank = () =>
    rankTogether(deps, request, { ...target, datasets: datasets.filter((one) => !failed.has(one)), vectors });
  let ranked: JointRanking;
  try {
    ranked = await rank();
  } catch (error) {
    request.context.signal?.throwIfAborted();
    const alone = datasets.filter((dataset) => !failed.has(dataset));
    const look = (dataset: DatasetRef) => {
      const vector = vectors.get(dataset) ?? null;
      return runSearch(deps, request, {
        ...target,
        type: isRow(target.type) ? target.type : 'CHUNKS',
        dataset,
        vector,
      });
    };
    await Promise.all(alone.map((dataset) => probe(dataset, () => look(dataset))));
    if (alone.every((dataset) => !failed.has(dataset))) throw error;
    ranked = await rank();
  }
  const answer = (dataset: DatasetRef) =>
    outcomeOf(deps, request, dataset, async () => {
      const outcome = ranked.outcomes.get(dataset.id) ?? { ...BLANK, type: target.type as CompletionType };
      await requireMemory(deps, request, { dataset, type: target.type, outcome });
      await markBeforeReply(deps, request, dataset, outcome);
      return outcome;
    });
  const outcomes = datasets.map(async (dataset): Promise<DatasetOutcome> => {
    const shown = ranked.shares.get(dataset.id);
    if (failed.has(dataset)) return failed.get(dataset) as DatasetOutcome;
    if (shown === undefined) return answer(dataset);
    // Contexts hold no more passages than one of a single dataset.
    const asked = request.onlyContext ? { ...request, topK: shown } : request;
    return searchOne(deps, asked, target.embedding, { ...target, dataset });
  });
  return onceAnswered(await Promise.all(outcomes), [...ranked.shares.keys()]);
}

interface JointRanking {
  /** Rows by dataset. */
  readonly outcomes: ReadonlyMap<DatasetId, SearchOutcome>;
  /** Datasets that a completion is made from, with the number of their passages among the best, best first. */
  readonly shares: ReadonlyMap<DatasetId, number>;
}

/** Datasets that answer without a model; the surest answer is kept. */
const MAX_ANSWERING = 3;

async function rankTogether(
  deps: SearchDependencies,
  request: SearchRequest,
  target: JointTarget & { readonly vectors: ReadonlyMap<DatasetRef, QueryVector> },
): Promise<JointRanking> {
  const { type, datasets, vectors, influence, conversation } = target;
  const [dataset] = datasets;
  if (dataset === undefined) return { outcomes: new Map(), shares: new Map() };
  const joined = datasets.map((one) => {
    const { values = null, version = null } = vectors.get(one) ?? {};
    return { scope: scopeOf(one), vector: values, vectorVersion: version };
  });
  const vector = datasets.map((one) => vectors.get(one) ?? null).find((one) => one !== null) ?? null;
  const asked = { dataset, vector, influence, joined };
  return deps.limitSearches(async () => {
    request.context.signal?.throwIfAborted();
    if (isRow(type)) {
      return { outcomes: await searchRowsTogether(deps, request, { ...asked, type, datasets }), shares: new Map() };
    }
    const query = conversation?.lookup?.query ?? request.query;
    const found = await retrievePassages(
      deps,
      { ...request, query },
      { ...asked, limit: limitOf(request, type), isForPassages: true },
    );
    const shares = [...Map.groupBy(found.passages, (passage) => passage.dataset)].flatMap(([id, own]) =>
      id === undefined ? [] : [[id, own.length] as const],
    );
    const most = request.onlyContext ? shares.length : deps.languageModel === null ? MAX_ANSWERING : 1;
    return { outcomes: new Map(), shares: new Map(shares.slice(0, most)) };
  });
}

async function runInConversation(
  deps: SearchDependencies,
  request: SearchRequest,
  target: SearchTarget,
): Promise<SearchOutcome> {
  if (target.conversation !== null || !isCompletion(target.type)) return runSearch(deps, request, target);
  const conversation = await defaultConversation(deps, request, target.dataset.id);
  return runSearch(deps, request, { ...target, conversation });
}

/** Logs unknown errors, which the outcomes of other datasets would hide. */
function wireError(deps: SearchDependencies, dataset: DatasetRef, error: unknown): EngramError {
  if (isEngramError(error)) return error;
  deps.logger.error('search.dataset.failed', { dataset: dataset.id, error });
  return engramError('CogneeSystemError', `Dataset '${dataset.name}' could not be searched.`, { cause: error });
}

function isEmpty(outcome: SearchOutcome): boolean {
  if (outcome.kind === 'code') return false;
  if (outcome.kind === 'records') return outcome.records.length === 0;
  if (outcome.kind === 'skills') return outcome.skills.length === 0;
  if (outcome.kind === 'texts') return outcome.texts.length === 0;
  return outcome.kind === 'rows' ? outcome.rows.length === 0 : outcome.context === '';
}

const BLANK = { kind: 'completion' as const, answer: null, context: '', prompt: null, passages: [], used: {} };

/** Keeps the surest answer; of equally sure ones that of the dataset with the better passage. */
function onceAnswered(outcomes: readonly DatasetOutcome[], ranked: readonly DatasetId[]): readonly DatasetOutcome[] {
  const certaintyOf = ({ outcome }: DatasetOutcome) =>
    outcome?.kind !== 'completion' || outcome.answer === null ? -1 : (outcome.certainty ?? 1);
  const placeOf = ({ dataset }: DatasetOutcome) => (dataset === null ? -1 : ranked.indexOf(dataset.id));
  const [best] = outcomes.toSorted((a, b) => certaintyOf(b) - certaintyOf(a) || placeOf(a) - placeOf(b));
  return outcomes.map((one) => {
    const { outcome } = one;
    if (one === best || outcome?.kind !== 'completion' || outcome.answer === null) return one;
    return { ...one, outcome: { ...outcome, ...BLANK } };
  });
}

/** Merges the outcomes of several datasets: rows by rank, answers and contexts joined. */
function mergedOutcome(outcomes: readonly DatasetOutcome[]): DatasetOutcome {
  const found = outcomes.flatMap(({ outcome }) => outcome ?? []);
  const first = found.find((outcome) => !isEmpty(outcome)) ?? found[0] ?? null;
  if (first === null || first.kind === 'code') return { dataset: null, outcome: first, error: null };
  if (first.kind === 'rows') {
    const rows = found.flatMap((outcome) => (outcome.kind === 'rows' ? outcome.rows : []));
    const ordered = rows.toSorted((a, b) => a.rank - b.rank);
    return { dataset: null, outcome: { ...first, rows: ordered }, error: null };
  }
  if (first.kind === 'records') {
    const answers = found.flatMap((outcome) => (outcome.kind === 'records' ? [outcome] : []));
    const records = answers.flatMap((outcome) => outcome.records);
    return { dataset: null, outcome: { ...first, records, isCut: answers.some(({ isCut }) => isCut) }, error: null };
  }
  if (first.kind === 'skills') {
    const skills = found.flatMap((outcome) => (outcome.kind === 'skills' ? outcome.skills : []));
    const ordered = skills.toSorted((a, b) => a.distance - b.distance);
    return { dataset: null, outcome: { ...first, skills: ordered }, error: null };
  }
  if (first.kind === 'texts') {
    const texts = found.flatMap((outcome) => (outcome.kind === 'texts' ? [outcome] : []));
    const context = texts
      .map((outcome) => outcome.context)
      .filter(Boolean)
      .join('\n\n');
    const items = first.items === null ? null : texts.flatMap((outcome) => outcome.items ?? []);
    return {
      dataset: null,
      outcome: { ...first, texts: texts.flatMap((outcome) => outcome.texts), context, items },
      error: null,
    };
  }
  const completions = found.flatMap((outcome) => (outcome.kind === 'completion' && !isEmpty(outcome) ? [outcome] : []));
  const join = (texts: readonly (string | null | undefined)[]) => texts.filter(Boolean).join('\n\n');
  const answer = join(completions.map((completion) => completion.answer));
  const user = join(completions.map((completion) => completion.prompt?.user));
  return {
    dataset: null,
    outcome: {
      ...first,
      answer: answer === '' ? null : answer,
      structured: completions.length === 1 ? (completions[0]?.structured ?? null) : null,
      context: join(completions.map((completion) => completion.context)),
      prompt: first.prompt === null ? null : { ...first.prompt, user },
      passages: completions.flatMap((completion) => completion.passages),
      used: joinElements(completions.flatMap((completion) => completion.used ?? [])),
    },
    error: null,
  };
}

/** Returns the 404 with its reason: the dataset has no items, or none was processed. */
async function noDataError(messenger: Messenger, dataset: DatasetRef, context: CallContext): Promise<EngramError> {
  const { items } = await messenger.call('ingest.DatasetItems', { dataset, limit: 1000 }, context);
  const seen = items.filter(({ id }) => !dataset.withheld?.has(id)).length;
  const reason =
    seen === 0
      ? 'no data has been added; add data and run cognify before searching.'
      : `holds ${seen} data item(s) but its knowledge graph is empty; run cognify on this dataset before searching.`;
  return engramError('NoDataError', `No searchable memory in dataset '${dataset.name}' (id: ${dataset.id}): ${reason}`);
}

export interface DatasetResolution {
  readonly messenger: Messenger;
  readonly sourceAccess: SourceAccess;
}

/**
 * Returns the datasets of a request, each once, as the caller sees them: what their sources withhold is left out of every read
 * of their scope. Throws `PermissionDeniedError` (403) for an unknown or unreadable id,
 * `DatasetNotFoundError` (404) for a name that the caller does not own.
 */
export async function readableDatasets(
  { messenger, sourceAccess }: DatasetResolution,
  request: Pick<SearchRequest, 'principal' | 'context' | 'datasets'>,
): Promise<readonly DatasetRef[]> {
  const { ids = [], names = [] } = request.datasets;
  const chosen = ids.length > 0 ? { ids: [...new Set(ids)] } : names.length > 0 ? { names: [...new Set(names)] } : {};
  const { datasets } = await messenger.call(
    'auth.ResolveDatasets',
    { permission: 'read', partly: true, ...chosen },
    { ...request.context, principal: request.principal },
  );
  const distinct = [...new Map(datasets.map((dataset) => [dataset.id, dataset])).values()];
  return Promise.all(distinct.map(sourceAccess.asSeen));
}

/** Returns the datasets of which the caller may read everything. */
export async function wholeDatasets(
  messenger: Messenger,
  { principal, context }: Pick<SearchRequest, 'principal' | 'context'>,
): Promise<readonly DatasetRef[]> {
  return (await messenger.call('auth.ResolveDatasets', { permission: 'read' }, { ...context, principal })).datasets;
}

/** Returns the dataset as the caller sees it. Errors as for `readableDatasets`. */
export async function seenDataset(deps: DatasetResolution, id: string, asking: CallContext): Promise<DatasetRef> {
  const principal = callerOf(asking);
  const [dataset] = await readableDatasets(deps, { principal, context: asking, datasets: { ids: [id] } });
  if (dataset === undefined) throw new Error(`auth resolved no dataset for ${id}`);
  return dataset;
}

/**
 * Returns the dataset with this id, for views that show all of it; `PermissionDeniedError` when the caller, or the user that a
 * superuser asks for, may not read it or is not shown some of its items by their source.
 */
export async function readableDataset(
  messenger: Messenger,
  id: string,
  asking: CallContext,
  ofUser?: string,
): Promise<DatasetRef> {
  const selection = { permission: 'read' as const, ids: [id], ...(ofUser === undefined ? {} : { ofUser }) };
  const [dataset] = (await messenger.call('auth.ResolveDatasets', selection, asking)).datasets;
  if (dataset === undefined) throw new Error(`auth resolved no dataset for ${id}`);
  return dataset;
}
