import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Supersession, Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { CURRENT, type RankedPassage, type SearchRequest, type StatementState, type TimeView } from '../model.ts';
import type { Retrieval, RetrievalDependencies, RetrievalRequest, Retriever, SearchedDataset } from './retrieval.ts';
import { createVisibility, type Visibility } from './visibility.ts';

/** Superseded statements of the requested passages. */
type SupersededStatements = Awaited<ReturnType<typeof findSuperseded>>;

/** Finds superseded statements of passages with a few batched reads. Ignores supersessions of statements that are not visible. */
async function findSuperseded(
  {
    supersessions,
    visibility,
  }: { readonly supersessions: Pick<Supersessions, 'ofChunks'>; readonly visibility: Visibility },
  scope: DatasetScope,
  chunks: readonly string[],
  view: TimeView,
) {
  const distinct = [...new Set(chunks)];
  const found = distinct.length === 0 ? [] : await supersessions.ofChunks(scope, distinct);
  const marks = marksByChunk(await onlyVisible(found, visibility), view);
  const left = (chunk: string) => (marks.get(chunk) ?? []).filter(({ isOmitted }) => isOmitted);
  return {
    isEmpty: marks.size === 0,
    /** Returns every statement of the passage that is part of a supersession. */
    marksOf: (chunk: string) => marks.get(chunk) ?? [],
    /** Returns the text without omitted sentences; the same string when there are none. */
    textOf(chunk: string, text: string) {
      const gone = new Set(left(chunk).map((mark) => mark.text));
      return gone.size === 0 ? text : without(text, gone);
    },
    /** Whether the sentence, or a sentence that contains the evidence, is omitted. */
    isSuperseded(chunk: string, text: string) {
      const evidence = text.trim();
      return evidence !== '' && left(chunk).some((mark) => mark.text.includes(evidence));
    },
  };
}

/** Keeps supersessions with both statements visible: a statement is current again when its successor was forgotten. */
async function onlyVisible(found: readonly Supersession[], visibility: Visibility): Promise<readonly Supersession[]> {
  const shown = new Set(await visibility.filter(found.flatMap(({ older, newer }) => [older, newer])));
  return found.filter(({ older, newer, reverted }) => reverted === null && shown.has(older) && shown.has(newer));
}

function marksByChunk(
  found: readonly Supersession[],
  { currentOnly, asOf }: TimeView,
): ReadonlyMap<string, readonly StatementState[]> {
  const marks = new Map<string, StatementState[]>();
  const add = (chunk: string, mark: StatementState) => marks.set(chunk, [...(marks.get(chunk) ?? []), mark]);
  for (const supersession of found) {
    const { older, newer } = supersession;
    const isYet = asOf === null || newer.from <= asOf;
    if (isYet) {
      const isOmitted = currentOnly || asOf !== null;
      add(older.chunk, { supersession, text: older.text, state: 'superseded', isOmitted });
      add(newer.chunk, { supersession, text: newer.text, state: 'current', isOmitted: false });
    } else {
      add(newer.chunk, { supersession, text: newer.text, state: 'not_yet', isOmitted: true });
    }
  }
  return marks;
}

function without(text: string, gone: ReadonlySet<string>): string {
  let kept = '';
  let end = 0;
  let isCut = false;
  for (const sentence of sentences(text)) {
    if (!gone.has(sentence.text)) continue;
    kept += text.slice(end, sentence.start);
    end = sentence.end;
    isCut = true;
  }
  return isCut
    ? `${kept}${text.slice(end)}`
        .replaceAll(/[ \t]{2,}/gu, ' ')
        .replaceAll(/\n{3,}/gu, '\n\n')
        .trim()
    : text;
}

/** Whether a text contains a letter or digit. */
function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * Creates a retriever that omits superseded statements (or, as of a time, later ones): their sentences are removed from
 * passages, and passages without other content are replaced by the next ones. Other results are unchanged.
 */
export function createCurrentRetriever(retriever: Retriever, stored: Pick<Supersessions, 'ofChunks'>): Retriever {
  const lookUp = ({ passages, visibility }: Retrieval, { scope, joined, here, view = CURRENT }: RetrievalRequest) => {
    const supersessions = here?.supersessions ?? stored;
    const chunks = passages.map(({ id }) => id);
    if (joined === undefined) return findSuperseded({ supersessions, visibility }, scope, chunks, view);
    const ofDataset = Map.groupBy(passages, ({ dataset }) => dataset);
    const ofChunks = async () => {
      const found = joined.map(({ scope: own }) => {
        const ids = (ofDataset.get(own.dataset) ?? []).map(({ id }) => id);
        return ids.length === 0 ? [] : supersessions.ofChunks(own, ids);
      });
      return (await Promise.all(found)).flat();
    };
    return findSuperseded({ supersessions: { ofChunks }, visibility }, scope, chunks, view);
  };
  return {
    async retrieve(request) {
      const retrieval = await retriever.retrieve(request);
      const superseded = await lookUp(retrieval, request);
      if (superseded.isEmpty) return retrieval;
      const passages = withoutSuperseded(retrieval.passages, superseded);
      const missing = retrieval.passages.length - passages.length;
      const withSuperseded = marked(retrieval.passages, superseded);
      if (missing === 0 || retrieval.passages.length < request.limit) return { ...retrieval, passages, withSuperseded };
      const wider = await retriever.retrieve({ ...request, limit: request.limit + 2 * missing });
      const left = withoutSuperseded(wider.passages, await lookUp(wider, request));
      return { ...wider, passages: left.slice(0, request.limit), withSuperseded };
    },
  };
}

