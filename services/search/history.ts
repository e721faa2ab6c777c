import type { DatasetRef } from '../common/kernel/dataset.ts';
import { isEngramError } from '../common/kernel/errors.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import type { SearchHistory } from '../common/records/search/search-history.ts';
import type { SearchDependencies } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { skillsText } from './types/skills.ts';

/** Characters of one stored answer: a search for every chunk must not copy the dataset into the history. */
const MAX_ANSWER_LENGTH = 64_000;

/**
 * Keeps question and answer of each dataset that answered; of none when nothing was searched. A store that cannot be
 * written, for one because its disk is full, is no reason to keep the answer back.
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
    items: madeFrom(outcome),
  }));
  const scope = { tenant: request.principal.tenant };
  try {
    await deps.history.append(
      scope,
      answered.length > 0 ? answered : [{ ...common, datasetId: null, answer: '', items: [] }],
    );
  } catch (error) {
    if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError') throw error;
    deps.logger.warn('search.history.unwritten', { error });
  }
}

/** The answer, else the context; lists as JSON text of as many texts as fit. */
function answerText({ outcome }: DatasetOutcome): string {
  // The wire keeps the rows of a query out of the history (search-recall.md §2).
  if (outcome === null || outcome.kind === 'records') return '';
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

/** The items whose words may stand in the answer. Rows of queries and skills stand for no item. */
function madeFrom({ outcome }: DatasetOutcome): readonly string[] {
  if (outcome === null || outcome.kind === 'records' || outcome.kind === 'skills') return [];
  if (outcome.kind === 'rows') return [...new Set(outcome.rows.map(({ row }) => row.item))];
  const { passages, triplets = [], used } = outcome;
  const quoted = used === undefined ? null : new Set(used.nodeIds ?? []);
  const shown = quoted === null ? passages : passages.filter(({ id }) => quoted.has(id));
  return [...new Set([...shown, ...triplets].map(({ row }) => row.item))];
}

/** Removes what the service keeps of a dataset's content; answers how much went and how much is left. */
export async function eraseSearched(
  history: SearchHistory,
  dataset: DatasetRef,
): Promise<{ readonly removed: number; readonly residue: number }> {
  const scope = { tenant: dataset.tenant };
  const removed = await history.eraseDataset(scope, dataset.id);
  return { removed, residue: await history.countDataset(scope, dataset.id) };
}

/** Takes what was answered from the items out of the history. */
export async function eraseAnswers(
  history: SearchHistory,
  { dataset, items }: RequestOf<'search.EraseAnswers'>,
): Promise<AnswerOf<'search.EraseAnswers'>> {
  return { removed: await history.eraseAnswers({ tenant: dataset.tenant }, dataset.id, items) };
}
