import { append, smallest } from '../../../kernel/long-lists.ts';
import type {
  ExtractedRelation,
  ExtractedSentence,
  Extraction,
  ExtractionInput,
  KnownName,
} from '../../../ports/extractor.ts';
import { wordInformation } from '../../language/common-words.ts';
import { sentences } from '../../language/sentences.ts';
import { contentStems } from '../../language/tokenize.ts';
import { roleOf, type Turn } from '../../language/turns.ts';
import { tellsOfUser } from '../../language/user-notes.ts';
import { placeTable } from '../../places/place-table.ts';
import type { Fact } from '../structure/fact.ts';
import { readStructure } from '../structure/structure.ts';
import { type Argument, isModifier } from './clause-levels.ts';
import { conceptsOf } from './concepts.ts';
import { nameKey, type PronounMention, resolveNames, resolvePronouns } from './coreference.ts';
import { definitionAfter } from './definitions.ts';
import { collect, conceptDraft, type Draft, isCodeWord, toEntity, typeOf } from './draft.ts';
import { type EntityType, typeOfHeading, vote } from './entity-type.ts';
import { type FirstPerson, isPersonNoun, readActs, readFirstPerson, type SpokenRelation } from './first-person.ts';
import { foreignPronoun, foreignRelations, typesOfEnds } from './foreign.ts';
import { foreignClauses, leavesOutSubject } from './foreign-clauses.ts';
import { DEMONYMS } from './gazetteer.ts';
import { isKnownProduct } from './known-products.ts';
import { type AnalysedSentence, analyseSentences, type Mention } from './mention.ts';
import { namedMembers } from './named-members.ts';
import { type NamePair, pairModel, pairsOf, relationOf } from './pair-model.ts';
import { endOfActor, isBehindPreposition, ofRelativeClauses, ownedBy, relationsOf } from './relations.ts';
import { readReply } from './replies.ts';
import type { SlotModel } from './slot-model.ts';
import { softwareWords, voteForSoftware } from './software-names.ts';
import { conversationOf, isInterjection, isRole, speakersOf } from './speakers.ts';
import type { TaggedWord, Tagger } from './tagger.ts';
import { headOf, resolveTopics, type TopicMention, type TopicSource } from './topics.ts';
import { typeModel } from './type-model.ts';
import { typeByRelations } from './types-by-relation.ts';
import { asFirstPerson } from './user-notes.ts';

/** The trained models; another one in a cross-validation. */
export interface NameModels {
  readonly types: () => SlotModel;
  readonly relations: () => SlotModel;
}

const LEARNED: NameModels = { types: typeModel, relations: pairModel };

/** Entities, relations, sentences and a summary of one chunk, by rules alone. Deterministic. */
export function extractByRules(input: ExtractionInput, tag: Tagger, models: NameModels = LEARNED): Extraction {
  const { prose, facts, writer } = readStructure(input);
  const speaker = writer ?? input.speaker;
  const { analysed, drafts, classes, references } = readChunk(
    { ...input, text: prose, knownNames: [...input.knownNames, ...personsOf(facts)], ...(speaker && { speaker }) },
    tag,
    models,
    softwareWords(input.text),
  );
  const { pronouns, topics, spoken } = references;
  const relations = findRelations(analysed, references, drafts);
  addLearned(drafts, relations, { analysed, references, models });
  addGeography(drafts, relations, analysed);
  addSpoken(drafts, relations, spoken, analysed);
  addActs(drafts, relations, references, analysed);
  addClasses(drafts, classes, relations, analysed);
  addFacts(drafts, relations, facts);
  joinNamedSpeaker(relations, speaker);
  typeByRelations({ get: (name) => drafts.get(nameKey(name)) }, relations);
  addConcepts(drafts, analysed, spoken);
  for (let index = 0; index < analysed.length; index++) {
    for (const { name } of pronouns[index] ?? []) drafts.get(nameKey(name))?.sentences.add(index);
    const topic = topics[index];
    if (topic) drafts.get(nameKey(topic.name))?.sentences.add(index);
  }
  return {
    entities: [...drafts.values()].map(toEntity),
    relations,
    sentences: toSentences(analysed, drafts),
    summary: summaryOf(analysed) || firstLineOf(input.text),
    usage: null,
  };
}

