import { sentences } from '../../language/sentences.ts';
import type {
  ExtractedEntity,
  ExtractedRelation,
  ExtractedSentence,
  Extraction,
  ExtractionInput,
} from '../../ports/extractor.ts';
import { conceptsOf } from './concepts.ts';
import { nameKey, type PronounMention, resolveNames, resolvePronouns } from './coreference.ts';
import { definitionAfter } from './definitions.ts';
import { type EntityType, type TypeVotes, typeByForm, typeByGuess, vote, winner } from './entity-type.ts';
import { DEMONYMS } from './gazetteer.ts';
import { type AnalysedSentence, analyseSentences, type Mention } from './mention.ts';
import { type Argument, relationsOf } from './relations.ts';
import { summaryOf } from './summary.ts';
import type { TaggedWord, Tagger } from './tagger.ts';
import { headOf, resolveTopics, type TopicMention, type TopicSource } from './topics.ts';
import { PERSON_VERBS, TYPE_NOUNS } from './type-words.ts';

interface Draft {
  readonly name: string;
  readonly aliases: Set<string>;
  readonly votes: TypeVotes;
  /** What the words of the name say; beats the context. */
  readonly form: EntityType | null;
  type: EntityType;
  description: string;
  mentions: number;
  readonly sentences: Set<number>;
}

/** Entities, relations, sentences and a summary of one chunk, by rules alone. Deterministic. */
export function extractByRules(input: ExtractionInput, tag: Tagger): Extraction {
  const known = new Map(input.knownNames.map((entry) => [nameKey(entry.name), entry]));
  const certain = new Set(input.knownNames.map((entry) => entry.name.toLowerCase()));
  const analysed = analyseSentences(sentences(input.text), tag, certain);
  const resolver = resolveNames(
    analysed.flatMap(({ mentions }) => mentions),
    input.knownNames,
  );
  const canonical = (mention: Mention): string => resolver.canonical(mention.name);

  const drafts = new Map<string, Draft>();
  const classes = new Map<string, string>();
  for (const [index, sentence] of analysed.entries()) {
    for (const mention of sentence.mentions)
      collect(drafts, classes, { mention, name: canonical(mention), index, sentence });
  }
  for (const draft of drafts.values()) draft.type = typeOf(draft, known.get(nameKey(draft.name))?.type);

  const draftOf = (mention: Mention): Draft | undefined => drafts.get(nameKey(canonical(mention)));
  const pronouns = resolvePronouns(analysed, (mention) => {
    const draft = draftOf(mention);
    return draft?.type === 'Person' ? draft.name : null;
  });
  const topics = resolveTopics(analysed, topicSources(analysed, drafts, classes, draftOf));
  defineByPronouns(analysed, pronouns, drafts, classes);
  const relations = findRelations(analysed, { pronouns, topics, draftOf });
  addClasses(drafts, classes, relations, analysed);
  addConcepts(drafts, analysed);
  for (let index = 0; index < analysed.length; index++) {
    for (const { name } of pronouns[index] ?? []) drafts.get(nameKey(name))?.sentences.add(index);
    const topic = topics[index];
    if (topic) drafts.get(nameKey(topic.name))?.sentences.add(index);
  }
  return {
    entities: [...drafts.values()].map(toEntity),
    relations,
    sentences: toSentences(analysed, drafts),
    summary: summaryOf(analysed),
    usage: null,
  };
}

interface Occurrence {
  readonly mention: Mention;
  readonly name: string;
  readonly index: number;
  readonly sentence: AnalysedSentence;
}

function collect(drafts: Map<string, Draft>, classes: Map<string, string>, occurrence: Occurrence): void {
  const { mention, name, index, sentence } = occurrence;
  const key = nameKey(name);
  if (key === '') return;
  const draft = drafts.get(key) ?? newDraft(name, mention);
  drafts.set(key, draft);
  draft.mentions++;
  draft.sentences.add(index);
  for (const spelling of [mention.surface, mention.name]) if (spelling !== draft.name) draft.aliases.add(spelling);
  if (mention.kind === 'date' || mention.kind === 'quantity') return;
  if (mention.title !== null) vote(draft.votes, 'Person', 3);
  voteByContext(draft.votes, sentence, mention);
  if (mention.isNested || draft.description !== '') return;
  const definition = definitionAfter(sentence.sentence.text, sentence.words, mention.end);
  if (definition === null) return;
  draft.description = definition.description;
  if (definition.type !== null) vote(draft.votes, definition.type, 3);
  if (definition.className !== null && !classes.has(key)) classes.set(key, definition.className);
}

function newDraft(name: string, mention: Mention): Draft {
  const form = mention.kind === 'date' ? 'Date' : typeByForm(name, mention.kind);
  const type = form ?? 'Concept';
  return {
    name,
    aliases: new Set(),
    votes: new Map(),
    form,
    type,
    description: '',
    mentions: 0,
    sentences: new Set(),
  };
}

function typeOf(draft: Draft, knownType: string | undefined): EntityType {
  if (draft.form !== null) return draft.form;
  return winner(draft.votes) ?? (knownType as EntityType | undefined) ?? typeByGuess(draft.name);
}

