import type { ChunkPayload, EntityPayload } from '../../common/domain/index-rows.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { scoreBm25 } from '../../common/ranking/bm25.ts';
import { collapseNearDuplicates } from '../../common/ranking/near-duplicates.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';
import type { TextCandidate } from '../../common/storage/ports/text-index.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';

export const LEARNINGS_NODE_SET = 'session_learnings';
/** Node sets of persisted sessions (stages 2 and 3). */
const PERSISTED_NODE_SETS: ReadonlySet<string> = new Set(['user_sessions_from_cache', 'agent_trace_feedbacks']);

export interface KnownLessonsDependencies {
  readonly indexes: DatasetReaders;
  readonly ledger: Ledger;
}

const SIMILAR_LESSONS = 5;
const GLOSSARY_NAMES = 20;
/** Factor of rows to read: some belong to generations that are not visible. */
const OVER_FETCH = 4;
const MAX_TERMS = 64;

/** Returns the statements of the dataset's lessons that are similar, most similar first. */
export async function similarLessons(
  deps: KnownLessonsDependencies,
  scope: DatasetScope,
  statement: string,
): Promise<readonly string[]> {
  const rows = await best(deps, scope, {
    kind: 'chunk',
    text: statement,
    nodeSets: [LEARNINGS_NODE_SET],
    limit: SIMILAR_LESSONS,
  });
  return rows.map(({ payload }) => statementOfDocument((payload as ChunkPayload).text));
}

const PASSAGES_READ = 5;

/**
 * Whether a passage of the dataset contains the statement word for word: then a repetition or confirmation is no lesson.
 * Persisted sessions do not count, because they contain every turn.
 */
export async function standsInMemory(
  deps: KnownLessonsDependencies,
  scope: DatasetScope,
  statement: string,
): Promise<boolean> {
  const rows = await best(deps, scope, { kind: 'chunk', text: statement, limit: PASSAGES_READ });
  const words = wordsOf(statement);
  return rows.some(({ payload, nodeSets }) => {
    if (nodeSets.some((name) => PERSISTED_NODE_SETS.has(name))) return false;
    return ` ${wordsOf((payload as ChunkPayload).text)} `.includes(` ${words} `);
  });
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}

/** Returns the names of entities in the dataset that match a statement. */
export async function glossary(
  deps: KnownLessonsDependencies,
  scope: DatasetScope,
  statement: string,
): Promise<readonly string[]> {
  const rows = await best(deps, scope, { kind: 'entity', text: statement, limit: GLOSSARY_NAMES });
  return [...new Set(rows.map(({ payload }) => (payload as EntityPayload).name))];
}

async function best(
  { indexes, ledger }: KnownLessonsDependencies,
  scope: DatasetScope,
  query: {
    readonly kind: 'chunk' | 'entity';
    readonly text: string;
    readonly nodeSets?: readonly string[];
    readonly limit: number;
  },
): Promise<readonly TextCandidate[]> {
  const { kind, text, nodeSets, limit } = query;
  const terms = tokenizeQuery(text).slice(0, MAX_TERMS);
  if (terms.length === 0) return [];
  const asked = { kind, terms, limit: limit * OVER_FETCH, ...(nodeSets === undefined ? {} : { nodeSets }) };
  const { candidates, statistics } = await indexes.text.candidates(scope, asked);
  const committed = await ledger.committed(scope, [...new Set(candidates.map(({ item }) => item as DataItemId))]);
  const seen = visible(candidates, committed);
  return scoreBm25({ candidates: seen, statistics })
    .slice(0, limit)
    .map(({ row }) => row);
}

const HEADING = '# Session learning';

/** Makes the document of a lesson (cognify-improve.md §3.10). Session ids are chosen by clients and become one line. */
export function lessonDocument(
  session: string,
  { statement, why }: { readonly statement: string; readonly why: string },
) {
  const name = session.slice(0, 200).replaceAll(/\s+/gu, ' ').toWellFormed();
  return `${HEADING} (session ${name})\n\n${statement}${why === '' ? '' : ` (${why}.)`}\n`;
}

/** Returns the statement of a lesson document, without its reason. */
function statementOfDocument(text: string): string {
  const body = text.startsWith(HEADING) ? text.slice(Math.max(0, text.indexOf('\n'))) : text;
  return body.trim().replace(/ \([^()]*\.\)$/u, '');
}

/** Share of common shingles from which a statement repeats another. */
const SAME = 0.7;

/** Whether one of the texts says the same: equal numbers and negations, nearly the same words in order. */
export function isKnown(statement: string, known: readonly string[]): boolean {
  return known.some((text) => collapseNearDuplicates([asItem(text), asItem(statement)], SAME).length === 1);
}

/** Groups items that say the same; the first one of each group leads. */
export function sameStatements<Item extends { readonly text: string }>(items: readonly Item[]): readonly Item[][] {
  const numbered = items.map((item, at) => ({ ...asItem(item.text), id: String(at), item }));
  const byId = new Map(numbered.map(({ id, item }) => [id, item]));
  return collapseNearDuplicates(numbered, SAME).map(({ item, duplicates }) => [
    item.item,
    ...duplicates.flatMap((id) => byId.get(id) ?? []),
  ]);
}

function asItem(text: string) {
  return { id: '', text: text.toLowerCase() };
}
