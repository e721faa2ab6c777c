import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Supersession, Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { CURRENT, type RankedPassage, type SearchRequest, type StatementMark, type TimeView } from '../model.ts';
import type { Retrieval, RetrievalDependencies, RetrievalRequest, Retriever } from './retrieval.ts';
import { createVisibility, type Visibility } from './visibility.ts';

/** What of the passages asked for is not to be told, and why. */
interface RetiredStatements {
  readonly isEmpty: boolean;
  /** Every statement of the passage that is part of a supersession, left out or not. */
  marksOf(chunk: string): readonly StatementMark[];
  /** The text without the sentences that are left out; the same string when there are none. */
  textOf(chunk: string, text: string): string;
  /** Whether the sentence, or evidence that stands in it, is left out. */
  isRetired(chunk: string, text: string): boolean;
}

/** Looks the passages up, in a few reads for all of them. Supersessions of what is not visible (any more) do not count. */
async function retiredAmong(
  {
    supersessions,
    visibility,
  }: { readonly supersessions: Pick<Supersessions, 'ofChunks'>; readonly visibility: Visibility },
  scope: DatasetScope,
  chunks: readonly string[],
  view: TimeView,
): Promise<RetiredStatements> {
  const distinct = [...new Set(chunks)];
  const found = distinct.length === 0 ? [] : await supersessions.ofChunks(scope, distinct);
  const marks = marksByChunk(await visibleOnly(found, visibility), view);
  const left = (chunk: string) => (marks.get(chunk) ?? []).filter(({ isLeftOut }) => isLeftOut);
  return {
    isEmpty: marks.size === 0,
    marksOf: (chunk) => marks.get(chunk) ?? [],
    textOf(chunk, text) {
      const gone = new Set(left(chunk).map((mark) => mark.text));
      return gone.size === 0 ? text : without(text, gone);
    },
    isRetired(chunk, text) {
      const evidence = text.trim();
      return evidence !== '' && left(chunk).some((mark) => mark.text.includes(evidence));
    },
  };
}

/** Both sides must be there: what a forgotten statement had replaced stands again. */
async function visibleOnly(found: readonly Supersession[], visibility: Visibility): Promise<readonly Supersession[]> {
  const shown = new Set(await visibility.filter(found.flatMap(({ older, newer }) => [older, newer])));
  return found.filter(({ older, newer, reverted }) => reverted === null && shown.has(older) && shown.has(newer));
}

