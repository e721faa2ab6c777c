import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../common/platform/messaging/messenger.ts';
import { NOTHING_FITS } from '../common/text/repetition/own-answers.ts';
import type { SearchParts } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { search } from './search.ts';

const MAX_FACTS = 10;
/** A model that says in its own words that memory has no answer. */
const REFUSAL =
  /^[^\n]{0,60}\b(?:memory|context)\b[^\n]{0,20}\b(?:does not|doesn['’]t|holds? no|has no)\b[^\n]{0,120}$/iu;

/** Answers a question that reached another service, such as one in a chat: `search.Answer` in proto/. */
export async function answerQuestion(
  parts: SearchParts,
  { question }: RequestOf<'search.Answer'>,
  context: CallContext,
): Promise<AnswerOf<'search.Answer'>> {
  const request: SearchRequest = {
    principal: callerOf(context),
    context,
    query: question,
    type: 'HYBRID_COMPLETION',
    datasets: {},
    topK: null,
    sessionId: null,
    systemPrompt: null,
    nodeSets: undefined,
    onlyContext: false,
    includeReferences: false,
    explain: false,
    responseSchema: null,
  };
  const outcomes = await search(parts, request);
  return { answers: outcomes.flatMap(answerOf) };
}

function answerOf({ outcome }: DatasetOutcome) {
  if (outcome?.kind !== 'completion' || outcome.answer === null) return [];
  // Without a model, a certainty of 0 says that memory does not answer the question.
  if (outcome.answer === NOTHING_FITS || outcome.certainty === 0 || REFUSAL.test(outcome.answer)) return [];
  const { answer: text, facts = [] } = outcome;
  return [{ text, facts: facts.slice(0, MAX_FACTS).map((fact) => fact.text) }];
}
