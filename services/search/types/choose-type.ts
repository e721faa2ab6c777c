import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { closedObject } from '../../common/kernel/json.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { questionParts } from '../answers/question-parts.ts';
import { MONTHS } from '../answers/spans.ts';
import { modelCallContext, type SearchRequest } from '../model.ts';
import { analyseQuery } from '../retrieval/query-analysis.ts';
import { hasSearchableMemory } from '../retrieval/visibility.ts';
import { type AnsweredType, isAnswered, SEARCH_TYPES } from '../search-types.ts';
import { answeringType } from './check-request.ts';
import type { TypeDependencies } from './target.ts';

const QUOTED_PHRASE = /^"[^"]+"$/u;
const CODING_RULES = /\b(?:coding|code)\s+(?:rules?|standards?|conventions?|guidelines?|style)\b/iu;
const REPORT =
  /\b(?:report|statistics|overview|structure|size|hubs?)\b.*\b(?:graph|memory)\b|\b(?:graph|memory)\b.*\b(?:report|statistics|structure|size|hubs?)\b/iu;
const WHOLE =
  /\bhow (?:many|often)\b|\b(?:list|show|find|name) (?:me )?(?:all|every)\b|\b(?:all|every one) of (?:the|my|our)\b/iu;
const SUMMARY =
  /\b(?:summari[sz]e|summary|sum up|in short|overview|what (?:do|does) (?:i|we|memory) (?:know|say) (?:about|of))\b/iu;
const INNER =
  /\b(?:in|during) the (?:same )?(?:year|month|summer|winter|spring|autumn)\b.*\b(?:I|we|he|she|they)\b|\bthe (?:\p{L}+ )?(?:city|place|person|man|woman|friend|year|town|country) (?:where|who|that|in which|when)\b/iu;
const RELATED = /\b(?:related|connected|connection|relationship|linked?|context|background|around)\b/iu;

/**
 * Returns the type that runs; FEELING_LUCKY chooses it by rules, or by the model when there is one and memory to search. Throws
 * 400 for an unsupported graph store, 403 for a disabled type.
 */
export async function chooseType(
  deps: TypeDependencies & Parameters<typeof answeringType>[1],
  request: SearchRequest,
  datasets: readonly DatasetRef[],
): Promise<AnsweredType> {
  if (request.type !== 'FEELING_LUCKY') return answeringType(request.type, deps);
  const { languageModel, store, clock } = deps;
  if (languageModel === null || request.query.trim() === '') return typeByRules(request.query, clock.now());
  for (const dataset of datasets) {
    if (await hasSearchableMemory(store, dataset)) return typeByModel(languageModel, request);
  }
  return 'HYBRID_COMPLETION';
}

/** Returns the type that a question asks for, by the first rule that fits: FEELING_LUCKY without a model. */
export function typeByRules(query: string, now: Date): AnsweredType {
  const text = query.trim();
  if (QUOTED_PHRASE.test(text)) return 'CHUNKS_LEXICAL';
  if (CODING_RULES.test(text)) return 'CODING_RULES';
  if (REPORT.test(text)) return 'GRAPH_REPORT';
  if (questionParts(text, () => true).length > 1) return 'GRAPH_COMPLETION_DECOMPOSITION';
  if (INNER.test(text)) return 'GRAPH_COMPLETION_COT';
  if (WHOLE.test(text)) return 'BROAD';
  if (SUMMARY.test(text)) return 'GRAPH_SUMMARY_COMPLETION';
  if (analyseQuery(text, { now }).timeWindow !== null) return 'TEMPORAL';
  if (RELATED.test(text)) return 'GRAPH_COMPLETION_CONTEXT_EXTENSION';
  return 'HYBRID_COMPLETION';
}

const DESCRIPTIONS: Readonly<Partial<Record<AnsweredType, string>>> = {
  HYBRID_COMPLETION: 'a question about facts',
  GRAPH_COMPLETION: 'a question about how things are connected',
  GRAPH_COMPLETION_COT: 'a question that needs several facts one after another',
  GRAPH_COMPLETION_CONTEXT_EXTENSION: 'a question that needs the surroundings of what it names',
  GRAPH_COMPLETION_DECOMPOSITION: 'several questions in one, or a comparison',
  GRAPH_SUMMARY_COMPLETION: 'a request for a summary of what is known of something',
  RAG_COMPLETION: 'a question that one passage of a document answers',
  TEMPORAL: 'a question about what was at a time',
  BROAD: 'a question that must count or list over everything',
  CHUNKS: 'words to search for: passages are wanted, not an answer',
  CHUNKS_LEXICAL: 'an exact phrase to find',
  SUMMARIES: 'a request for short summaries of texts',
  CODING_RULES: 'a request for the rules of writing code',
  GRAPH_REPORT: 'a request for a description of the whole graph',
  SKILLS: 'a request for skills that fit a task',
};

/** Asks a model for the type; RAG_COMPLETION when it names none, or fails other than by its budget (search-recall.md §3.13). */
async function typeByModel(model: LanguageModel, request: SearchRequest): Promise<AnsweredType> {
  const list = Object.entries(DESCRIPTIONS).map(([type, text]) => `- ${type}: ${text}`);
  const system = `Choose the search type that fits a question. Answer with its name.\n${list.join('\n')}`;
  const schema = closedObject({ search_type: { type: 'string', enum: Object.keys(DESCRIPTIONS) } });
  const call = { system, prompt: request.query, schema, schemaName: 'SearchTypeChoice' };
  try {
    const { value } = await model.structured(call, modelCallContext(request));
    const name = (value as { readonly search_type: string }).search_type.toUpperCase();
    const type = SEARCH_TYPES.find((known) => known === name);
    return type !== undefined && isAnswered(type) && Object.hasOwn(DESCRIPTIONS, type) ? type : 'RAG_COMPLETION';
  } catch (error) {
    if (!isEngramError(error) || error.status === 402) throw error;
    return 'RAG_COMPLETION';
  }
}

const ABSOLUTE_DATE = new RegExp(
  `\\b(?:in|on|since|before|after|during|between|until|by|from)\\s+(?:the\\s+)?(?:(?:early|late|mid)[- ])?(?:(?:${MONTHS})\\s+)?(?:\\d{1,2}(?:st|nd|rd|th)?,?\\s+)?(?:1\\d|20)\\d\\d\\b`,
  'iu',
);

/**
 * Returns the type for a recall that names none: the first rule that matches (search-recall.md §6.3). Calls no model. `inSchema`: an
 * object is wanted, which only an answer can be.
 */
export function routedType(
  query: string,
  { answers, inSchema = false }: { readonly answers: boolean; readonly inSchema?: boolean },
): AnsweredType {
  if (!answers && !inSchema) return 'CHUNKS';
  if (QUOTED_PHRASE.test(query.trim()) && !inSchema) return 'CHUNKS_LEXICAL';
  if (CODING_RULES.test(query) && !inSchema) return 'CODING_RULES';
  if (ABSOLUTE_DATE.test(query)) return 'TEMPORAL';
  return 'HYBRID_COMPLETION';
}