function marksByChunk(
  found: readonly Supersession[],
  { currentOnly, asOf }: TimeView,
): ReadonlyMap<string, readonly StatementMark[]> {
  const marks = new Map<string, StatementMark[]>();
  const add = (chunk: string, mark: StatementMark) => marks.set(chunk, [...(marks.get(chunk) ?? []), mark]);
  for (const supersession of found) {
    const { older, newer } = supersession;
    const isYet = asOf === null || newer.from <= asOf;
    if (isYet) {
      const isLeftOut = currentOnly || asOf !== null;
      add(older.chunk, { supersession, text: older.text, state: 'superseded', isLeftOut });
      add(newer.chunk, { supersession, text: newer.text, state: 'current', isLeftOut: false });
    } else {
      add(newer.chunk, { supersession, text: newer.text, state: 'not_yet', isLeftOut: true });
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

/** Whether a text still tells anything. */
function tellsAnything(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * Leaves statements out that newer ones have replaced (or, as of a time, that came after it): sentences disappear from
 * their passages, and passages that said nothing else make room for the next. What no supersession touches is handed on as
 * it is.
 */
export function createCurrentRetriever(
  retriever: Retriever,
  supersessions: Pick<Supersessions, 'ofChunks'>,
): Retriever {
  const lookUp = ({ passages, visibility }: Retrieval, request: RetrievalRequest) => {
    const chunks = passages.map(({ id }) => id);
    return retiredAmong({ supersessions, visibility }, request.scope, chunks, request.view ?? CURRENT);
  };
  return {
    async retrieve(request) {
      const retrieval = await retriever.retrieve(request);
      const retired = await lookUp(retrieval, request);
      if (retired.isEmpty) return retrieval;
      const passages = told(retrieval.passages, retired);
      const missing = retrieval.passages.length - passages.length;
      if (missing === 0 || retrieval.passages.length < request.limit) return { ...retrieval, passages };
      const wider = await retriever.retrieve({ ...request, limit: request.limit + 2 * missing });
      const left = told(wider.passages, await lookUp(wider, request));
      return { ...wider, passages: left.slice(0, request.limit) };
    },
  };
}

function told(passages: readonly RankedPassage[], retired: RetiredStatements): readonly RankedPassage[] {
  return passages.flatMap((passage) => {
    const statements = retired.marksOf(passage.id);
    if (statements.length === 0) return [passage];
    const text = retired.textOf(passage.id, passage.payload.text);
    if (!tellsAnything(text)) return [];
    const explanation = { ...passage.explanation, statements };
    if (text === passage.payload.text) return [{ ...passage, explanation }];
    const payload = { ...passage.payload, text };
    return [{ ...passage, payload, row: { ...passage.row, payload }, explanation }];
  });
}

/** Rows of chunks, summaries, edges or triplets without the statements that newer ones have replaced. */
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
  const retired = await retiredAmong({ supersessions, visibility }, scope, chunks, view);
  if (retired.isEmpty) return rows;
  return rows.flatMap((scored) => {
    const { row } = scored;
    const text = String(row.payload['text'] ?? '');
    const chunk = chunkOf(row);
    const stated = statementOf(row);
    if (stated !== '') return retired.isRetired(chunk, stated) ? [] : [scored];
    const left = retired.textOf(chunk, text);
    if (left === text) return [scored];
    return tellsAnything(left) ? [{ ...scored, row: { ...row, payload: { ...row.payload, text: left } } }] : [];
  });
}

/** Summaries and edges name the chunk that they are made from. */
function chunkOf({ id, payload }: TextRow): string {
  const chunk = payload['chunkId'];
  return typeof chunk === 'string' ? chunk : id;
}

/** The sentence that an edge stands for; '' where a row is more than one statement. */
function statementOf({ kind, payload }: TextRow): string {
  if (kind === 'edge') return String(payload['text'] ?? '');
  return kind === 'triplet' ? String(payload['statement'] ?? '') : '';
}

/** Whom an answer is told to: what the ledger shows, and as of when. */
export interface Told {
  readonly visibility: Visibility;
  readonly view: TimeView;
}

/** Evidence of edges without sentences that newer statements have replaced. */
export async function currentEdges(
  { supersessions }: RetrievalDependencies,
  dataset: DatasetRef,
  edges: readonly EdgeEvidence[],
  { visibility, view }: Told,
): Promise<readonly EdgeEvidence[]> {
  const chunkOf = ({ properties }: EdgeEvidence) => String(properties['chunkId'] ?? '');
  const chunks = edges.map(chunkOf).filter((chunk) => chunk !== '');
  const retired = await retiredAmong({ supersessions, visibility }, scopeOf(dataset), chunks, view);
  if (retired.isEmpty) return edges;
  return edges.filter((edge) => !retired.isRetired(chunkOf(edge), String(edge.properties['text'] ?? '')));
}

/** Entities keep their names; a description that a replaced sentence gave is left out. */
export async function currentEntityRows(
  { supersessions }: RetrievalDependencies,
  dataset: DatasetRef,
  rows: readonly TextRow[],
  { visibility, view }: Told,
): Promise<readonly TextRow[]> {
  if (!view.currentOnly && view.asOf === null) return rows;
  const described = rows.filter(({ payload }) => payload['description'] !== '');
  const items = [...new Set(described.map(({ item }) => item))];
  if (items.length === 0) return rows;
  const found = await visibleOnly(await supersessions.ofOlderItems(scopeOf(dataset), items), visibility);
  const gone = found.filter(({ newer }) => view.asOf === null || newer.from <= view.asOf);
  if (gone.length === 0) return rows;
  return rows.map((row) => {
    const description = String(row.payload['description'] ?? '').replace(/…$/u, '');
    const isGone = gone.some(({ older }) => older.item === row.item && older.text.includes(description));
    return description !== '' && isGone ? { ...row, payload: { ...row.payload, description: '' } } : row;
  });
}
