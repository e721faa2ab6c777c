import { type EntityType, type TypeVotes, vote } from './entity-type.ts';
import { PLACES } from './gazetteer.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import type { TaggedWord } from './tagger.ts';
import { PERSON_VERBS, PERSONAL_ADJECTIVES, PERSONAL_THINGS, SPEECH_VERBS, TYPE_NOUNS } from './type-words.ts';

/** Things that something can be in without their being places: `in Athletics`, `in Precisionism`. */
const NO_PLACE = /(?:ism|ics|ology|graphy|tion|ment|ness|ing|ship|ture|ence|ance)$/u;
const EMPLOYMENT = /^(?:work|intern|employ|job|position|career|engineer|manager|director|colleague)$/u;
const COMPANY_THINGS = new Set(
  'ceo cto cfo founder cofounder co-founder employee customer shareholder headquarters office product share subsidiary'.split(
    ' ',
  ),
);
const COMPANY_DEEDS =
  /^ (?:was|were|is|has been|had been) (?:founded|co-founded|incorporated|acquired|headquartered|rebranded)\b/u;
/** Verbs of companies that act on others, and of people who act on companies. */
const COMPANY_ACTS = /^(?:acquire|manufacture|merge|rebrand|outsource|subcontract)$/u;
const ACTS_ON_COMPANIES = /^(?:acquire|co-found|cofound|found|join|quit)$/u;
/** Verbs of programs and their data, in front of the product that they are in. */
const HOSTING = /^(?:run|deploy|write|store|queue|log|cache|install|implement|persist|render|compile|save)$/u;
const MOTION =
  /^(?:go|come|sail|travel|return|move|arrive|flee|fly|drive|walk|march|ride|trip|journey|voyage|voyag|bind|head|run|back|away|way|road|flight)$/u;

/** Predicates and nouns in front of a name that only fit a team, a band, a company or another body. */
const BODY_BEFORE =
  /\b(?:(?:re-?)?sign(?:s|ed|ing)? (?:with|for)|join(?:s|ed|ing)|play(?:s|ed|ing)? (?:\w+ )?(?:football |games? |matches )?for|on loan (?:to|at|from)|loaned to|transferred (?:to|from)|contract with|debut (?:for|with)|appear(?:ed|ances?) for|drafted by|(?:released|published|distributed|manufactured|acquired|employed|hired|broadcast|commissioned|taken over|bought) by|(?:aired|broadcast|available|shown) on|members? of|(?:singer|vocalist|guitarist|drummer|bassist|keyboardist|frontman|frontwoman|employees?|chairman|chairwoman|ceo|executive|co-?founder|subsidiary|division|supporters?|shareholders?|headquarters|graduate|alumnus|faculty|fellow) (?:of|for)|graduat\w+ from|(?:professor|student|lecturer|fellow|degree|studied|educated|taught|worked|working) at|attend(?:s|ed|ing)?|affiliated with|merged with|partner(?:ed|ship) with|works? for|worked for) (?:the |its |their )?(?:\p{Ll}+ ){0,2}$/u;
/** Characters in front of a name that say what it is. */
const BEFORE = 48;

interface Surroundings {
  readonly mention: Mention;
  readonly text: string;
  readonly before: TaggedWord | undefined;
  readonly beforeThat: TaggedWord | undefined;
  readonly after: TaggedWord | undefined;
  readonly afterThat: TaggedWord | undefined;
  /** `Queequeg's`: then `after` is what he owns. */
  readonly isOwner: boolean;
}

