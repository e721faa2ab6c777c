import type { ExtractedEntity } from '../../../ports/extractor.ts';
import { nameKey } from './coreference.ts';
import { definitionAfter } from './definitions.ts';
import { type EntityType, type TypeVotes, typeByForm, typeByGuess, vote, winner } from './entity-type.ts';
import { DEMONYMS } from './gazetteer.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import { voteByContext } from './type-votes.ts';

/** An entity while its chunk is being read. */
export interface Draft {
  readonly name: string;
  readonly aliases: Set<string>;
  readonly votes: TypeVotes;
  /** Type by the words of the name; takes precedence over the context. */
  readonly form: EntityType | null;
  type: EntityType;
  description: string;
  mentions: number;
  /** Mentions that look like those of a thing. */
  things: number;
  /** Helps to find the text, but is nothing a reader would look for in a graph. */
  isKeyword: boolean;
  /** A noun phrase of the text, without a capital. */
  isPhrase: boolean;
  readonly sentences: Set<number>;
}

interface Occurrence {
  readonly mention: Mention;
  /** The fullest spelling. */
  readonly name: string;
  /** Of the sentence. */
  readonly index: number;
  readonly sentence: AnalysedSentence;
}

/** By `nameKey`, with the class that a definition gave to some of them. */
export interface Drafts {
  readonly byKey: Map<string, Draft>;
  readonly classes: Map<string, string>;
}

/** Weight of a type known from earlier text: like one clear mention. */
const KNOWN_TYPE_WEIGHT = 1.5;
/** A lone given name or place name is one unless the text says otherwise: Virginia, Florence, Perth. */
const LONE_NAME_WEIGHT = 2.5;

export function collect({ byKey, classes }: Drafts, occurrence: Occurrence): void {
  const { mention, name, index, sentence } = occurrence;
  const key = nameKey(name);
  if (key === '') return;
  const draft = byKey.get(key) ?? draftOfName(name, mention);
  byKey.set(key, draft);
  draft.mentions++;
  draft.sentences.add(index);
  for (const spelling of [mention.surface, mention.name]) if (spelling !== draft.name) draft.aliases.add(spelling);
  if (mention.kind === 'date' || mention.kind === 'quantity') return;
  if (mention.isThing) draft.things++;
  draft.isKeyword &&= isKeywordHere(occurrence);
  if (mention.title !== null) vote(draft.votes, 'Person', 3);
  voteByContext(draft.votes, sentence, mention);
  if (mention.isNested || draft.description !== '') return;
  const definition = definitionAfter(sentence.sentence.text, sentence.words, mention.end);
  if (definition === null) return;
  draft.description = definition.description;
  if (definition.type !== null) vote(draft.votes, definition.type, 3);
  if (definition.className !== null && !classes.has(key)) classes.set(key, definition.className);
}

/** An entity without a capital. */
export function conceptDraft(byKey: Map<string, Draft>, name: string, where: readonly number[]): Draft {
  const key = nameKey(name);
  const draft = byKey.get(key) ?? { ...emptyDraft(name, 'Concept'), isPhrase: true };
  byKey.set(key, draft);
  for (const index of where) draft.sentences.add(index);
  draft.mentions += where.length;
  return draft;
}

function draftOfName(name: string, mention: Mention): Draft {
  const form = mention.kind === 'date' ? 'Date' : typeByForm(name, mention.kind);
  const isLone = mention.kind === 'name' && !name.includes(' ') && (form === 'Person' || form === 'Place');
  const draft = emptyDraft(name, isLone ? null : form);
  if (isLone && form !== null) vote(draft.votes, form, LONE_NAME_WEIGHT);
  draft.isKeyword = !name.includes(' ');
  return draft;
}

function emptyDraft(name: string, form: EntityType | null): Draft {
  return {
    name,
    aliases: new Set(),
    votes: new Map(),
    form,
    type: form ?? 'Concept',
    description: '',
    mentions: 0,
    things: 0,
    isKeyword: false,
    isPhrase: false,
    sentences: new Set(),
  };
}

/** An adjective of a nation, an ordinary word with a capital, or the tail of a longer name: `Parma` in `Countess of Parma`. */
function isKeywordHere({ mention, sentence }: Occurrence): boolean {
  if (DEMONYMS.has(mention.name.toLowerCase())) return isAdjective(mention, sentence);
  return mention.isWord || (mention.isNested && mention.kind === 'name');
}

/** `American` in `an American actress`. */
function isAdjective({ end }: Mention, { words }: AnalysedSentence): boolean {
  const [next, second] = words.filter((word) => word.start >= end && word.pos !== 'SPACE');
  if (next?.pos === 'CCONJ' && DEMONYMS.has(second?.text.toLowerCase() ?? '')) return true;
  return next !== undefined && /^(?:NOUN|ADJ|PROPN|NUM)$|^-$/u.test(next.text === '-' ? '-' : next.pos);
}

export function typeOf(draft: Draft, knownType: string | undefined): EntityType {
  if (draft.form !== null) return draft.form;
  if (knownType !== undefined && knownType !== 'Concept') vote(draft.votes, knownType as EntityType, KNOWN_TYPE_WEIGHT);
  return winner(draft.votes) ?? typeByGuess(draft.name, draft.things * 2 >= draft.mentions);
}

export function toEntity(draft: Draft): ExtractedEntity {
  const { name, type, description, mentions, aliases } = draft;
  const entity = { name, type, description, aliases: [...aliases].sort(), mentions: Math.max(1, mentions) };
  const isKeyword = draft.isKeyword && type === 'Concept';
  return isKeyword || draft.isPhrase ? { ...entity, isKeyword } : entity;
}