function marked(passages: readonly RankedPassage[], { marksOf }: SupersededStatements): readonly RankedPassage[] {
  return passages.map((passage) => {
    const statements = marksOf(passage.id);
    return statements.length === 0 ? passage : { ...passage, explanation: { ...passage.explanation, statements } };
  });
}

function withoutSuperseded(
  passages: readonly RankedPassage[],
  superseded: SupersededStatements,
): readonly RankedPassage[] {
  return passages.flatMap((passage) => {
    const statements = superseded.marksOf(passage.id);
    if (statements.length === 0) return [passage];
    const text = superseded.textOf(passage.id, passage.payload.text);
    if (!hasWords(text)) return [];
    const explanation = { ...passage.explanation, statements };
    if (text === passage.payload.text) return [{ ...passage, explanation }];
    const payload = { ...passage.payload, text };
    return [{ ...passage, payload, row: { ...passage.row, payload }, explanation }];
  });
}

/** Removes superseded statements from rows of chunks, summaries, edges or triplets. */
export async function currentRows<Row extends { readonly row: TextRow }>(
  deps: RetrievalDependencies,
  { view = CURRENT }: Pick<SearchRequest, 'view'>,
  dataset: DatasetRef,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const scope = scopeOf(dataset);
  const visibility = createVisibility(deps.ledger, scope);
  const { supersessions } = deps;
  const chunks = rows.map(({ row }) => chunkOf(row));
  const superseded = await findSuperseded({ supersessions, visibility }, scope, chunks, view);
  if (superseded.isEmpty) return rows;
  return rows.flatMap((scored) => {
    const { row } = scored;
    const text = String(row.payload['text'] ?? '');
    const chunk = chunkOf(row);
    const stated = statementOf(row);
    if (stated !== '') return superseded.isSuperseded(chunk, stated) ? [] : [scored];
    const left = superseded.textOf(chunk, text);
    if (left === text) return [scored];
    return hasWords(left) ? [{ ...scored, row: { ...row, payload: { ...row.payload, text: left } } }] : [];
  });
}

/** Returns the chunk of a row; summaries and edges name theirs. */
function chunkOf({ id, payload }: TextRow): string {
  const chunk = payload['chunkId'];
  return typeof chunk === 'string' ? chunk : id;
}

/** Returns the sentence of an edge or triplet; '' for rows with several statements. */
function statementOf({ kind, payload }: TextRow): string {
  if (kind === 'edge') return String(payload['text'] ?? '');
  return kind === 'triplet' ? String(payload['statement'] ?? '') : '';
}

/** Limits of what a search may show: committed generations, and statements as of a time. */
export interface StatementView {
  readonly visibility: Visibility;
  readonly view: TimeView;
}

/** Removes edges whose sentence was superseded. */
export async function currentEdges(
  { supersessions }: Pick<RetrievalDependencies, 'supersessions'>,
  dataset: SearchedDataset,
  edges: readonly EdgeEvidence[],
  { visibility, view }: StatementView,
): Promise<readonly EdgeEvidence[]> {
  const chunkOf = ({ properties }: EdgeEvidence) => String(properties['chunkId'] ?? '');
  const chunks = edges.map(chunkOf).filter((chunk) => chunk !== '');
  const superseded = await findSuperseded({ supersessions, visibility }, scopeOf(dataset), chunks, view);
  if (superseded.isEmpty) return edges;
  return edges.filter((edge) => !superseded.isSuperseded(chunkOf(edge), String(edge.properties['text'] ?? '')));
}

/** Removes descriptions of entities that come from a superseded sentence. */
export async function currentEntityRows(
  { supersessions }: Pick<RetrievalDependencies, 'supersessions'>,
  dataset: SearchedDataset,
  rows: readonly TextRow[],
  { visibility, view }: StatementView,
): Promise<readonly TextRow[]> {
  if (!view.currentOnly && view.asOf === null) return rows;
  const described = rows.filter(({ payload }) => payload['description'] !== '');
  const items = [...new Set(described.map(({ item }) => item))];
  if (items.length === 0) return rows;
  const found = await onlyVisible(await supersessions.ofOlderItems(scopeOf(dataset), items), visibility);
  const gone = found.filter(({ newer }) => view.asOf === null || newer.from <= view.asOf);
  if (gone.length === 0) return rows;
  return rows.map((row) => {
    const description = String(row.payload['description'] ?? '').replace(/…$/u, '');
    const isGone = gone.some(({ older }) => older.item === row.item && older.text.includes(description));
    return description !== '' && isGone ? { ...row, payload: { ...row.payload, description: '' } } : row;
  });
}
