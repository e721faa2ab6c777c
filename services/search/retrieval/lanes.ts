import { type ChunkPayload, containment, RELATIONS } from '../../common/domain/index-rows.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { GraphStore } from '../../common/storage/ports/graph-store.ts';
import type { TextCandidate, TextCandidates, TextIndex, TextRow } from '../../common/storage/ports/text-index.ts';
import type { VectorHit, VectorIndex } from '../../common/storage/ports/vector-index.ts';
import type { TimeSpan } from '../../common/text/language/time-span.ts';
import type { LaneName } from '../model.ts';
import type { QueryAnalysis, TimeWindow } from './query-analysis.ts';
import { longestNames, type QueryName, queryNames } from './query-names.ts';
import type { RetrievalSettings } from './settings.ts';
import type { Visibility } from './visibility.ts';

/** Input of every lane. */
export interface LaneContext {
  readonly scope: DatasetScope;
  readonly analysis: QueryAnalysis;
  /** Restricts passages to these node sets. */
  readonly nodeSets: readonly string[] | undefined;
  readonly settings: RetrievalSettings;
  readonly visibility: Visibility;
  readonly text: TextIndex;
  readonly graph: GraphStore;
  readonly vectors: VectorIndex;
  readonly vectorVersion: DatasetScope;
  readonly signal: AbortSignal | undefined;
}

/** A passage found by a lane. Higher scores are better; scores of different lanes are not comparable. */
export interface LaneHit {
  readonly id: string;
  readonly score: number;
}

export function byScore(left: LaneHit, right: LaneHit): number {
  return right.score - left.score || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
}

export function runs(context: LaneContext, lane: LaneName): boolean {
  return context.settings.lanes.has(lane);
}

function nodeSetFilter(context: LaneContext): { readonly nodeSets?: readonly string[] } {
  return context.nodeSets === undefined ? {} : { nodeSets: context.nodeSets };
}

/**
 * Returns the lexical rows with term frequencies, and the statistics that all scores of the query use. Runs even when the
 * lane is off, because the statistics are needed.
 */
export async function lexicalRows(
  context: LaneContext,
): Promise<{ readonly rows: readonly TextCandidate[]; readonly statistics: TextCandidates['statistics'] }> {
  const { terms } = context.analysis;
  if (terms.length === 0) return { rows: [], statistics: { rowCount: 0, averageLength: 0, rowFrequencies: [] } };
  const found = await context.text.candidates(
    context.scope,
    { kind: 'chunk', terms, limit: context.settings.lexicalLimit, withPayload: false, ...nodeSetFilter(context) },
    context.signal,
  );
  return { rows: await context.visibility.filter(found.candidates), statistics: found.statistics };
}

/** Returns the nearest passages, those of a small dataset that have nothing in common with the query among them. */
export async function denseHits(context: LaneContext, vector: Float32Array | null): Promise<readonly VectorHit[]> {
  if (vector === null || !runs(context, 'dense')) return [];
  const hits = await context.vectors.nearest(
    context.vectorVersion,
    { kind: 'chunk', vector, limit: context.settings.denseLimit, ...nodeSetFilter(context) },
    context.signal,
  );
  return context.visibility.filter(hits);
}

/** An entity that the query names, with its passages: chunk id to whether the chunk is about it. */
export interface FoundEntity {
  readonly name: QueryName;
  readonly chunks: ReadonlyMap<string, boolean>;
}

/** Returns the entities that the query names and that have passages. */
export async function namedEntities(context: LaneContext): Promise<readonly FoundEntity[]> {
  if (!runs(context, 'entity')) return [];
  const names = queryNames(context.analysis);
  if (names.length === 0) return [];
  const edges = await context.graph.neighbours(
    context.scope,
    names.map((name) => name.entityId),
    {
      relations: [RELATIONS.contains],
      direction: 'in',
      limitPerNode: context.settings.passagesPerEntity + 1,
      withProperties: false,
    },
    context.signal,
  );
  const chunks = new Map<string, Map<string, boolean>>();
  for (const edge of await context.visibility.filter(edges)) {
    const known = chunks.get(edge.target) ?? new Map<string, boolean>();
    known.set(edge.source, known.get(edge.source) === true || containment(edge).isSubject);
    chunks.set(edge.target, known);
  }
  const linked = names.filter((name) => chunks.has(name.entityId));
  return longestNames(linked).map((name) => ({ name, chunks: chunks.get(name.entityId) ?? new Map() }));
}

const MAX_YEARS = 30;

/**
 * Returns the passages with a date in the time window of the query. Dates are keys of the lexical index: the lane looks up
 * the years of the window and checks the dates of the rows.
 */
export async function timeRows(context: LaneContext): Promise<readonly TextRow[]> {
  const window = context.analysis.timeWindow;
  if (window === null || !runs(context, 'time')) return [];
  const terms = yearsOf(window);
  if (terms.length === 0) return [];
  const found = await context.text.candidates(
    context.scope,
    { kind: 'chunk', terms, limit: context.settings.denseLimit, ...nodeSetFilter(context) },
    context.signal,
  );
  const rows = await context.visibility.filter(found.candidates);
  return rows.filter((row) => (row.payload as ChunkPayload).dates?.some((date) => overlaps(date, window)) ?? false);
}

function yearsOf(window: TimeWindow): readonly string[] {
  const first = window.from?.getUTCFullYear();
  const last = window.until === null ? undefined : new Date(window.until.getTime() - 1).getUTCFullYear();
  const from = first ?? (last === undefined ? undefined : last - MAX_YEARS + 1);
  if (from === undefined) return [];
  const until = Math.min(last ?? from + MAX_YEARS - 1, from + MAX_YEARS - 1);
  return Array.from({ length: Math.max(0, until - from + 1) }, (_, at) => String(from + at).padStart(4, '0'));
}

/** Whether a date overlaps the window; `date`: `YYYY`, `YYYY-MM`, `YYYY-MM-DD…`, or two of them joined by `/`. */
function overlaps(date: string, window: TimeWindow): boolean {
  return isWithin(spanOfDate(date), window);
}

/** The time of a date as the index spells it, see `overlaps`. */
export function spanOfDate(date: string): Pick<TimeSpan, 'from' | 'until'> {
  const [start = date, end = start] = date.split('/');
  return { from: startOf(start), until: endOf(end) };
}

/** Whether a time overlaps the window. */
export function isWithin({ from, until }: Pick<TimeSpan, 'from' | 'until'>, window: TimeWindow): boolean {
  return (window.until === null || from < window.until) && (window.from === null || until > window.from);
}

function startOf(date: string): Date {
  const [year = 0, month = 1, day = 1] = date.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day));
}

function endOf(date: string): Date {
  const [year = 0, month, day] = date.slice(0, 10).split('-').map(Number);
  if (month === undefined) return new Date(Date.UTC(year + 1, 0, 1));
  return new Date(Date.UTC(year, day === undefined ? month : month - 1, day === undefined ? 1 : day + 1));
}