/** `in Nantucket` is a place, `Ahab said` and `Ahab's wife` a person, `the novel Typee` a work. */
function voteByContext(votes: TypeVotes, { words }: AnalysedSentence, mention: Mention): void {
  const before = words.findLast((word) => word.end <= mention.start && word.pos !== 'SPACE');
  const after = words.find((word) => word.start >= mention.end && word.pos !== 'SPACE' && !/^['’]s?$/u.test(word.text));
  if (before !== undefined) {
    if (/^(?:in|near|into|toward|towards|off)$/iu.test(before.text)) vote(votes, 'Place', 1);
    if (/^(?:at|from|to)$/iu.test(before.text)) vote(votes, 'Place', 0.4);
    const type = TYPE_NOUNS[before.lemma.toLowerCase()] as EntityType | undefined;
    if (type !== undefined && before.pos === 'NOUN') vote(votes, type, 2);
    if (/^(?:with|and)$/iu.test(before.text) && mention.title !== null) vote(votes, 'Person', 1);
  }
  if (after === undefined) return;
  // Without an article, what owns or acts is a person more often than anything else.
  if (before?.pos !== 'DET' && mention.kind === 'name') voteForActor(votes, words, mention, after);
  const type = TYPE_NOUNS[after.lemma.toLowerCase()] as EntityType | undefined;
  const isPassive = words[words.indexOf(after) + 1]?.text === 'by';
  if (PERSON_VERBS.has(after.lemma.toLowerCase()) && after.pos === 'VERB' && !isPassive) vote(votes, 'Person', 2);
  if (type !== undefined && type !== 'Person' && after.pos === 'NOUN' && after.start - mention.end < 2)
    vote(votes, type, 1);
}

/** What could stand behind `It` and `The band` further on. */
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
  readonly draftOf: (mention: Mention) => Draft | undefined;
}

function voteForActor(votes: TypeVotes, words: readonly TaggedWord[], mention: Mention, after: TaggedWord): void {
  const next = words.find((word) => word.start >= mention.end);
  const isOwner = next !== undefined && /^['’]s?$/u.test(next.text);
  const isSubject = after === next && after.pos === 'VERB' && words[words.indexOf(after) + 1]?.text !== 'by';
  if (isOwner || isSubject) vote(votes, 'Person', 0.5);
}

function findRelations(analysed: readonly AnalysedSentence[], references: References): ExtractedRelation[] {
  const { pronouns, topics, draftOf } = references;
  const found = new Map<string, ExtractedRelation>();
  for (const [index, { sentence, words, mentions }] of analysed.entries()) {
    const parts: Argument[] = mentions
      .filter(
        (mention) => !mention.isNested && mention.kind !== 'quantity' && !DEMONYMS.has(mention.name.toLowerCase()),
      )
      .flatMap((mention) => {
        const draft = draftOf(mention);
        if (draft === undefined) return [];
        return [{ name: draft.name, type: draft.type, start: mention.start, end: mention.end }];
      });
    const topic = topics[index];
    if (topic) parts.push({ ...topic, type: 'Concept' });
    for (const pronoun of pronouns[index] ?? []) {
      if (!pronoun.isPossessive)
        parts.push({ name: pronoun.name, type: 'Person', start: pronoun.start, end: pronoun.end });
    }
    parts.sort((left, right) => left.start - right.start);
    if (parts.length < 2) continue;
    for (const relation of relationsOf(sentence.text, words, parts)) {
      const key = `${relation.source}\n${relation.relation}\n${relation.target}`;
      if (!found.has(key)) found.set(key, { ...relation, evidence: sentence.text });
    }
  }
  return [...found.values()];
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
    const target = concept(drafts, className, [index]);
    const evidence = analysed.find(({ sentence }) => sentence.text.includes(draft.description.replace(/…$/u, '')));
    const text = (evidence ?? analysed[index])?.sentence.text ?? '';
    relations.push({ source: draft.name, target: target.name, relation: 'is_a', evidence: text });
  }
}

function addConcepts(drafts: Map<string, Draft>, analysed: readonly AnalysedSentence[]): void {
  const names = [...drafts.values()].filter((draft) => draft.type !== 'Date' && draft.type !== 'Quantity');
  for (const { name, sentences: where } of conceptsOf(analysed, names.length)) concept(drafts, name, where);
}

function concept(drafts: Map<string, Draft>, name: string, where: readonly number[]): Draft {
  const key = nameKey(name);
  const draft: Draft = drafts.get(key) ?? {
    name,
    aliases: new Set(),
    votes: new Map(),
    form: 'Concept',
    type: 'Concept',
    description: '',
    mentions: 0,
    sentences: new Set(),
  };
  drafts.set(key, draft);
  for (const index of where) draft.sentences.add(index);
  draft.mentions += where.length;
  return draft;
}

function toEntity(draft: Draft): ExtractedEntity {
  const { name, type, description, mentions } = draft;
  return { name, type, description, aliases: [...draft.aliases].sort(), mentions: Math.max(1, mentions) };
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
