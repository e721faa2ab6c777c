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
import { type AnalysedSentence, analyseSentences, type Mention } from './mention.ts';
import { type Argument, relationsOf } from './relations.ts';
import { summaryOf } from './summary.ts';
import type { Tagger } from './tagger.ts';
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
  const relations = findRelations(analysed, pronouns, draftOf);
  addClasses(drafts, classes, relations, analysed);
  addConcepts(drafts, analysed);
  for (const [index, found] of pronouns.entries()) {
    for (const { name } of found) {
      const draft = drafts.get(nameKey(name));
      draft?.sentences.add(index);
    }
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
    if (/^(?:in|at|near|from|to|into|toward|towards|off)$/iu.test(before.text)) vote(votes, 'Place', 1);
    const type = TYPE_NOUNS[before.lemma.toLowerCase()] as EntityType | undefined;
    if (type !== undefined && before.pos === 'NOUN') vote(votes, type, 2);
    if (/^(?:with|and)$/iu.test(before.text) && mention.title !== null) vote(votes, 'Person', 1);
  }
  if (after === undefined) return;
  const type = TYPE_NOUNS[after.lemma.toLowerCase()] as EntityType | undefined;
  if (PERSON_VERBS.has(after.lemma.toLowerCase()) && after.pos === 'VERB') vote(votes, 'Person', 2);
  if (type !== undefined && type !== 'Person' && after.pos === 'NOUN' && after.start - mention.end < 2)
    vote(votes, type, 1);
}

function findRelations(
  analysed: readonly AnalysedSentence[],
  pronouns: readonly PronounMention[][],
  draftOf: (mention: Mention) => Draft | undefined,
): ExtractedRelation[] {
  const found = new Map<string, ExtractedRelation>();
  for (const [index, { sentence, words, mentions }] of analysed.entries()) {
    const parts: Argument[] = mentions
      .filter((mention) => !mention.isNested && mention.kind !== 'quantity')
      .flatMap((mention) => {
        const draft = draftOf(mention);
        return draft === undefined
          ? []
          : [{ name: draft.name, type: draft.type, start: mention.start, end: mention.end }];
      });
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
