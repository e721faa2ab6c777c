import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { likenessTo, mostOfKind } from '../retrieval/word-likeness.ts';
import { isAgentUnsaid, isOfAuthor, NAMED_KINDS } from './agreement.ts';
import { canAct } from './doers.ts';
import {
  isBirthWithoutPlace,
  isDateOfLife,
  isEventUnsaid,
  isHourOfOther,
  isMoneyForCount,
  isOnlyWished,
  isReasonOfOther,
  isYetToCome,
} from './event-conditions.ts';
import { isForeignText } from './foreign-text.ts';
import { unmetPart } from './part-conditions.ts';
import { contentWords, isNewTo, type Question, wordsOf } from './question.ts';
import { type PlacedStatement, refersBack } from './rank-sentences.ts';
import { isOfAnotherRelative, isRelative, relativesLike } from './relatives.ts';
import { isMatterUnsaid } from './responsible.ts';
import { isNumbered, isSaid, isSameStem } from './slots.ts';
import { CALENDAR_NAMES, spansOf } from './spans.ts';
import { statementsOf } from './statements.ts';
import { isNoun, isOfThing, isRole, isVerb, likenessToKinds, MIN_OF_KIND } from './word-kinds.ts';

/** A sentence, with what stands above and before it. */
interface Said {
  readonly text: string;
  readonly context: string;
  /** Of a mail or the like; '' when it is not said. */
  readonly author: string;
  /** An item of a list that begins with a name. */
  readonly isOfName?: boolean;
}

/**
 * The person or kind is another one; the sentence has no name, breed, doer, owner or opinion of the kind that is asked for, no
 * word of the event, tells of the future or of a wish only, counts nothing but money, or gives a reason of something else.
 */
type Condition =
  | 'person'
  | 'kind'
  | 'subject'
  | 'name'
  | 'breed'
  | 'doer'
  | 'role'
  | 'owner'
  | 'opinion'
  | 'event'
  | 'future'
  | 'wish'
  | 'count'
  | 'reason';

/** Sentences that a pronoun refers back over. */
const MAX_BACK = 3;

/** Returns sentences with their headings, and those before them that they refer to. */
export function saidOf(sentences: readonly PlacedStatement[]): readonly Said[] {
  return sentences.map(({ statement: { text, heading, above = [], label, isItem }, passage }) => {
    const told = statementsOf(passage);
    const author = AUTHOR.exec(passage.payload.text)?.[1] ?? '';
    const at = told.findIndex((one) => one.text === text);
    let first = at;
    for (let back = 0; back < MAX_BACK && refersBack(told[first] ?? NO_STATEMENT); back++) first -= 1;
    const before = told.slice(Math.max(0, first), at).map((one) => one.text);
    const isOfName = isItem === true && ITEM_OF_NAME.test(text) && !isOfCommonKey(text);
    const context = [passage.payload.documentName, ...above, heading, label, ...before].join(' ');
    return { text, author, isOfName, context };
  });
}

/** Content words of a sentence and of what stands above and before it. */
const wordsAround = ({ text, context }: Pick<Said, 'text' | 'context'>) => contentWords(`${text} ${context}`);