/** Persons that lists and headers name in full: `Marit` of the minutes is `Marit Haugen` of those present. */
function personsOf(facts: readonly Fact[]): KnownName[] {
  const named = facts.flatMap(({ subject, value }) => [subject, value]);
  const full = named.filter(
    ({ name, type }) => type === 'Person' && /^\p{Lu}[\p{L}.'’-]+(?: \p{L}[\p{L}.'’-]*){1,3}$/u.test(name),
  );
  return [...new Map(full.map((one) => [nameKey(one.name), one])).values()];
}

/** The names of a chunk with their types, and what refers to them. */
function readChunk(
  input: ExtractionInput,
  tag: Tagger,
  models: Pick<NameModels, 'types'>,
  software = softwareWords(input.text),
) {
  const { known, analysed, canonical, drafts, classes, topic, turns } = readNames(input, tag);
  const isTechnical = drafts.values().some(({ name }) => isKnownProduct(name));
  for (const draft of drafts.values()) voteForSoftware(draft, software, isTechnical);
  const decide = (key: string, draft: Draft, beside: readonly EntityType[]): void => {
    const evidence = { known: known.get(key), topic, model: models.types(), beside };
    Object.assign(draft, typeOf(draft, classes.get(key) ?? null, evidence));
  };
  for (const [key, draft] of drafts) decide(key, draft, []);
  // Again where the types of the names beside it say more than its own words.
  const first = new Map([...drafts].map(([key, { type }]) => [key, type]));
  for (const [key, draft] of drafts) {
    if (draft.probabilities === null) continue;
    const names = draft.contexts.flatMap(({ neighbours }) => neighbours);
    const beside = names.flatMap((name) => first.get(nameKey(canonical(name))) ?? []);
    if (beside.length > 0) decide(key, draft, beside);
  }

  typeParts(drafts);
  const draftOf = (mention: Mention): Draft | undefined => drafts.get(nameKey(canonical(mention.name)));
  // Who speaks in a conversation is `I` and `you`, and none of whom it speaks as `he` and `she`.
  const speakers = new Set(turns.map(({ speaker }) => nameKey(canonical(speaker))));
  const pronouns = resolvePronouns(analysed, (mention) => {
    const draft = draftOf(mention);
    return draft?.type === 'Person' && !speakers.has(nameKey(draft.name)) ? draft.name : null;
  });
  const topics = resolveTopics(analysed, topicSources(analysed, drafts, classes, draftOf));
  defineByPronouns(analysed, pronouns, drafts, classes);
  const speakerOf = speakersOf({ text: input.text, turns }, analysed, input.speaker);
  const named = (one: Mention): Draft | null => draftOf(one) ?? null;
  const spoken = analysed.map((sentence, index): FirstPerson => {
    const speaker = speakerOf(index);
    if (speaker === null) return SILENT;
    const name = canonical(speaker);
    const first = readFirstPerson(sentence, name, named);
    const before = analysed[index - 1]?.sentence.text ?? '';
    const isReply = turns.length > 0 && index > 0 && speakerOf(index - 1) !== speaker;
    const replied = isReply ? readReply(before, sentence, name, named) : [];
    const more = [...ownClauses(sentence, name, draftOf), ...replied];
    if (more.length === 0) return first;
    const told = new Set(more.map(({ target }) => target));
    const kept = first.relations.filter(({ relation, target }) => relation !== 'has' || !told.has(target));
    return { ...first, relations: [...kept, ...more] };
  });
  return {
    analysed,
    drafts,
    classes,
    canonical,
    references: { pronouns, topics, spoken, draftOf } satisfies References,
  };
}

/** The names of a sentence with their types. */
function partsOf({ mentions }: AnalysedSentence, draftOf: References['draftOf']): Argument[] {
  return mentions.flatMap((mention) => {
    const draft = mention.isNested || mention.kind === 'quantity' ? undefined : draftOf(mention);
    return draft === undefined ? [] : [{ name: draft.name, type: draft.type, start: mention.start, end: mention.end }];
  });
}

