import { type ChunkPayload, NODE_TYPES } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { slices } from '../../common/kernel/slices.ts';
import { estimateTokens } from '../../common/text/language/token-count.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { packPassages, plainContext } from '../answers/contexts.ts';
import { quotedRows } from '../answers/extractive.ts';
import { readQuestion } from '../answers/question.ts';
import { readTables } from '../answers/quotes.ts';
import { rankSentences, sentencesOf } from '../answers/rank-sentences.ts';
import { sourcedQuote } from '../answers/source-label.ts';
import { retrieveTurnPassages } from '../conversation/turn-passages.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import { createVisibility } from '../retrieval/visibility.ts';
import { answered, type Completion } from './completion.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';

/** Tokens of a dataset that is read whole, and of the nearest passages of a larger one (search-recall.md §3.21). */
const WHOLE_TOKENS = 30_000;
const NEAREST_TOKENS = 12_000;
/** A dataset with more passages is not read whole: even short ones would be too many. */
const MAX_WHOLE = 1000;
const NEAREST = 200;

const READ_RULES =
  'The passages are all that there is to read. When the question asks how many or which ones, look through every passage, count or list all that fit, each once, and give the number.';

/** Answers a question over the whole dataset: with a model from all passages when they fit, without one by listing what fits. */
export async function broadCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: SearchTarget,
): Promise<Completion> {
  const material = await retrieveTurnPassages(deps, request, { ...target, limit: NEAREST });
  const nearest = material.retrieval.passages;
  const { languageModel } = deps;
  const total = await countChunks(deps, target.dataset);
  const all = languageModel === null || nearest.length === 0 ? null : await wholeDataset(deps, request, target, total);
  const passages = all ?? withinTokens(nearest, NEAREST_TOKENS);
  const isWhole = all !== null || languageModel === null;
  const read = isWhole ? `all ${all?.length ?? total} passages` : `the nearest ${passages.length} of ${total} passages`;
  const found = languageModel === null ? [] : passages.map(({ id }) => id);
  const step = { kind: 'read' as const, query: request.query, found, answer: `Read ${read}.` };
  const reasoning = { by: languageModel === null ? 'rules' : 'model', steps: [step] } as const;
  const shown = { ...target, type: 'BROAD' as const, passages, context: plainContext(passages), material };
  const input = { ...shown, knowledge: null, structure: {}, reasoning };
  if (languageModel !== null) {
    const system = `${request.systemPrompt ? `${request.systemPrompt}\n\n` : ''}${READ_RULES}`;
    const outcome = await answered(deps, { ...request, systemPrompt: system }, input);
    const isText = outcome.answer !== null && !outcome.structured;
    return isText ? { ...outcome, answer: `${outcome.answer}\n\n(From ${read} of the dataset.)` } : outcome;
  }
  const dataset = target.isOneOfSeveral ? target.dataset.name : null;
  const tables = await readTables(deps, target.dataset, request.query, passages);
  const counted = quotedRows(request.query, tables, { dataset, now: material.retrieval.analysis.now });
  const quoted = counted ?? listed(request.query, passages, { total, dataset });
  const { text, passageIds, certainty } = quoted;
  return answered(deps, request, { ...input, ready: { text, quoted: passageIds, certainty } });
}

async function countChunks({ indexes: { text } }: TypeDependencies, dataset: DatasetRef): Promise<number> {
  const { withheld, ...scope } = scopeOf(dataset);
  const total = await text.count(scope, { kind: 'chunk' });
  return withheld === undefined ? total : total - (await text.count(scope, { kind: 'chunk', items: [...withheld] }));
}

function withinTokens(passages: readonly RankedPassage[], limit: number): readonly RankedPassage[] {
  let used = 0;
  const kept = passages.filter(({ payload }) => {
    used += payload.chunkSize;
    return used <= limit;
  });
  return kept.length === 0 ? packPassages(passages.slice(0, 1)) : kept;
}

