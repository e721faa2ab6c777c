import type { DatasetRef } from '../common/kernel/dataset.ts';
import { isEngramError } from '../common/kernel/errors.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import type { SearchHistory } from '../common/records/search/search-history.ts';
import type { SearchDependencies } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { skillsText } from './types/skills.ts';

/** Maximum characters of a stored answer: a search for all chunks must not copy the dataset into the history. */
const MAX_ANSWER_LENGTH = 64_000;

/**
 * Stores the question and the answer of each dataset; without datasets the question alone. When the store is unavailable
 * (its disk is full, for example), logs it and does not fail the search.
 */
export async function recordSearch(
  deps: SearchDependencies,
  request: SearchRequest,
  result: { readonly type: string; readonly outcomes: readonly DatasetOutcome[]; readonly askedAt: Date },
): Promise<void> {
  if (!deps.settings.logSearchHistory) return;
  const common = {
    userId: request.principal.id,
    searchType: result.type,
    question: request.query,
    askedAt: result.askedAt.toISOString(),
    answeredAt: deps.clock.now().toISOString(),
  };
  const answered = result.outcomes.map((outcome) => ({
    ...common,
    datasetId: outcome.dataset?.id ?? null,
    answer: answerText(outcome),
    items: itemsOf(outcome),
  }));
  const scope = { tenant: request.principal.tenant };
  try {
    await deps.history.append(
      scope,
      answered.length > 0 ? answered : [{ ...common, datasetId: null, answer: '', items: [] }],
    );
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError') throw error;
    deps.logger.warn('search.history.save_failed', { error });
  }
}

/** Returns the answer, else the context; rows as a JSON list of as many texts as fit. */
function answerText({ outcome }: DatasetOutcome): string {
  // Rows of graph queries are not stored (search-recall.md §2), nor code and reports of the graph: they tell of items that may be forgotten.
  if (outcome === null || outcome.kind === 'records' || outcome.kind === 'code') return '';
  if (outcome.kind === 'texts' && outcome.items === null) return '';
  if (outcome.kind === 'texts') return JSON.stringify(outcome.texts).slice(0, MAX_ANSWER_LENGTH);
  if (outcome.kind === 'completion') return (outcome.answer ?? outcome.context).slice(0, MAX_ANSWER_LENGTH);
  if (outcome.kind === 'skills') return skillsText(outcome.skills).slice(0, MAX_ANSWER_LENGTH);
  const texts: string[] = [];
  let length = 0;
  for (const { row } of outcome.rows) {
    const text = String(row.payload['text'] ?? '');
    length += text.length;
    if (length > MAX_ANSWER_LENGTH) break;
    texts.push(text);
  }
  return texts.length === 0 ? '' : JSON.stringify(texts);
}

/** Returns the items whose text may occur in the answer. Rows of graph queries, code and skills belong to no item. */
function itemsOf({ outcome }: DatasetOutcome): readonly string[] {
  if (outcome === null || outcome.kind === 'records' || outcome.kind === 'skills' || outcome.kind === 'code') return [];
  if (outcome.kind === 'texts') return outcome.items ?? [];
  if (outcome.kind === 'rows') return [...new Set(outcome.rows.map(({ row }) => row.item))];
  const { passages, triplets = [], used } = outcome;
  const quoted = used === undefined ? null : new Set(used.nodeIds ?? []);
  const shown = quoted === null ? passages : passages.filter(({ id }) => quoted.has(id));
  return [...new Set([...shown, ...triplets].map(({ row }) => row.item))];
}

/** Erases the history of a dataset; returns how many rows were removed and how many are left. */
export async function eraseSearched(
  history: SearchHistory,
  dataset: DatasetRef,
): Promise<{ readonly removed: number; readonly residue: number }> {
  const scope = { tenant: dataset.tenant };
  const removed = await history.eraseDataset(scope, dataset.id);
  return { removed, residue: await history.countDataset(scope, dataset.id) };
}

/** Erases answers made from the items; the questions stay. */
export async function eraseAnswers(
  history: SearchHistory,
  { dataset, items }: RequestOf<'search.EraseAnswers'>,
): Promise<AnswerOf<'search.EraseAnswers'>> {
  return { removed: await history.eraseAnswers({ tenant: dataset.tenant }, dataset.id, items) };
}