/** What the speaker says of itself in another language, and whom it counts: `I have two sons, Ben and Max`. */
function ownClauses(sentence: AnalysedSentence, speaker: string, draftOf: References['draftOf']): SpokenRelation[] {
  const { text } = sentence.sentence;
  if (/\?["”'’)]*$/u.test(text)) return [];
  const parts = partsOf(sentence, draftOf);
  const stated =
    sentence.language === null
      ? namedMembers(text, parts, speaker)
      : foreignClauses(text, parts, { speaker, subject: null });
  return stated.filter(({ source }) => source === speaker).map((one) => ({ ...one, type: null }));
}

/** A lone word of which little is known is a person when the text has persons of that surname: two named Puskás. */
function typeParts(drafts: ReadonlyMap<string, Draft>): void {
  const surnames = new Set<string>();
  for (const { type, name } of drafts.values())
    if (type === 'Person' && name.includes(' ')) surnames.add(name.slice(name.lastIndexOf(' ') + 1));
  for (const draft of drafts.values()) {
    const isOpen = draft.type === 'Concept' || draft.type === 'Organisation';
    if (isOpen && draft.form === null && !draft.isKeyword && draft.kind === 'name' && surnames.has(draft.name))
      draft.type = 'Person';
  }
}

/** The pairs of names that the model of relations reads, with other spellings of a name, for its training. */
export function readPairs(
  input: ExtractionInput,
  tag: Tagger,
  models: Pick<NameModels, 'types'>,
): (NamePair & { spellings(name: string): Iterable<string> | undefined })[] {
  const { analysed, drafts, references } = readChunk(input, tag, models);
  const spellings = (name: string) => drafts.get(nameKey(name))?.aliases;
  return analysed.flatMap((sentence, index) =>
    pairsIn(sentence, index, analysed, references).map((pair) => ({ ...pair, spellings })),
  );
}

function pairsIn(
  { sentence, words, mentions, language }: AnalysedSentence,
  index: number,
  analysed: readonly AnalysedSentence[],
  { pronouns, topics, draftOf }: References,
): NamePair[] {
  if (language !== null) return [];
  const parts: Argument[] = mentions
    .filter(({ isNested, kind }) => !isNested && kind !== 'quantity' && kind !== 'identifier')
    .flatMap((mention) => {
      const draft = draftOf(mention);
      const isWord = draft?.isKeyword === true && draft.type === 'Concept' && !DEMONYMS.has(mention.name.toLowerCase());
      if (draft === undefined || isWord) return [];
      return [{ name: draft.name, type: draft.type, start: mention.start, end: mention.end }];
    })
    .filter((part) => DEMONYMS.has(part.name.toLowerCase()) || !isModifier(sentence.text, words, part));
  const topic = topics[index];
  if (topic) parts.push({ ...topic, type: 'Concept' });
  for (const { name, start, end } of pronouns[index] ?? []) parts.push({ name, type: 'Person', start, end });
  parts.sort((left, right) => left.start - right.start);
  const [opening] = analysed[0]?.mentions ?? [];
  const subject = opening === undefined ? null : (draftOf(opening)?.name ?? null);
  return words.length === 0 ? [] : pairsOf(words, parts, subject);
}

const OWNED_PERSON = /^(?:[Hh]is|[Hh]er) (?:\p{Ll}+ ){0,2}(\p{Ll}+) \p{Lu}/u;

/** `Her husband Thierry teaches at` tells of Thierry, and not of her. */
function isOwnerOfPerson(text: string, { start }: Argument): boolean {
  const noun = OWNED_PERSON.exec(text.slice(start, start + 60))?.[1];
  return noun !== undefined && isPersonNoun(noun);
}

/** Adds what the model reads between names that no rule has related. */
function addLearned(
  drafts: ReadonlyMap<string, Draft>,
  relations: ExtractedRelation[],
  {
    analysed,
    references,
    models,
  }: {
    readonly analysed: readonly AnalysedSentence[];
    readonly references: References;
    readonly models: NameModels;
  },
): void {
  const pairKey = (one: string, other: string): string => [one, other].toSorted().join('\n');
  const related = new Set(relations.map(({ source, target }) => pairKey(source, target)));
  for (const [index, sentence] of analysed.entries()) {
    const { text } = sentence.sentence;
    for (const pair of pairsIn(sentence, index, analysed, references)) {
      const key = pairKey(pair.left.name, pair.right.name);
      if (related.has(key) || isOwnerOfPerson(text, pair.left)) continue;
      const relation = relationOf(pair, text, models.relations());
      if (relation === null) continue;
      related.add(key);
      relations.push({ ...relation, evidence: text });
      const nation = relation.relation === 'nationality' ? drafts.get(nameKey(relation.target)) : undefined;
      if (nation !== undefined) nation.type = 'Place';
    }
  }
}

/** Adds which places of the text lie in which, where the text leaves it to the reader: `Chicago`, `the United States`. */
function addGeography(
  drafts: ReadonlyMap<string, Draft>,
  relations: ExtractedRelation[],
  analysed: readonly AnalysedSentence[],
): void {
  const table = placeTable();
  const places = [...drafts.values()].filter(
    ({ type, name, isKeyword }) => type === 'Place' && !isKeyword && table.levels(name).length > 0,
  );
  if (places.length < 2) return;
  const related = new Set(relations.map(({ source, target }) => `${source}\n${target}`));
  for (const one of places) {
    for (const other of places) {
      if (one === other || !table.liesIn(one.name, other.name)) continue;
      if (related.has(`${one.name}\n${other.name}`) || related.has(`${other.name}\n${one.name}`)) continue;
      const shared = [...one.sentences].find((index) => other.sentences.has(index)) ?? smallest(one.sentences);
      const evidence = analysed[shared]?.sentence.text ?? '';
      relations.push({ source: one.name, relation: 'located_in', target: other.name, evidence });
    }
  }
}

interface ReadNames {
  readonly analysed: readonly AnalysedSentence[];
  readonly known: ReadonlyMap<string, KnownName>;
  /** The fullest spelling of a name. */
  readonly canonical: (name: string) => string;
  /** By `nameKey`; their types are not decided. */
  readonly drafts: Map<string, Draft>;
  /** Class of a defined name, by `nameKey`. */
  readonly classes: Map<string, string>;
  /** The first nouns of the text. */
  readonly topic: readonly string[];
  /** Turns of a conversation. */
  readonly turns: readonly Turn[];
}

/** Who speaks in a conversation is a person. */
const VOTES_FOR_SPEAKER = 4;
/** A heading over a list may be meant more loosely than a definition. */
const VOTES_OF_HEADING = 3;
/** A name that begins an item of a list, up to its end or to what explains it. */
const HEADED_NAME =
  /^[\s*+•\d.)-]*(\p{Lu}[\p{L}\p{N}.+'’-]*(?: [\p{Lu}\p{N}][\p{L}\p{N}.+'’-]*){0,3})(?=\s*(?:$|[,(:–—]|- ))/u;

/** Names of lists whose heading tells what they are: `Tools`, `People`, `Places to see`. */
function headedNames({ text, parts = [], headings }: ExtractionInput): ReadonlyMap<string, EntityType> {
  const found = new Map<string, EntityType>();
  for (const part of parts) {
    if (part.kind !== 'list-item') continue;
    const type = typeOfHeading((part.headings ?? headings).at(-1) ?? '');
    for (const line of type === null ? [] : text.slice(part.start, part.end).split('\n')) {
      const name = HEADED_NAME.exec(line)?.[1];
      if (name !== undefined && type !== null) found.set(name, type);
    }
  }
  return found;
}

/** Enough to tell what a text is about. */
const MAX_TOPIC_WORDS = 40;

/** The names of a chunk, each with the mentions that belong to it. */
export function readNames(input: ExtractionInput, tag: Tagger): ReadNames {
  const known = new Map(input.knownNames.map((entry) => [nameKey(entry.name), entry]));
  const turns = conversationOf(input.text);
  const speakers = new Set(turns.map(({ speaker }) => speaker).filter((speaker) => roleOf(speaker) === null));
  const headed = headedNames(input);
  const certain = new Set(
    [...input.knownNames.map(({ name }) => name), ...speakers, ...headed.keys()].map((name) => name.toLowerCase()),
  );
  const read = analyseSentences(sentences(input.text), tag, certain);
  const analysed = turns.length === 0 && tellsOfUser(input.text) ? asFirstPerson(read, tag) : read;
  const resolver = resolveNames(
    analysed.flatMap(({ mentions }) => mentions),
    input.knownNames,
  );
  const canonical = (name: string): string => resolver.canonical(name);
  const drafts = new Map<string, Draft>();
  const classes = new Map<string, string>();
  for (const [index, sentence] of analysed.entries()) {
    for (const mention of sentence.mentions)
      if (!isRole(mention, sentence) && !(turns.length > 0 && isInterjection(mention, certain)))
        collect({ byKey: drafts, classes }, { mention, name: canonical(mention.name), index, sentence });
  }
  for (const speaker of speakers) {
    const draft = drafts.get(nameKey(canonical(speaker)));
    if (draft === undefined) continue;
    vote(draft.votes, 'Person', VOTES_FOR_SPEAKER);
    draft.isKeyword = false;
  }
  for (const [name, type] of headed) {
    const draft = drafts.get(nameKey(canonical(name)));
    if (draft === undefined) continue;
    vote(draft.votes, type, VOTES_OF_HEADING);
    draft.isKeyword = false;
  }
  const nouns = analysed.values().flatMap(({ words }) => words.values().filter(({ pos }) => pos === 'NOUN'));
  const topic = [...nouns.take(MAX_TOPIC_WORDS).map(({ text }) => text.toLowerCase())];
  return { analysed, known, canonical, drafts, classes, topic, turns };
}

/** Candidates that later `It` and `The band` may refer to. */
function topicSources(
  analysed: readonly AnalysedSentence[],
  drafts: ReadonlyMap<string, Draft>,
  classes: ReadonlyMap<string, string>,
  draftOf: (mention: Mention) => Draft | undefined,
): TopicSource[] {
  const starts = new Map<Draft, Map<number, number>>();
  for (const [index, { mentions }] of analysed.entries()) {
    for (const mention of mentions) {
      const draft = draftOf(mention);
      if (draft === undefined || mention.kind === 'date' || mention.kind === 'quantity') continue;
      const own = starts.get(draft) ?? new Map<number, number>();
      if (!own.has(index)) own.set(index, mention.start);
      starts.set(draft, own);
    }
  }
  return [...drafts].flatMap(([key, draft]) => {
    const own = starts.get(draft);
    const head = headOf({ className: classes.get(key) ?? null });
    return own === undefined ? [] : [{ name: draft.name, type: draft.type, starts: own, head }];
  });
}

function addFacts(drafts: Map<string, Draft>, relations: ExtractedRelation[], facts: readonly Fact[]): void {
  for (const { subject, relation, value, evidence } of facts) {
    for (const { name, type } of [subject, value]) {
      const draft = conceptDraft(drafts, name, []);
      draft.mentions += 1;
      draft.isKeyword = false;
      draft.isPhrase = false;
      if (draft.type === 'Concept') Object.assign(draft, { type, certainty: type === 'Concept' ? null : 1 });
    }
    relations.push({ source: subject.name, relation, target: value.name, evidence });
  }
}

const SILENT: FirstPerson = { arguments: [], relations: [] };

/** Adds what speakers say of themselves, where the words between names do not say it already. */
function addSpoken(
  drafts: Map<string, Draft>,
  relations: ExtractedRelation[],
  spoken: readonly FirstPerson[],
  analysed: readonly AnalysedSentence[],
): void {
  const stated = new Set(relations.map(({ source, relation, target }) => `${source}\n${relation}\n${target}`));
  const enter = (name: string, type: EntityType | null, index: number): void => {
    const draft = conceptDraft(drafts, name, [index]);
    draft.isKeyword = false;
    // `my sourdough starter Clint Yeastwood`
    if (type === 'Concept' && draft.type === 'Person' && (draft.votes.get('Person') ?? 0) < 1) draft.type = type;
    if (type !== 'Person') return;
    draft.type = type;
    draft.isPhrase = false;
  };
  for (const [index, { arguments: persons, relations: own }] of spoken.entries()) {
    for (const { name } of persons) enter(name, 'Person', index);
    for (const { source, relation, target, type } of own) {
      enter(source, 'Person', index);
      if (type !== null) enter(target, type, index);
      const key = `${source}\n${relation}\n${target}`;
      if (stated.has(key)) continue;
      stated.add(key);
      relations.push({ source, relation, target, evidence: analysed[index]?.sentence.text ?? '' });
    }
  }
}

/** What is said of somebody by name is said of the speaker, where the text tells that this is the speaker's name. */
function joinNamedSpeaker(relations: ExtractedRelation[], speaker: string | undefined): void {
  const names = new Set(
    relations.flatMap(({ source, relation, target }) => (source === speaker && relation === 'name' ? [target] : [])),
  );
  if (speaker === undefined || names.size !== 1) return;
  const stated = new Set<string>();
  const joined = relations.flatMap((one): ExtractedRelation[] => {
    const isName = one.source === speaker && one.relation === 'name';
    const source = names.has(one.source) ? speaker : one.source;
    const target = names.has(one.target) && !isName ? speaker : one.target;
    const key = `${source}\n${one.relation}\n${target}`;
    if (source === target || stated.has(key)) return [];
    stated.add(key);
    return [{ ...one, source, target }];
  });
  relations.splice(0, relations.length, ...joined);
}

/** More in one chunk are a tale rather than facts. */
const MAX_ACTS = 8;

/** Adds what named persons and companies do, when the object has no name. */
function addActs(
  drafts: Map<string, Draft>,
  relations: ExtractedRelation[],
  { pronouns, draftOf }: References,
  analysed: readonly AnalysedSentence[],
): void {
  const acts = analysed.flatMap((one, index): (SpokenRelation & { readonly index: number })[] => {
    const { sentence, words, mentions, language } = one;
    if (language !== null || /\?["”'’)]*$/u.test(sentence.text)) return [];
    const named = mentions.flatMap((mention): Argument[] => {
      const draft = mention.isNested ? undefined : draftOf(mention);
      return draft !== undefined && /^(?:Person|Organisation)$/u.test(draft.type)
        ? [{ ...mention, name: draft.name, type: draft.type }]
        : [];
    });
    const spoken = (pronouns[index] ?? []).filter(({ isPossessive }) => !isPossessive);
    const actors = [...named, ...spoken.map((pronoun) => ({ ...pronoun, type: 'Person' }))];
    const acting = actors.flatMap((actor) => {
      const end = endOfActor(words, actor) ?? endOfTwo(sentence.text, words, actor, actors);
      return end === null ? [] : [{ ...actor, end }];
    });
    return readActs(one, acting, (mention) => draftOf(mention) ?? null).map((act) => ({ ...act, index }));
  });
  for (const { source, relation, target, index } of acts.slice(0, MAX_ACTS)) {
    const draft = conceptDraft(drafts, target, [index]);
    draft.isKeyword = false;
    relations.push({ source, relation, target: draft.name, evidence: analysed[index]?.sentence.text ?? '' });
  }
}

/** In `Anna and Tom bought a house` Anna does what Tom does; null for any other name. */
function endOfTwo(
  text: string,
  words: readonly TaggedWord[],
  actor: Argument,
  actors: readonly Argument[],
): number | null {
  const other = actors.find(({ start }) => start > actor.end);
  if (other === undefined || !/^ (?:and|&) $/u.test(text.slice(actor.end, other.start))) return null;
  const before = words.findLast(({ end }) => end <= actor.start);
  const isObject = before?.pos === 'VERB' || before?.pos === 'ADP' || isBehindPreposition(words, actor);
  return isObject ? null : endOfActor(words, other);
}

/** `She was a physicist` defines whom `she` stands for. */
function defineByPronouns(
  analysed: readonly AnalysedSentence[],
  pronouns: readonly PronounMention[][],
  drafts: ReadonlyMap<string, Draft>,
  classes: Map<string, string>,
): void {
  for (const [index, found] of pronouns.entries()) {
    const [first] = found;
    const source = analysed[index];
    if (first === undefined || source === undefined || first.start > 0 || first.isPossessive) continue;
    const key = nameKey(first.name);
    const draft = drafts.get(key);
    const definition = definitionAfter(source.sentence.text, source.words, first.end);
    if (draft === undefined || definition === null || draft.description !== '') continue;
    draft.description = definition.description;
    if (definition.className !== null && !classes.has(key)) classes.set(key, definition.className);
  }
}

interface References {
  readonly pronouns: readonly PronounMention[][];
  readonly topics: readonly (TopicMention | null)[];
  readonly spoken: readonly FirstPerson[];
  readonly draftOf: (mention: Mention) => Draft | undefined;
}

function findRelations(
  analysed: readonly AnalysedSentence[],
  references: References,
  drafts: ReadonlyMap<string, Draft>,
): ExtractedRelation[] {
  const { pronouns, topics, spoken, draftOf } = references;
  const found = new Map<string, ExtractedRelation>();
  for (const [index, { sentence, words, mentions, language }] of analysed.entries()) {
    const parts: Argument[] = mentions
      .filter(
        (mention) =>
          !mention.isNested &&
          mention.kind !== 'quantity' &&
          !isAddress(mention) &&
          !isCodeWord(mention) &&
          !DEMONYMS.has(mention.name.toLowerCase()),
      )
      .flatMap((mention) => {
        const draft = draftOf(mention);
        if (draft === undefined) return [];
        return [{ name: draft.name, type: draft.type, start: mention.start, end: mention.end }];
      });
    const topic = topics[index];
    // `It was Moby Dick` refers to him and does not define him.
    const isCleft = topic?.end === 2 && /^It (?:is|was) \p{Lu}/u.test(sentence.text);
    if (topic && !isCleft) parts.push({ ...topic, type: 'Concept' });
    for (const pronoun of pronouns[index] ?? []) {
      const isReflexive = /self$/iu.test(sentence.text.slice(pronoun.start, pronoun.end));
      if (!pronoun.isPossessive && !isReflexive)
        parts.push({ name: pronoun.name, type: 'Person', start: pronoun.start, end: pronoun.end });
    }
    append(parts, spoken[index]?.arguments ?? []);
    if (language !== null) append(parts, foreignSubject(analysed, index, draftOf));
    parts.sort((left, right) => left.start - right.start);
    const isItsOwner = topic !== null && topic !== undefined && /^Its /u.test(sentence.text);
    const owners = [...(pronouns[index] ?? []), ...(isItsOwner ? [{ ...topic, isPossessive: true }] : [])];
    for (const relation of [...ownedBy(owners, words, parts), ...ofRelativeClauses(words, parts)]) {
      typeOwned(relation, drafts);
      found.set(`${relation.source}\n${relation.relation}\n${relation.target}`, {
        ...relation,
        evidence: sentence.text,
      });
    }
    // A question states nothing.
    if (parts.length === 0 || /\?["”'’)]*$/u.test(sentence.text)) continue;
    const stated =
      language === null
        ? [...relationsOf(sentence.text, words, parts), ...namedMembers(sentence.text, parts, null)]
        : [
            ...foreignRelations(sentence.text, parts),
            ...foreignClauses(sentence.text, parts, { speaker: null, subject: leftOut(analysed, index, draftOf) }),
          ];
    for (const relation of stated) {
      if (language !== null) typeEnds(relation, drafts);
      const key = `${relation.source}\n${relation.relation}\n${relation.target}`;
      if (!found.has(key)) found.set(key, { ...relation, evidence: sentence.text });
    }
  }
  return [...found.values()];
}

/** Whom `Sie kommt`, `Elle a fondé` and `Ella vive` mean: the only person of the sentence before, or the first of those. */
function foreignSubject(
  analysed: readonly AnalysedSentence[],
  index: number,
  draftOf: References['draftOf'],
): Argument[] {
  const pronoun = foreignPronoun(analysed[index]?.sentence.text ?? '');
  if (pronoun === null) return [];
  for (let back = index - 1; back >= Math.max(0, index - MAX_PRONOUNS_BACK); back--) {
    const before = analysed[back] as AnalysedSentence;
    const person = before.mentions.map(draftOf).find((draft) => draft?.type === 'Person');
    if (person !== undefined) return [{ ...pronoun, name: person.name, type: 'Person' }];
    if (foreignPronoun(before.sentence.text) === null) return [];
  }
  return [];
}

/** Whom a sentence without a subject is about: the first person of the one before. */
function leftOut(analysed: readonly AnalysedSentence[], index: number, draftOf: References['draftOf']): string | null {
  const before = analysed[index - 1];
  if (before === undefined || !leavesOutSubject(analysed[index]?.sentence.text ?? '')) return null;
  return partsOf(before, draftOf).find(({ type }) => type === 'Person')?.name ?? null;
}

/** Sentences in a row that begin with a pronoun. */
const MAX_PRONOUNS_BACK = 4;

/** The words around names of other languages tell the model nothing, a relation does. */
function typeEnds(
  { source, relation, target }: Omit<ExtractedRelation, 'evidence'>,
  drafts: ReadonlyMap<string, Draft>,
): void {
  const types = typesOfEnds(relation);
  for (const [name, type] of [
    [source, types.source],
    [target, types.target],
  ] as const) {
    const draft = drafts.get(nameKey(name));
    if (type !== null && draft?.form === null && draft.kind === 'name') draft.type = type;
  }
}

/** `his partner Isla` is a person, whatever the name looks like. */
function typeOwned(
  { relation, target }: Omit<ExtractedRelation, 'evidence'>,
  drafts: ReadonlyMap<string, Draft>,
): void {
  const draft = drafts.get(nameKey(target));
  if (draft?.form === null && draft.kind === 'name' && isPersonNoun(relation)) draft.type = 'Person';
}

/** Whether it is the address of a mail or page: nobody who acts. */
function isAddress({ name, kind }: Mention): boolean {
  return kind === 'identifier' && /@|:\/\//u.test(name);
}

function addClasses(
  drafts: Map<string, Draft>,
  classes: ReadonlyMap<string, string>,
  relations: ExtractedRelation[],
  analysed: readonly AnalysedSentence[],
): void {
  for (const [key, className] of classes) {
    const draft = drafts.get(key);
    if (draft === undefined || draft.type === 'Date') continue;
    const index = [...draft.sentences][0] ?? 0;
    const target = conceptDraft(drafts, className, [index]);
    target.isKeyword = false;
    const evidence = analysed.find(({ sentence }) => sentence.text.includes(draft.description.replace(/…$/u, '')));
    const text = (evidence ?? analysed[index])?.sentence.text ?? '';
    relations.push({ source: draft.name, target: target.name, relation: 'is_a', evidence: text });
  }
}

/** Sentences in the first person, of all. */
const MIN_SPOKEN_SHARE = 0.25;
const FIRST_PERSON = /\b(?:I|[Ww]e|[Mm]e|us|[Mm]y|[Oo]ur)\b/u;

function addConcepts(
  drafts: Map<string, Draft>,
  analysed: readonly AnalysedSentence[],
  spoken: readonly FirstPerson[],
): void {
  // A text about its speaker is not about the nouns in it, and where it says nothing of him, about its terms at most.
  const isAboutSpeaker = spoken.some(({ relations }) => relations.length > 0);
  const inFirstPerson = analysed.filter(
    ({ sentence }, index) => spoken[index] !== SILENT && FIRST_PERSON.test(sentence.text),
  ).length;
  const isSpoken = inFirstPerson > MIN_SPOKEN_SHARE * analysed.length;
  const names = [...drafts.values()].filter((draft) => draft.type !== 'Date' && draft.type !== 'Quantity');
  for (const { name, sentences: where, isTopic } of conceptsOf(analysed, names.length)) {
    const isNew = !drafts.has(nameKey(name));
    const draft = conceptDraft(drafts, name, where);
    if (isNew) draft.isKeyword = !isTopic || isAboutSpeaker || (isSpoken && !name.includes(' '));
  }
}

function toSentences(analysed: readonly AnalysedSentence[], drafts: ReadonlyMap<string, Draft>): ExtractedSentence[] {
  const entities = analysed.map((): string[] => []);
  for (const draft of drafts.values()) for (const index of draft.sentences) entities[index]?.push(draft.name);
  return analysed.map(({ sentence }, index) => ({
    text: sentence.text,
    start: sentence.start,
    entities: entities[index] ?? [],
  }));
}

/** Stands for the summary of a text without prose. */
function firstLineOf(text: string): string {
  const start = text.slice(0, 10 * MAX_SENTENCE_LENGTH).replaceAll(/^[ \t]*(?:[#>*|-]+|`{3,}\w*)[ \t]*/gmu, '');
  return shorten(start.replaceAll(/\s+/gu, ' ').trim());
}

const MAX_SENTENCE_LENGTH = 400;

/** Shorter sentences are quoted whole; there is nothing to leave out. */
const MIN_LENGTH_TO_TRIM = 100;
const ASIDE = /\s*(?:\([^()]*\)|\[[^[\]]*\])/gu;

/**
 * One to three sentences, verbatim and in order: those whose words are most central to the text, with a bonus for the
 * opening and for sentences that name things. Without a model, words of the author beat words of ours. Long sentences
 * lose what they say in parentheses. A text of one short sentence is its own summary: it has no shorter one.
 */
function summaryOf(sentences: readonly AnalysedSentence[]): string {
  const candidates = sentences.filter(({ sentence }) => /\p{L}/u.test(sentence.text));
  const wanted = candidates.length <= 3 ? 1 : candidates.length <= 9 ? 2 : 3;
  const stems = candidates.map(({ sentence }) => contentStems(sentence.text));
  const counts = new Map<string, number>();
  for (const list of stems) for (const stem of new Set(list)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const scores = candidates.map(({ mentions }, index) => {
    const distinct = [...new Set(stems[index])];
    const centrality = distinct.reduce((sum, stem) => sum + wordInformation(stem) * ((counts.get(stem) ?? 1) - 0.5), 0);
    const position = index === 0 ? 1.5 : 1;
    return (position * (1 + Math.min(mentions.length, 4) * 0.1) * centrality) / (8 + distinct.length);
  });
  return candidates
    .map(({ sentence }, index) => ({ text: sentence.text, index, score: scores[index] ?? 0 }))
    .sort((left, right) => right.score - left.score || left.index - right.index)
    .slice(0, wanted)
    .sort((left, right) => left.index - right.index)
    .map(({ text }) => shorten(withoutAsides(text.replace(/\s+/gu, ' '))))
    .join(' ');
}

function withoutAsides(text: string): string {
  if (text.length < MIN_LENGTH_TO_TRIM) return text;
  const bare = text.replace(ASIDE, '').trim();
  return /\p{L}/u.test(bare) ? bare : text;
}

function shorten(text: string): string {
  if (text.length <= MAX_SENTENCE_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(' ', MAX_SENTENCE_LENGTH) || MAX_SENTENCE_LENGTH)}…`;
}