const ITEM_OF_NAME = /^\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*(?:,|:| [–—(-])/u;

/** Whether an item is a key that names a property, with its value: `Queue: RabbitMQ`. */
function isOfCommonKey(text: string): boolean {
  const key = /^(\p{Lu}[\p{L}-]+(?: [\p{L}-]+){0,3}): /u.exec(text)?.[1];
  const isNoun = (word: string) => wordSenses().partsOf(wordSenses().row(word.toLowerCase())).noun > 0;
  return key?.split(' ').every(isNoun) === true;
}

const NO_STATEMENT = { text: '' };
const AUTHOR = /^(?:from|author|by|von|de|autor|auteur):\s*([^\n]+)/imu;

/** Returns a condition of a question that its best sentences surely do not meet, best first; null when they may meet all. */
export function unmetCondition(question: Question, said: readonly Said[]): Condition | null {
  const [best] = said;
  if (best === undefined) return null;
  if (
    isOtherPerson(question.text, best) ||
    isItemOfOther(question.text, best) ||
    (isOfAuthor(question, best.text) &&
      !namesIn(question.text).some((name) => contentWords(best.author).map(stemOf).includes(name)))
  )
    return 'person';
  if (isOfOtherKind(question, best)) return 'kind';
  if (isSubjectUnsaid(question, said)) return 'subject';
  if (isOfOtherAnimal(question, said)) return 'kind';
  if (isNameUnsaid(question, said)) return 'name';
  if (isNameOfPersonUnsaid(question.text, said)) return 'name';
  if (isBreedUnsaid(question, said)) return 'breed';
  if (isAgentUnsaid(question, best.text)) return 'doer';
  if (isRoleUnsaid(question, said) || isHolderUnsaid(question, said)) return 'role';
  if (isHeadUnsaid(question.text, said)) return 'subject';
  if (isCompoundUnsaid(question.text, said) || isMatterUnsaid(question.text, said)) return 'subject';
  if (isOwnerUnsaid(question, said)) return 'owner';
  if (isOpinionUnsaid(question, said)) return 'opinion';
  if (isEventUnsaid(question, said)) return 'event';
  if (isDateOfLife(question, best.text) || isBirthWithoutPlace(question, best.text)) return 'event';
  if (isHourOfOther(question, best.text)) return 'event';
  if (isYetToCome(question, best.text)) return 'future';
  const part = unmetPart(question, said);
  if (part !== null) return part;
  if (isOnlyWished(question, best.text)) return 'wish';
  if (isMoneyForCount(question, best.text)) return 'count';
  return isReasonOfOther(question, best.text) ? 'reason' : null;
}

const TITLED = /\b(?:(Mr)|Mrs|Ms|Miss)\.? (\p{Lu}[\p{L}’'-]+)/gu;
/** Whether a sentence is about another person than the question: `Mr. Yilmaz` for `Mrs. Yilmaz`, a mother-in-law for a mother. */
export function isOtherPerson(question: string, { text, context }: Pick<Said, 'text' | 'context'>): boolean {
  const all = `${text} ${context}`;
  const isMan = (one: RegExpMatchArray) => one[1] !== undefined;
  const said = [...all.matchAll(TITLED)];
  for (const asked of question.matchAll(TITLED)) {
    const named = said.filter(([, , name]) => name === asked[2]);
    if (named.length > 0 && named.every((one) => isMan(one) !== isMan(asked))) return true;
  }
  return isOfAnotherRelative(question, text, all);
}

/** Returns the stems of the words of a question that are names. */
export function namesIn(question: string): readonly string[] {
  return contentWords(
    question
      .slice(1)
      .match(/\p{Lu}[\p{L}'’-]*/gu)
      ?.join(' ') ?? '',
  ).map(stemOf);
}

/** Whether an item tells of somebody else than the one name of a question: `Aylin, mechanic; speaks Dutch` of Mats. */
function isItemOfOther(question: string, { text, isOfName }: Said): boolean {
  const names = namesIn(question);
  const words = contentWords(text).map(stemOf);
  return isOfName === true && names.length > 0 && !names.some((name) => words.includes(name));
}

const PREFIXES = ['un', 'non', 'non-', 'in', 'dis', 'ir', 'im'];

/** Whether a sentence has the opposite of a word of the question, and not the word: `uncontested` for `contested`. */
function isOfOtherKind({ text, type }: Question, { text: sentence, context }: Said): boolean {
  if (type === 'yes-no') return false;
  const said = new Set(wordsOf(`${sentence} ${context}`));
  const isOpposed = (word: string) =>
    word.length > 4 &&
    !said.has(word) &&
    PREFIXES.some(
      (prefix) => said.has(prefix + word) || (word.startsWith(prefix) && said.has(word.slice(prefix.length))),
    );
  return contentWords(text).some(isOpposed);
}

/** `Are cats allowed?`, `Does the office have a lift?` */
const SUBJECT = /^\p{L}+ (?:(?:the|my|our|there|an?|any) )*(\p{Ll}{3,})/iu;

/** Whether no sentence has the thing of which a question asks whether something is so. */
export function isThingUnsaid(question: string, said: readonly Pick<Said, 'text' | 'context'>[]): boolean {
  const subject = SUBJECT.exec(question.trim())?.[1] ?? '';
  // `Does Heron support MySQL?` asks of no bird.
  const [thing] = /^\p{Lu}/u.test(subject) ? [] : contentWords(subject);
  const { noun, verb } = wordSenses().partsOf(wordSenses().row(thing ?? ''));
  if (thing === undefined || noun <= Math.max(verb, 0.5) || relativesLike(thing).length > 0) return false;
  return said.every((one) => !wordsAround(one).some((word) => isOfThing(thing, word)));
}

/** Whether no sentence has what a question asks of whether something is so, or a name in it and what it says of that. */
function isSubjectUnsaid({ text, type }: Question, said: readonly Said[]): boolean {
  if (type !== 'yes-no') return false;
  if (isThingUnsaid(text, said)) return true;
  const names = namesIn(text);
  const rest = contentWords(text).filter((word) => !names.includes(stemOf(word)));
  if (names.length === 0 || rest.length === 0) return false;
  return said.every((one) => {
    const words = wordsAround(one);
    const stems = new Set(words.map(stemOf));
    return !names.some((name) => stems.has(name)) || !rest.some((word) => isSaid(word, words));
  });
}

const ASKS_WHICH = (kind: string) => new RegExp(`\\b(?:which|what) (?:\\p{L}+ ){0,2}?${kind}\\b`, 'iu');
const CALENDAR = new RegExp(`^(?:\\d+|${CALENDAR_NAMES})$`, 'iu');
const TITLE_OF_PERSON = /^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Aunt|Uncle)\b/u;

/** Whether no sentence has a name of the kind that is asked for, nor a word of it. */
function isNameUnsaid(question: Question, said: readonly Said[]): boolean {
  const { text, type, focus } = question;
  if ((type !== 'thing' && type !== 'place') || focus === null || !NAMED_KINDS.has(focus)) return false;
  if (!ASKS_WHICH(focus).test(text)) return false;
  const isNew = isNewTo(text);
  if (said.slice(0, 1).every((one) => isNameless(question, one, isNew))) return true;
  return said.every((one) => {
    if (isNumbered(question, `${one.context} ${one.text}`)) return false;
    const names = spansOf(one.text, ['name', 'title']).filter((span) => {
      // `In March 2013 the Tisza rose.` is read as one name.
      const words = wordsOf(span.text).filter((word) => isNew(word) && !CALENDAR.test(word));
      if (words.length === 0 || TITLE_OF_PERSON.test(span.text)) return false;
      const like = likenessToKinds(words);
      const before = one.text.slice(0, span.start);
      if (KINDS_OF_GROUPS.has(focus) && ON_WAY.test(before) && like.place - like.group > PLACE) return false;
      if (PLACED.test(before)) return true;
      return like.person - Math.max(like.place, like.group) < PERSON;
    });
    return names.length === 0 && mostOfKind(focus, contentWords(one.text).filter(isNew)) < MIN_OF_KIND;
  });
}

/** Whether a sentence has neither a new name, of whatever kind, nor a word of the kind that is asked for. */
function isNameless(question: Question, { text, context }: Said, isNew: (word: string) => boolean): boolean {
  const isOther = (span: string) => wordsOf(span).some((word) => isNew(word) && !CALENDAR.test(word));
  return (
    !isNumbered(question, `${context} ${text}`) &&
    !spansOf(text, ['name', 'title']).some((span) => isOther(span.text)) &&
    mostOfKind(question.focus ?? '', contentWords(text).filter(isNew)) < MIN_OF_KIND
  );
}

/** What stands before names that are not of persons. */
const PLACED = /\b(?:the|in|at|on)\s$/iu;
/** `a flight from Vienna to Oslo` */
const ON_WAY = /\b(?:from|to|into|via|near)\s$/iu;
/** Kinds of groups and makes that no place is the name of, as clubs and teams have. */
const KINDS_OF_GROUPS: ReadonlySet<string> = new Set(
  'airline agency app application band bank brand company employer firm insurer make maker manufacturer publisher supplier'.split(
    ' ',
  ),
);
/** How much liker to names of places than to those of groups a name is that belongs to a place. */
const PLACE = 0.25;
/** How much liker to names of persons than to others a name is that belongs to a person. */
const PERSON = 0.25;

const ASKS_NAME_OF_PERSON =
  /\b(?:what(?:['’]s| is| was) (?:my|our|the) ((?:\p{Ll}+ ){0,2}\p{Ll}+) (?:called|named)\b|what(?:['’]s| is| was) (?:my|our|the) ((?:\p{Ll}+ ){0,2}?\p{Ll}+)['’]s (?:(?:first|given|full|real) )?name\b|names? of (?:my|our|the|\p{Lu}\p{L}+['’]s?) ((?:\p{Ll}+ ){0,2}?\p{Ll}+)(?= (?:who|whom|that|in|at|from|on|we|I)\b|\?))/iu;

/** Before names that are of things: `the basics of Python`, `in Prague`. */
const OF_THING = /\b(?:of|in|on|at|the|using)\s$/iu;
const SAYS_NAME = /\b(?:called|named?|names|nicknamed)\b/iu;
/** How much liker to names of places and groups than to those of persons a name is that belongs to no person. */
const NO_PERSON = 0.25;

/** Whether no sentence has a name that a person could have, when a question asks what somebody is called. */
function isNameOfPersonUnsaid(question: string, said: readonly Said[]): boolean {
  const [, ...asks] = ASKS_NAME_OF_PERSON.exec(question) ?? [];
  if (isGivenNameUnsaid(question, said)) return true;
  const role = contentWords(asks.find((one) => one !== undefined) ?? '').at(-1);
  if (role === undefined || !isRole(role)) return false;
  const isGivenName = /\b(?:first|given) name\b/iu.test(question);
  const isNewWord = isNewTo(question);
  const isNew = (word: string) => isNewWord(word) && !CALENDAR.test(word);
  return said.every(({ text, context }) => {
    const all = `${context} ${text}`;
    // Notes may write names without capitals.
    if (SAYS_NAME.test(text)) return false;
    if (!isSaid(role, wordsOf(all)) && !relativesLike(role).some((other) => wordsOf(all).includes(other))) return true;
    return spansOf(all, ['name', 'title']).every((span) => {
      if (isGivenName && TITLE_OF_PERSON.test(span.text)) return true;
      const words = wordsOf(span.text).filter(isNew);
      const like = likenessToKinds(words);
      const isOther = Math.max(like.place, like.group) - like.person > NO_PERSON;
      return words.length === 0 || isOther || OF_THING.test(all.slice(0, span.start));
    });
  });
}

/** `What is Mrs Osei's first name?` */
const ASKS_GIVEN_NAME = /\b(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? (\p{Lu}[\p{L}’'-]*?)['’]s (?:first|given|full|real) name\b/u;

/** Whether no sentence has another name than a title before the surname of which a question asks the first name. */
function isGivenNameUnsaid(question: string, said: readonly Said[]): boolean {
  const surname = ASKS_GIVEN_NAME.exec(question)?.[1];
  if (surname === undefined) return false;
  const named = new RegExp(
    `(?<!\\p{L})(?!(?:Mr|Mrs|Ms|Miss|Dr|Prof|The|And)\\b)\\p{Lu}[\\p{L}’'-]+\\.? ${surname}(?!\\p{L})`,
    'u',
  );
  return said.every(({ text, context }) => !named.test(text) && !named.test(context) && !SAYS_NAME.test(text));
}

const ANIMALS = 'dog cat horse sheep goat cow cattle rabbit hen chicken pig donkey pony bird fish bee'.split(' ');
/** Words for the animals of one species. */
const SPECIES = new Map(
  'dog dogs puppy puppies hound|cat cats kitten kittens|horse horses pony foal|sheep lamb|goat goats|cow cows calf|rabbit rabbits|hen hens chicken chickens|pig pigs|donkey donkeys|bird birds|fish'
    .split('|')
    .flatMap((group, at) => group.split(' ').map((word) => [word, at] as const)),
);

const SAYS_NO_BREED = new Set([...SPECIES.keys(), ...'bee bees pet pets animal animals tom bitch stray'.split(' ')]);

/** Whether no sentence names a breed: `our cat Luna` has none, `a border collie` has. */
function isBreedUnsaid({ text }: Question, said: readonly Said[]): boolean {
  if (!/\b(?:what|which) (?:breed|race)\b|\bbreed of\b/iu.test(text)) return false;
  const names = namesIn(text);
  return said.every((one) => {
    const all = new Set(wordsOf(`${one.text} ${one.context}`).map(stemOf));
    if (!names.every((name) => all.has(name))) return true;
    const words = contentWords(one.text).filter((word) => !SAYS_NO_BREED.has(word));
    return [...ANIMALS, 'breed'].every((animal) => mostOfKind(animal, words) < MIN_OF_KIND) && !BREED.test(one.text);
  });
}

/** `Who is the CEO of Zalando?`, `Who is our landlord?` */
const ASKS_ROLE =
  /^[Ww]ho(?: (?:is|was)|['’]s) (?:the |my |our |their |\p{Lu}\p{L}+['’]s )(?:\p{Ll}+ )?(\p{Ll}{3,}|\p{Lu}{2,4})(?: (?:of|at|in|for) .+)?\??$/u;
/** Below this likeness no word has to do with a role. */
const MIN_ROLE_LIKENESS = 0.12;

/** Whether no sentence has a word for the role that is asked for, nor one like it: `an engineer at Zalando` for its CEO. */
function isRoleUnsaid({ text, type }: Question, said: readonly Said[]): boolean {
  const role = type === 'person' ? ASKS_ROLE.exec(text.trim())?.[1]?.toLowerCase() : undefined;
  const like = role === undefined || isRelative(role) ? null : likenessTo(role);
  if (role === undefined || like === null || said.some((one) => isForeignText(one.text))) return false;
  const stem = stemOf(role);
  const words = said.flatMap(wordsAround);
  return words.every((word) => stemOf(word) !== stem && like(wordSenses().row(word)) < MIN_ROLE_LIKENESS);
}

const ASKS_HOLDER = /^who(?:['’]s| is| was) (?:the|our) ((?:\p{Ll}+ ){0,2}\p{Ll}+)\??$/iu;

/** Whether sentences speak of a role without a name: `It needs the approval of the finance director.` */
function isHolderUnsaid({ text }: Question, said: readonly Said[]): boolean {
  const role = contentWords(ASKS_HOLDER.exec(text.trim())?.[1] ?? '').at(-1);
  if (role === undefined || !isRole(role)) return false;
  const stem = stemOf(role);
  const ofRole = said.filter((one) => wordsAround(one).some((word) => stemOf(word) === stem));
  const saysWho = new RegExp(`\\b(?:is|was|are) .*\\b${role}\\b|\\b${role}\\b.* (?:is|was) `, 'iu');
  const isNamed = (sentence: string) => spansOf(sentence, ['name', 'title']).some((name) => canAct(sentence, name));
  return ofRole.length > 0 && ofRole.every((one) => !isNamed(one.text) && !saysWho.test(one.text));
}

const ASKS_COMPOUND =
  /^(?:what|when|where|how (?:much|high))(?:['’]s| is| are| was| were| will) (?:the|our) (\p{Ll}{3,}) (\p{Ll}{3,})(?: be)?\??$/iu;

/** Whether a sentence that has a thing has it with another word before it: `The annual fee is 180 euros.` of a parking fee. */
function isOfOtherSort(thing: string, sentence: string): boolean {
  const words = wordsOf(sentence);
  const found = words.flatMap((word, at) => (isSameStem(thing, word) ? [words[at - 1] ?? ''] : []));
  return found.every((before) => contentWords(before).length > 0 && !isVerb(before));
}

/** `How deep may a pond be?`, `When does the return flight leave?` */
const ASKS_OF_THING =
  /^(?:how (?:long|deep|high|tall|wide|big|large|far|old|fast|much|often)|when|where|(?:what|which) colou?r) (?:is|are|was|were|may|can|must|should|does|do|did|will|has|have) (?:the|an?|my|our) ((?:\p{Ll}+ ){0,2}?\p{Ll}+)(?= (?:in|for|at|on|from|to|with|be|take|last|cost|have|start|end|open|close|go|run|leave|arrive|begin|\p{Ll}+ed|\p{Ll}+en)\b|\?|$)/iu;

/** Whether no sentence has the thing that a question asks something of: `How deep may a pond be?` */
function isHeadUnsaid(question: string, said: readonly Said[]): boolean {
  const head = contentWords(ASKS_OF_THING.exec(question.trim())?.[1] ?? '').at(-1);
  if (head === undefined || !isNoun(head) || relativesLike(head).length > 0) return false;
  const words = said.flatMap(wordsAround);
  return !words.some((word) => isOfThing(head, word)) && !isSaid(head, words);
}

/** Least share of the first word of a compound that is used as a noun: `dress code`, not `daily budget`. */
const MIN_NOUN = 0.2;
const PAST_FORM = /(?:ed|wn|pt|ft|ld)$/u;

/** Whether no sentence has the thing that a question asks for by two nouns: `What is the dress code?` */
function isCompoundUnsaid(question: string, said: readonly Said[]): boolean {
  const [, first = '', thing = ''] = ASKS_COMPOUND.exec(question.trim()) ?? [];
  const { noun } = wordSenses().partsOf(wordSenses().row(first));
  if (noun < MIN_NOUN || first.endsWith('ly') || !isNoun(thing) || PAST_FORM.test(thing)) return false;
  const words = said.flatMap(wordsAround);
  if (words.some((word) => isSameStem(first, word))) return false;
  if (words.some((word) => isSameStem(thing, word)))
    return !isSaid(first, words) && said.every((one) => isOfOtherSort(thing, one.text));
  return !isSaid(first, words) || words.every((word) => !isOfThing(thing, word));
}

/** Whether a question about one animal finds sentences of others alone: `a dog named Pablo` for "What is my cat called?" */
function isOfOtherAnimal({ text }: Question, said: readonly Said[]): boolean {
  const asked = wordsOf(text).filter((word) => SPECIES.has(word));
  const [animal] = asked;
  if (animal === undefined || asked.some((word) => SPECIES.get(word) !== SPECIES.get(animal))) return false;
  const words = said.flatMap(wordsAround);
  const isMeant = (word: string) => SPECIES.get(word) === SPECIES.get(animal) || /^(?:pet|animal)s?$/u.test(word);
  if (
    words.some(isMeant) ||
    mostOfKind(
      animal,
      words.filter((word) => !SPECIES.has(word)),
    ) >= MIN_OF_KIND
  )
    return false;
  return wordsOf(said[0]?.text ?? '').some((word) => SPECIES.has(word));
}

const BREED =
  /\ban? \p{Lu}\p{L}+|\b(?:is|was|are|were) an? (?!(?:dog|cat|pet|kitten|puppy)\b)\p{Ll}+ (?:called|named)\b|\b(?:breed|crossbreed|mongrel|pedigree|mix|moggy|tabby)\b|\p{Ll} \p{Lu}\p{Ll}+ (?:dog|cat|horse)\b/u;

const ASKS_OWNED =
  /^(?:do|does|did) (.+?) (?:(?:ever|still|also|already) )?(?:have|own|keep) (?:an? |any )?((?:\p{L}+[ -])?\p{L}+)\??$/iu;
const OWNING =
  /\b(?:have|has|had|having|own(?:s|ed)?|g[eo]ts?|keeps?|kept|bought|sold|adopt\p{L}*|inherit\p{L}*|my|our|his|her|their|with|without|no)\b|['’]s\b/iu;

/** Whether no sentence says that somebody has something: `Dogs are allowed.` for "Do we have a dog?" */
function isOwnerUnsaid({ text }: Question, said: readonly Said[]): boolean {
  const [, , thing = ''] = ASKS_OWNED.exec(text.trim()) ?? [];
  const head = contentWords(thing);
  if (head.length === 0 || head.length > 3) return false;
  return said.every((one) => {
    const at = [...one.text.matchAll(/[\p{L}\p{N}'’-]+/gu)];
    return !at.some(
      (match) =>
        head.some((word) => isOfThing(word, match[0].toLowerCase())) &&
        OWNING.test(one.text.slice(Math.max(0, match.index - OWNING_REACH), match.index)),
    );
  });
}

/** Characters before a thing in which its owner stands. */
const OWNING_REACH = 45;
const ASKS_LIKING = /^(?:do|does|did) .+? (?:like|love|enjoy|hate|dislike|prefer)\b/iu;
const LIKING =
  'like love enjoy hate dislike praise adore impressed delighted disappointed favourite fond complain wonderful terrible boring beautiful happy angry fan'.split(
    ' ',
  );
const OPINION =
  /\b(?:lik(?:e[sd]?|ing)|lov(?:e[sd]?|ing)|enjoy\p{L}*|hat(?:e[sd]?|ing)|dislik\p{L}*|prefer\p{L}*|thought|thinks?|said|says|stand|bear|found|finds|favou?rite|fond|keen|fan|impress\p{L}*|delight\p{L}*|disappoint\p{L}*|complain\p{L}*|refus\p{L}*)\b/iu;

/** Whether no sentence has an opinion. */
function isOpinionUnsaid({ text, type }: Question, said: readonly Said[]): boolean {
  if (type !== 'yes-no' || !ASKS_LIKING.test(text)) return false;
  return said.every(
    (one) => !OPINION.test(one.text) && LIKING.every((word) => mostOfKind(word, contentWords(one.text)) < MIN_OF_KIND),
  );
}