/** Returns the type of a mention by the words around it: `sail to Nantucket`, `said Queequeg`, `Ahab's wife`, `the novel Typee`. */
export function voteByContext(votes: TypeVotes, { sentence, words }: AnalysedSentence, mention: Mention): void {
  const visible = words.filter((word) => word.pos !== 'SPACE');
  const from = visible.findIndex((word) => word.end > mention.start);
  const next = visible.findIndex((word) => word.start >= mention.end);
  const follower = next === -1 ? undefined : visible[next];
  const isOwner = follower !== undefined && /^['’]s?$/u.test(follower.text);
  const follow = next === -1 ? visible.length : isOwner ? next + 1 : next;
  const around: Surroundings = {
    mention,
    text: sentence.text,
    before: from > 0 ? visible[from - 1] : undefined,
    beforeThat: from > 1 ? visible[from - 2] : undefined,
    after: visible[follow],
    afterThat: visible[follow + 1],
    isOwner,
  };
  voteForHostOrPlace(votes, around);
  if (mention.kind === 'name') voteForPerson(votes, around);
  voteForOrganisation(votes, around);
  voteForNoun(votes, around);
}

function voteForHostOrPlace(
  votes: TypeVotes,
  { mention, text, before, beforeThat, after, isOwner }: Surroundings,
): void {
  const isModifier = after?.pos === 'NOUN' && after.start - mention.end < 2;
  const word = before?.text.toLowerCase() ?? '';
  const isHost = /^(?:in|on|to|into|with|by)$/u.test(word) && HOSTING.test(beforeThat?.lemma.toLowerCase() ?? '');
  // `runs in Docker`, `Prometheus 2.51`
  if (isHost || /^ v?\d+\.\d/u.test(text.slice(mention.end))) vote(votes, 'Product', 1);
  else if (mention.kind !== 'acronym' && !isOwner && !isModifier && !NO_PLACE.test(mention.name)) {
    if (word === 'in' || word === 'into') vote(votes, 'Place', 1);
    else if (/^(?:near|toward|towards|off|at)$/u.test(word) && !isEmployment(beforeThat)) vote(votes, 'Place', 0.4);
    else if (/^(?:to|from|for)$/u.test(word) && MOTION.test(beforeThat?.lemma.toLowerCase() ?? ''))
      vote(votes, 'Place', 0.8);
  }
  if (before?.text === 'of' && TYPE_NOUNS.get(beforeThat?.lemma.toLowerCase() ?? '') === 'Place')
    vote(votes, 'Place', 2);
  // `Sinaloa, Mexico`
  const region = /^, (\p{Lu}[\p{L}.]+(?: \p{Lu}[\p{L}.]+)?)/u.exec(text.slice(mention.end))?.[1];
  const isList = /^, [^,]+,? and /u.test(text.slice(mention.end));
  if (region !== undefined && !isList && isPlaceName(region)) vote(votes, 'Place', 1.5);
}

function isPlaceName(words: string): boolean {
  const lower = words.toLowerCase().replace(/\.$/u, '');
  return PLACES.has(lower) || PLACES.has(lower.split(' ')[0] ?? '');
}

function voteForPerson(votes: TypeVotes, around: Surroundings): void {
  const { mention, before, after, afterThat, isOwner } = around;
  const verb = after?.lemma.toLowerCase() ?? '';
  if (isOwner && !mention.isThing && PERSONAL_THINGS.has(verb)) vote(votes, 'Person', 1.5);
  if (!isOwner && before?.pos === 'VERB' && isSaid(around)) vote(votes, 'Person', 2);
  const verbs = mention.isThing ? SPEECH_VERBS : PERSON_VERBS;
  if (!isOwner && after?.pos === 'VERB' && verbs.has(verb) && afterThat?.text !== 'by') vote(votes, 'Person', 2);
  // `Queequeg, who`, `Queequeg and I`, `Queequeg himself`
  const follow = around.text.slice(mention.end, mention.end + 12);
  if (/^,? (?:who|whom|himself|herself)\b/u.test(follow)) vote(votes, 'Person', 1.5);
  if (
    /^ and (?:I|me|he|she|myself)\b/u.test(follow) ||
    /\b(?:I|me|he|she) and $/u.test(around.text.slice(0, mention.start))
  )
    vote(votes, 'Person', 1.5);
  if (PERSONAL_ADJECTIVES.has(before?.text.toLowerCase() ?? '')) vote(votes, 'Person', 0.7);
  // Without an article, an owner or actor is most often a person.
  if (mention.isThing) return;
  const isCompany = COMPANY_ACTS.test(verb);
  const isSubject =
    !isOwner && !isCompany && after?.pos === 'VERB' && after.start - mention.end < 2 && afterThat?.text !== 'by';
  if (isSubject || (isOwner && after?.pos !== 'ADP')) vote(votes, 'Person', 0.5);
}

/** `works at Globex`, `Globex was founded`, `Globex's CEO` */
function voteForOrganisation(
  votes: TypeVotes,
  { mention, text, before, beforeThat, after, afterThat, isOwner }: Surroundings,
): void {
  if (/^(?:at|for|by)$/u.test(before?.text ?? '') && isEmployment(beforeThat)) vote(votes, 'Organisation', 2);
  if (!isOwner && BODY_BEFORE.test(text.slice(Math.max(0, mention.start - BEFORE), mention.start)))
    vote(votes, 'Organisation', 1);
  if (COMPANY_DEEDS.test(text.slice(mention.end, mention.end + 40))) vote(votes, 'Organisation', 1);
  const following = after?.lemma.toLowerCase() ?? '';
  const owned = /^(?:new|former|first)$/u.test(following) ? (afterThat?.lemma.toLowerCase() ?? '') : following;
  if (isOwner && COMPANY_THINGS.has(owned)) vote(votes, 'Organisation', 1.5);
  if (!isOwner && after?.pos === 'VERB' && COMPANY_ACTS.test(following)) vote(votes, 'Organisation', 1.5);
  if (!isOwner && before?.pos === 'VERB' && ACTS_ON_COMPANIES.test(before.lemma.toLowerCase()))
    vote(votes, 'Organisation', 1);
}

function isEmployment(word: TaggedWord | undefined): boolean {
  return EMPLOYMENT.test(word?.lemma.toLowerCase() ?? '');
}

/** `said Queequeg`, but not `tell Queequeg's` or `asked in`. */
function isSaid({ before, beforeThat }: Surroundings): boolean {
  const isPast = SPEECH_VERBS.has(before?.lemma.toLowerCase() ?? '');
  return isPast && (beforeThat === undefined || beforeThat.pos === 'PUNCT');
}

/** The noun beside a name says what it is: `the novel Typee`, `the Typee novel`, `our cat Luna`. */
function voteForNoun(votes: TypeVotes, { mention, before, after, isOwner }: Surroundings): void {
  const leading = before?.pos === 'NOUN' ? TYPE_NOUNS.get(before.lemma.toLowerCase()) : undefined;
  if (leading !== undefined) vote(votes, leading as EntityType, 2);
  if (isOwner || after?.pos !== 'NOUN' || after.start - mention.end > 1) return;
  const following = TYPE_NOUNS.get(after.lemma.toLowerCase());
  if (following !== undefined && following !== 'Person') vote(votes, following as EntityType, 1);
}
