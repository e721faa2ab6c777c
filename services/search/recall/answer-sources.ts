import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import type { QaEntry } from '../../common/domain/session.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { slices } from '../../common/kernel/slices.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import type { SearchParts } from '../dependencies.ts';
import type { Explanation, RankedPassage, SearchRequest } from '../model.ts';
import { readableDatasets } from '../search-datasets.ts';
import { sessionOf } from './session-lanes.ts';

/** A passage that an answer was made from, with what is stored of why it was found. */
type AnswerSource = Pick<RankedPassage, 'id' | 'payload'> & { readonly why: SourceReason | null };

/** The part of a passage's rank that is stored with an answer: it repeats no text of the passage. */
type SourceReason = Pick<RankedPassage, 'relevance' | 'support'> & { readonly explanation: Explanation };

export interface AnswerSources {
  readonly qaId: string;
  readonly dataset: DatasetRef;
  readonly sources: readonly AnswerSource[];
}

/** Number of answers that a session shows. */
const SHOWN_ANSWERS = 20;

/**
 * Returns the passages of the last answers of a session as they stand now: those that were forgotten are left out. Null for a
 * session that does not exist or that the caller may not read, alike.
 */
export async function answerSources(
  deps: SearchParts,
  request: Pick<SearchRequest, 'principal' | 'context' | 'sessionId'>,
): Promise<readonly AnswerSources[] | null> {
  const session = await sessionOf(deps, request);
  if (session === null) return null;
  const readable = await readableDatasets(deps, { ...request, datasets: {} });
  const dataset = readable.find(({ id }) => id === session.dataset);
  if (dataset === undefined) return [];
  const answers = await deps.sessions.entries.lastQas({ tenant: request.principal.tenant }, session, SHOWN_ANSWERS);
  const rows = await chunksOf(deps, dataset, answers.flatMap(sourceIds));
  return answers.map((answer) => ({
    qaId: answer.id,
    dataset,
    sources: sourceIds(answer).flatMap((id) => {
      const row = rows.get(id);
      if (row === undefined) return [];
      const why = (answer.reasons?.[id] ?? null) as SourceReason | null;
      return [{ id, payload: row.payload as ChunkPayload, why }];
    }),
  }));
}

/** Ids of chunks, and of other nodes where no reasons are stored. */
function sourceIds({ reasons, usedGraphElements }: QaEntry): readonly string[] {
  return reasons === undefined ? (usedGraphElements?.nodeIds ?? []) : Object.keys(reasons);
}

/** Passages of one read. */
const SLICE = 500;

async function chunksOf(
  { indexes, ledger }: SearchParts,
  dataset: DatasetRef,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TextRow>> {
  const scope = scopeOf(dataset);
  const unique = [...new Set(ids)];
  const found: TextRow[] = [];
  for (const slice of slices(unique, SLICE)) found.push(...(await indexes.text.fetch(scope, 'chunk', slice)));
  const committed = await ledger.committed(scope, [...new Set(found.map(({ item }) => item))]);
  return new Map(visible(found, committed).map((row) => [row.id, row]));
}
