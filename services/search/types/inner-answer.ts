import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { packPassages } from '../answers/contexts.ts';
import { directAnswer } from '../answers/direct-answer.ts';
import { descriptionOf, isToldAtOnce, nameFor } from '../answers/inner-description.ts';
import { answerInner, type InnerAnswer } from '../answers/inner-question.ts';
import type { Statement } from '../answers/statements.ts';
import type { TurnPassages } from '../conversation/turn-passages.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { KnowledgeLimits, QuoteOptions, Retrieval } from '../retrieval/retrieval.ts';
import { embedQuery, retrievePassages } from '../retrieval/retrieve-passages.ts';
import { runSteps } from './run-steps.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';

export interface ResolvedPassages extends TurnPassages {
  /** The answer of an inner question; null without one. */
  readonly inner: InnerAnswer | null;
}

type InnerTarget = Pick<SearchTarget, 'dataset' | 'influence'> & {
  readonly limit: number;
  readonly knowledge?: KnowledgeLimits;
  readonly quotes?: QuoteOptions;
};

/**
 * Answers the inner question of a question (`in the year I moved to Berlin`) from the passages found for the whole, or what it
 * describes (`the author of Wolf Hall`) by searches of their own, and retrieves once more for the question that is left. With a
 * model nothing is done: it combines passages by itself.
 */
export async function resolveInner(
  deps: TypeDependencies,
  request: SearchRequest,
  target: InnerTarget,
  material: TurnPassages,
): Promise<ResolvedPassages> {
  if (deps.languageModel !== null) return { ...material, inner: null };
  const { passages } = material.retrieval;
  const described = await resolveDescriptions(deps, request, target, material);
  if (described !== null) return described;
  // What is said plainly of a person needs no name of that person.
  const inner = directAnswer(material.query, passages) === null ? answerInner(material.query, passages) : null;
  if (inner === null) return { ...material, inner };
  const retrieval = await retrieveFor(deps, request, target, inner.outer);
  const proofs = passages.filter(({ id }) => id === inner.sentence.passage.id);
  return { ...material, query: inner.outer, retrieval: withProofs(retrieval, target.limit, proofs), inner };
}

async function retrieveFor(deps: TypeDependencies, request: SearchRequest, target: InnerTarget, query: string) {
  const asked = { ...request, query };
  const vector = await embedQuery(deps, asked).of(target.dataset);
  return retrievePassages(deps, asked, { ...target, vector });
}

function withProofs(retrieval: Retrieval, limit: number, proofs: readonly RankedPassage[]): Retrieval {
  const known = new Set(retrieval.passages.map(({ id }) => id));
  const added = proofs.filter(({ id }) => !known.has(id));
  const kept = retrieval.passages.slice(0, Math.max(1, limit - added.length));
  return { ...retrieval, passages: [...kept, ...added] };
}

/** Descriptions within descriptions that are resolved. */
const MAX_HOPS = 3;

interface Hops {
  readonly query: string;
  /** What the last description was resolved to. */
  readonly name: string;
  readonly proofs: readonly { readonly passage: RankedPassage; readonly statement: Statement }[];
}

/**
 * Replaces what a question describes by its name, the innermost description first, each by a question of its own. Null unless
 * each of these questions and the one that is left are answered, and when a passage answers the whole at once.
 */
async function resolveDescriptions(
  deps: TypeDependencies,
  request: SearchRequest,
  target: InnerTarget,
  material: TurnPassages,
): Promise<ResolvedPassages | null> {
  if (descriptionOf(material.query) === null || isToldAtOnce(material.query, material.retrieval.passages)) return null;
  const start: Hops = { query: material.query, name: '', proofs: [] };
  const { query, name, proofs } = await runSteps(request, MAX_HOPS, start, (hops: Hops) =>
    resolveOne(deps, request, target, hops),
  );
  const sentence = proofs.at(-1);
  if (sentence === undefined || descriptionOf(query) !== null) return null;
  const found = await retrieveFor(deps, request, target, query);
  const passages = [...new Map(proofs.map(({ passage }) => [passage.id, passage])).values()];
  const retrieval = withProofs(found, target.limit, passages);
  const kind = { excluded: null, isOfName: true, isDescription: true } as const;
  const inner = { ...kind, outer: query, sentence, earlier: proofs.slice(0, -1) };
  const resolved = { ...material, query, retrieval, inner };
  if ((await quotesOf(deps, target, resolved)).text !== NOTHING_FITS) return resolved;
  // What answers the whole question is about the one that it describes, or answers another question.
  const { proof } = await quotesOf(deps, target, { ...material, inner: null });
  const told = material.retrieval.passages.find(({ id }) => id === proof?.passageId);
  return told === undefined || told.payload.text.includes(name) ? null : resolved;
}

/** Answers with quotes as the type will. */
function quotesOf(deps: TypeDependencies, target: InnerTarget, { query, retrieval, inner }: ResolvedPassages) {
  const passages = packPassages(retrieval.passages);
  return deps.quotes(target.dataset, { query, retrieval, passages, inner, facts: [] }, { dataset: null });
}

async function resolveOne(
  deps: TypeDependencies,
  request: SearchRequest,
  target: InnerTarget,
  { query, proofs }: Hops,
): Promise<Hops | null> {
  const description = descriptionOf(query);
  if (description === null) return null;
  const options = { dataset: null };
  const { question, around } = description;
  const asked = { dataset: target.dataset, influence: target.influence, limit: target.limit };
  const found = await retrieveFor(deps, request, { ...asked, quotes: options }, question);
  const { short = null, proof } = await quotesOf(deps, target, {
    query: question,
    retrieval: found,
    found: [],
    inner: null,
  });
  const passage = found.passages.find(({ id }) => id === proof?.passageId);
  if (proof === undefined || passage === undefined) return null;
  const { statement } = proof;
  const name = nameFor(description, { short, sentence: statement.text });
  if (name === null) return null;
  return { query: `${around[0]}${name}${around[1]}?`, name, proofs: [...proofs, { passage, statement }] };
}