/** All passages in reading order; null when they are too many for one call. */
async function wholeDataset(
  { indexes, ledger }: TypeDependencies,
  { nodeSets }: SearchRequest,
  { dataset }: SearchTarget,
  total: number,
): Promise<readonly RankedPassage[] | null> {
  if (total > MAX_WHOLE) return null;
  const scope = scopeOf(dataset);
  const visibility = createVisibility(ledger, scope);
  const ids: string[] = [];
  for await (const page of pagesOf((after) => indexes.graph.scanNodes(scope, { after, limit: 5000 }))) {
    ids.push(...(await visibility.filter(page)).filter(({ type }) => type === NODE_TYPES.chunk).map(({ id }) => id));
  }
  const rows = [];
  for (const slice of slices([...new Set(ids)], 500)) {
    rows.push(...(await visibility.filter(await indexes.text.fetch(scope, 'chunk', slice))));
  }
  const read = rows.map((row): RankedPassage => {
    const explanation = { lanes: {}, fusion: 0, own: 0, evidence: 0, learned: null, partner: null, via: null };
    const rank = { score: 0, relevance: 0, similarity: null, terms: new Float64Array(), support: 1, explanation };
    return { id: row.id, row, payload: row.payload as ChunkPayload, ...rank };
  });
  const inSets = read.filter(({ row }) => nodeSets?.some((name) => row.nodeSets.includes(name)) ?? true);
  if (inSets.reduce((sum, { payload }) => sum + estimateTokens(payload.text), 0) > WHOLE_TOKENS) return null;
  return inSets.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)) || a.row.ordinal - b.row.ordinal);
}

function orderOf({ payload }: RankedPassage): string {
  return `${payload.createdAt} ${payload.documentId}`;
}

/** Passages looked through, and the most of the question that a quoted sentence may miss: alone, and beside the best one. */
const MAX_LISTED = 20;
const MAX_MISSING = 0.6;
const MISSING_MORE = 0.15;

/** Subject of a question that counts or lists: `Vienna` of "How many memories mention Vienna?". */
function topicOf(query: string): string {
  return query
    .replace(
      /^\s*(?:please )?(?:list|show(?: me)?|find|name|give me)\s+(?:(?:all|every|each)(?: of)?(?: the)?\s+)?/iu,
      'Which ',
    )
    .replace(
      /\b(?:how many|which|what|in how many)\s+(?:of (?:my|the|our) )?(?:memories|notes|entries|documents|passages|texts|items)\b/iu,
      '',
    )
    .replace(/^\s*(?:mention|contain|talk about|tell of|speak of|say|are about|deal with|refer to)\b/iu, '')
    .replace(/\bhow (?:often|many times)\b/iu, '')
    .trim();
}

/** Quotes the best sentence of every passage that fits, with their number. */
function listed(
  query: string,
  passages: readonly RankedPassage[],
  { total, dataset }: { readonly total: number; readonly dataset: string | null },
) {
  const sentences = rankSentences(sentencesOf(readQuestion(topicOf(query)), passages, passages.length));
  const byPassage = Map.groupBy(sentences, ({ passage }) => passage.id);
  const best = passages.flatMap((passage) => {
    const [first, ...others] = byPassage.get(passage.id) ?? [];
    if (first === undefined) return [];
    const { statement, features } = others.reduce((a, b) => (b.features.missing < a.features.missing ? b : a), first);
    return [{ passage, statement, missing: features.missing }];
  });
  const least = best.reduce((least, { missing }) => Math.min(least, missing), 1);
  const quotes = best.filter(({ missing }) => missing <= Math.min(MAX_MISSING, least + MISSING_MORE));
  if (quotes.length === 0) return { text: NOTHING_FITS, passageIds: [], certainty: 0 };
  const lines = quotes
    .slice(0, MAX_LISTED)
    .map(({ passage, statement }) => sourcedQuote(passage.payload, statement.text, statement, dataset));
  return {
    text: `${quotes.length} of ${total} passages: ${lines.join('\n')}`,
    passageIds: quotes.map(({ passage }) => passage.id),
    certainty: null,
  };
}
