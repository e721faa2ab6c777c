import type { SpokenRelation } from './first-person.ts';
import { isPersonNoun } from './first-person.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import { snakeCase } from './relation-phrase.ts';

/** Questions for what the one who replies does or is, with the relation of what a reply without a verb names. */
const QUESTIONS: readonly (readonly [asks: RegExp, relation: string])[] = [
  [/\bwhere (?:do you live|are you living|do you live now)\b/iu, 'live_in'],
  [/\bwhere (?:do you work|are you working)\b|\bwho do you work for\b|\bwhat do you do\b/iu, 'work_at'],
  [/\bwhere (?:do|did|are) you (?:study|studying|go to (?:school|university|uni|college))\b/iu, 'study_at'],
  [/\bwhere (?:are you|do you come) from\b/iu, 'come_from'],
  [/\bwhere did you grow up\b/iu, 'grow_up_in'],
  [/\bwhere were you born\b/iu, 'born_in'],
  [/\bwhere (?:did|have|are) you (?:move|moved|moving)(?: to)?\b/iu, 'move_to'],
  [/\bwhere (?:did|have|are) you (?:go|been|going|travel|travell?ing|fly|flying)\b/iu, 'travel_to'],
  [/\bwho (?:did|are|do) you (?:go|going|travel|travell?ing|come|coming) with\b/iu, 'travel_with'],
];
const ASKS_JOB = /\bwhat do you do(?: for (?:a living|work))?\s*\?|\bwhat(?:['’]s| is) your (?:job|profession)\b/iu;
/** `What's your dog called?`, `Who is your dentist?`, `What's your sister's name?` */
const ASKS_OF_OWN =
  /\b(?:what|who)(?:['’]s| is) your (?:\p{Ll}+ )??(?<noun>\p{Ll}+?)(?:(?:['’]s)? (?<name>name|called|named))?\s*\?/iu;
const PETS = /^(?:dog|cat|rabbit|horse|hamster|parrot|puppy|kitten|pony|tortoise)$/u;
const MARK = /^[^:\n]{1,60}:\**\s+/u;
/** `Yes, in Porto.`, and no sentence of its own. */
const ELLIPTICAL =
  /^(?:(?:oh|well|hm+|yes|yeah|still|just|now|only|actually|mostly)\b[,.… ]*)*(?:(?<where>in|at|from|near|to|with|for)\s+|(?<article>an?)\s+(?<job>(?:\p{Ll}[\p{L}-]* ){0,2}?\p{Ll}[\p{L}-]*)(?=[.,!;]|$| (?:at|in|for|with|near)\b))?/iu;
/** Behind the first clause comes something else. */
const CLAUSE = /[.,;!?–—]|\b(?:and|but|because|with|where|who|which)\b/u;
const SAYS_SUBJECT =
  /^(?:(?:oh|well|yes|yeah|so|hm+),? )*(?:\p{L}+ )?(?:I|we|you|he|she|they|it|that|there|not|no|nowhere|nobody|none)\b/iu;

/**
 * Reads what a reply without a verb says of its speaker by the question before it: `live_in Porto` of `Where do you live? – In Porto,
 * near the river.`
 */
export function readReply(
  question: string,
  { sentence, mentions }: AnalysedSentence,
  speaker: string,
  nameOf: (mention: Mention) => { readonly name: string; readonly type: string } | null,
): readonly SpokenRelation[] {
  if (!question.trimEnd().endsWith('?')) return [];
  const lead = MARK.exec(sentence.text)?.[0].length ?? 0;
  const said = sentence.text.slice(lead);
  if (SAYS_SUBJECT.test(said) || /\?["”'’)]*$/u.test(said)) return [];
  const { 0: opening = '', groups = {} } = ELLIPTICAL.exec(said) ?? {};
  const { where, job } = groups;
  if (job !== undefined && ASKS_JOB.test(question))
    return [{ source: speaker, relation: 'is_a', target: job.toLowerCase(), type: 'Concept' }];
  const first = lead + opening.length;
  const end = first + Math.max(1, said.slice(opening.length).search(CLAUSE));
  const mention = mentions.find(
    ({ isNested, start }) => !isNested && start >= first && start <= Math.max(first + ARTICLE, 0),
  );
  const target = mention === undefined || mention.start > end ? null : nameOf(mention);
  if (target === null || target.name === speaker) return [];
  const relation = relationAsked(question, where !== undefined);
  return relation === null ? [] : [{ source: speaker, relation, target: target.name, type: null }];
}

/** Characters of an article before the name. */
const ARTICLE = 4;

function relationAsked(question: string, hasPreposition: boolean): string | null {
  const place = QUESTIONS.find(([asks]) => asks.test(question))?.[1];
  // `What do you do?` is replied to with a place only behind a preposition.
  if (place !== undefined) return place === 'work_at' && !hasPreposition && /\bwhat\b/iu.test(question) ? null : place;
  const { noun = '' } = ASKS_OF_OWN.exec(question)?.groups ?? {};
  return !hasPreposition && (PETS.test(noun) || isPersonNoun(noun)) ? snakeCase(noun) : null;
}
