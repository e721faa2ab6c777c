import type { ExtractedEntity, KnownName } from '../../../ports/extractor.ts';
import { placeTable } from '../../places/place-table.ts';
import { wordSenses } from '../../words/word-senses.ts';
import { nameKey } from './coreference.ts';
import { definitionAfter } from './definitions.ts';
import {
  DOCTRINE,
  type EntityType,
  isAddress,
  isCompany,
  isGivenName,
  type TypeVotes,
  typeByForm,
  typeByGuess,
  vote,
  winner,
} from './entity-type.ts';
import { kindByNoun } from './foreign.ts';
import { DEMONYMS, PLACES } from './gazetteer.ts';
import { isKnownProduct } from './known-products.ts';
import type { AnalysedSentence, Mention } from './mention.ts';
import type { SlotModel } from './slot-model.ts';
import { contextOf, MAX_CONTEXTS, type NameContext, OTHER, type TypeEvidence, typeFeatures } from './type-model.ts';
import { voteByContext } from './type-votes.ts';
import { CONCEPT_ENDINGS, KNOWN_ORGANISATIONS, TYPE_NOUNS } from './type-words.ts';

/** An entity while its chunk is being read. */
export interface Draft {
  readonly name: string;
  readonly kind: Mention['kind'];
  readonly aliases: Set<string>;
  readonly votes: TypeVotes;
  /** Words around its first mentions. */
  readonly contexts: NameContext[];
  /** Type by the words of the name; takes precedence over the context. */
  readonly form: EntityType | null;
  type: EntityType;
  /** How far the text speaks for the type, 0 to 1; null: nothing is known of it. */
  certainty: number | null;
  description: string;
  mentions: number;
  /** Mentions that look like those of a thing. */
  things: number;
  /** Mentions inside a longer name. */
  inner: number;
  /** Helps to find the text, but is nothing a reader would look for in a graph. */
  isKeyword: boolean;
  /** A noun phrase of the text, without a capital. */
  isPhrase: boolean;
  /** By the model, in the order of its classes; null until the model is asked. */
  probabilities: Float64Array | null;
  readonly sentences: Set<number>;
}

interface Occurrence {
  readonly mention: Mention;
  /** The fullest spelling. */
  readonly name: string;
  /** Number of the sentence. */
  readonly index: number;
  readonly sentence: AnalysedSentence;
}

/** By `nameKey`, with the class that a definition gave to some of them. */
interface Drafts {
  readonly byKey: Map<string, Draft>;
  readonly classes: Map<string, string>;
}

/** Weight of a type known from earlier text; later mentions may say otherwise. */
const KNOWN_TYPE_WEIGHT = 4;
/** A lone given name or place name is one unless the text says otherwise; a given name that is a town less so: Austin. */
const LONE_NAME_WEIGHTS = { Person: 4, Place: 2.5 } as const;
const LONE_NAME_OF_TOWN_WEIGHT = 1.5;
/** A company, another body or a product known by its name. */
const KNOWN_NAME_WEIGHT = 4;
/** A town, region or country of the table of places. */
const KNOWN_PLACE_WEIGHT = 2;
/** A company, product or work: `MongoDB`, `Neo4j`, but not `McDonald`. */
const BRAND =
  /^(?!Mac|Mc|De|Di|La|Le|Fitz|Van|O['’])(?:\p{L}*\p{Ll}\p{Lu}|\p{Lu}{2,}\p{Ll}{2,}|\p{Lu}\p{L}*\d{1,2}\p{Ll})[\p{L}\p{N}.-]*$/u;
/** `Neo4j`, `Log4j`: no company. */
const DIGIT_INSIDE = /\p{L}\d{1,2}\p{Ll}/u;
const INITIALS = /^\p{Lu}{2,6}s?$/u;
/** Systems of writing. */
const SCRIPTS = /^(?:hiragana|katakana|kanji|hangul|devanagari|cyrillic|braille|pinyin|romaji)$/iu;
/** Ends of nouns that name persons. */
const PERSONAL_NOUN = /(?:er|or|ist|ian|man|woman|ee|ant|ent|ess|eur)$/u;

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
  if (mention.isNested) draft.inner++;
  draft.isKeyword &&= isKeywordHere(occurrence);
  if (mention.title !== null) vote(draft.votes, 'Person', 3);
  // The tagger, the votes and the model know English.
  if (sentence.language !== null) {
    const kind = mention.kind === 'name' ? kindByNoun(name, sentence.sentence.text.slice(0, mention.start)) : null;
    if (kind !== null) vote(draft.votes, kind, 3);
    return;
  }
  voteByContext(draft.votes, sentence, mention);
  if (draft.contexts.length < MAX_CONTEXTS) draft.contexts.push(contextOf(sentence, mention));
  if (mention.isNested || draft.description !== '' || isCodeWord(mention)) return;
  const definition = definitionAfter(sentence.sentence.text, sentence.words, mention.end);
  if (definition === null) return;
  draft.description = definition.description;
  if (definition.type !== null) vote(draft.votes, definition.type, 3);
  if (definition.className !== null && !classes.has(key)) classes.set(key, definition.className);
}

/** An entity without a capital. */
export function conceptDraft(byKey: Map<string, Draft>, name: string, where: readonly number[]): Draft {
  const key = nameKey(name);
  const draft = byKey.get(key) ?? { ...emptyDraft(name, 'name', 'Concept'), isPhrase: true };
  byKey.set(key, draft);
  for (const index of where) draft.sentences.add(index);
  draft.mentions += where.length;
  return draft;
}

function draftOfName(name: string, mention: Mention): Draft {
  const form = mention.kind === 'date' ? 'Date' : typeByForm(name, mention.kind);
  const isLone = mention.kind === 'name' && !name.includes(' ') && (form === 'Person' || form === 'Place');
  const draft = emptyDraft(name, mention.kind, isLone ? null : form);
  const isTown = () =>
    placeTable()
      .levels(name)
      .some((level) => level !== 'other');
  if (isLone && form !== null)
    vote(draft.votes, form, form === 'Person' && isTown() ? LONE_NAME_OF_TOWN_WEIGHT : LONE_NAME_WEIGHTS[form]);
  if (form === null && KNOWN_ORGANISATIONS.has(name.toLowerCase()))
    vote(draft.votes, 'Organisation', KNOWN_NAME_WEIGHT);
  if (form === null && isKnownProduct(name)) vote(draft.votes, 'Product', KNOWN_NAME_WEIGHT);
  if (form === null && isTown()) vote(draft.votes, 'Place', KNOWN_PLACE_WEIGHT);
  draft.isKeyword = !name.includes(' ') && !isKnownProduct(name);
  return draft;
}

function emptyDraft(name: string, kind: Mention['kind'], form: EntityType | null): Draft {
  return {
    name,
    kind,
    aliases: new Set(),
    votes: new Map(),
    contexts: [],
    form,
    type: form ?? 'Concept',
    certainty: null,
    description: '',
    mentions: 0,
    things: 0,
    inner: 0,
    isKeyword: false,
    isPhrase: false,
    probabilities: null,
    sentences: new Set(),
  };
}

/** An adjective of a nation, an ordinary word with a capital, or the tail of a longer name: `Parma` in `Countess of Parma`. */
function isKeywordHere({ mention, sentence }: Occurrence): boolean {
  if (DEMONYMS.has(mention.name.toLowerCase())) return isAdjective(mention, sentence);
  return mention.isWord || isCodeWord(mention) || (mention.isNested && mention.kind === 'name');
}

/** A word of code in prose: `toString`, `__proto__`, `HTTP_API_PORT`, an address. */
export function isCodeWord({ name, kind }: Pick<Mention, 'name' | 'kind'>): boolean {
  return kind !== 'work' && /^[^@]*[_`${}<>[\]=\\]|:\/\/|^\p{Ll}{2,}\p{Lu}\p{Ll}|\(\)$/u.test(name);
}

/** `American` in `an American actress`. */
function isAdjective({ end }: Mention, { words }: AnalysedSentence): boolean {
  const [next, second] = words.filter((word) => word.start >= end && word.pos !== 'SPACE');
  if (next?.pos === 'CCONJ' && DEMONYMS.has(second?.text.toLowerCase() ?? '')) return true;
  return next !== undefined && /^(?:NOUN|ADJ|PROPN|NUM)$|^-$/u.test(next.text === '-' ? '-' : next.pos);
}

/** Returns the evidence that decides the type of a name. */
export function typeEvidence(draft: Draft, className: string | null, topic: readonly string[]): TypeEvidence {
  const isThing = draft.things * 2 >= draft.mentions;
  const neighbours = draft.contexts.flatMap((one) => one.neighbours.map((name) => String(typeByForm(name, 'name'))));
  return { ...draft, guess: typeByGuess(draft.name, isThing), isThing, className, neighbours, topic };
}

/** `Leader of the Labour Party`, `Head Coach of Austria`, `U.S. Representative`: neither who holds it nor what it belongs to. */
const OFFICE =
  /^(?:\p{Lu}\p{L}*[ -]){0,3}(?:Leader|Speaker|Premier|President|Chair(?:man|woman)?|Minister|Secretary|Judge|Justice|Coach|Director|Officer|Governor|Mayor|Ambassador|Commissioner|Commander|Chancellor|Treasurer|Member|Attorney General|Bishop|Archbishop|Emperor|Elector)s? (?:of|for|to|at) |^(?:[\p{Lu}\p{Ll}.-]+ )+(?:Representative|Senator|Chairman|Chairwoman|Elector|Officer|Governor|Minister|President|Secretary|Attorney General|Governor General)$|^(?:Attorney|Governor) General$/u;
/** Kinds of names whose type is certain. */
const CERTAIN_KINDS = new Set<Draft['kind']>(['date', 'quantity', 'identifier', 'work']);
/** Number of votes that a definition or a title gives. */
const CERTAIN_VOTES = 4;
/** Added to the logarithm of a type's probability for each vote of the rules. */
const VOTE_WEIGHT = 1;
/** The same when all names beside it have the type: `Spurs, Lakers and Orlando Magic`. */
const LIST_WEIGHT = 2.5;
/** The same for an organisation by its head word: `Walt Disney Pictures`. */
const FORM_WEIGHT = 1.2;
/** Below this share probability a name is a `Concept` rather than a wrong person, organisation or place. */
const MIN_PROBABILITY = 0.55;
/** The same for a place, work or product. */
const MIN_PROBABILITY_OF_THING = 0.5;
/** The same for a person of one word: `Jenkins` may be a program. */
const MIN_PROBABILITY_OF_LONE_PERSON = 0.62;
/** The same for a place that begins with an adjective of a nation: Spanish Guinea is one, a German Shepherd is not. */
const MIN_PROBABILITY_OF_LAND = 0.7;
const NAMED_KINDS = ['Person', 'Organisation', 'Place'] as const;
const THINGS = ['Work', 'Product', OTHER] as const;
/** How much likelier an organisation than a product is what is written like a program: `ForSea`, and not `MongoDB`. */
const COMPANIES_PER_PRODUCT = 5;
/** From this share on a name is a person although its class is a noun of no known kind (`Bob Gaudio, a bandmate`). */
const CERTAIN_SHARE = 0.94;

/** A type and how far the text speaks for it. */
interface TypeChoice {
  readonly type: EntityType;
  readonly certainty: number;
}

const certainly = (type: EntityType): TypeChoice => ({ type, certainty: 1 });
const UNKNOWN: TypeChoice = { type: 'Concept', certainty: 0 };
/** Certainty of a type that only the words of a name tell. */
const CERTAINTY_OF_FORM = 0.5;

/** By rules where they are certain, else by the model, which knows what the rules say. */
export function typeOf(
  draft: Draft,
  className: string | null,
  {
    known,
    topic,
    model,
    beside = [],
  }: {
    readonly known: KnownName | undefined;
    readonly topic: readonly string[];
    readonly model: SlotModel;
    /** Types of the names beside it. */
    readonly beside?: readonly EntityType[];
  },
): TypeChoice {
  const { form, kind, votes, name } = draft;
  if (draft.isKeyword && form === null) return UNKNOWN;
  const isCertain = CERTAIN_KINDS.has(kind) || isKnownForm(name) || (kind === 'acronym' && form === 'Organisation');
  if (form !== null && isCertain) return certainly(form);
  if (beside.length === 0 && known !== undefined && known.type !== 'Concept')
    vote(votes, known.type as EntityType, KNOWN_TYPE_WEIGHT * (known.typeCertainty ?? 1));
  const voted = winner(votes);
  // The model knows English.
  if (draft.contexts.length === 0) {
    const type = voted ?? form;
    return type === null ? UNKNOWN : { type, certainty: CERTAINTY_OF_FORM };
  }
  if (SCRIPTS.test(name) || OFFICE.test(name)) return certainly('Concept');
  // `Fine Arts` in `Academy of Fine Arts`
  if (form === 'Organisation' && draft.inner === draft.mentions && votes.size === 0) return UNKNOWN;
  // `A Greenland Whale is a whale.`
  if (className !== null && voted === null && lastWord(className) === lastWord(name)) return certainly('Concept');
  // `Moby Dick is a whale.`
  const isNoPerson =
    className !== null && !PERSONAL_NOUN.test(className) && TYPE_NOUNS.get(lastWord(className)) !== 'Person';
  if (voted !== null && (PLACES.has(name.toLowerCase()) || votesFor(votes, voted) >= CERTAIN_VOTES))
    return certainly(voted === 'Person' && isNoPerson ? 'Concept' : voted);
  const { classes, probabilities } = model;
  draft.probabilities ??= probabilities(typeFeatures(typeEvidence(draft, className, topic)));
  const found = draft.probabilities.map((probability, at) => {
    const type = classes[at] ?? '';
    const words = type === form && form === 'Organisation' ? FORM_WEIGHT : 0;
    const rules = VOTE_WEIGHT * votesFor(votes, type) + LIST_WEIGHT * shareOf(beside, type) + words;
    return probability * Math.exp(rules);
  });
  const sum = found.reduce((total, one) => total + one, 0);
  const shareOfClass = (type: string): number => (found[classes.indexOf(type)] ?? 0) / sum;
  const thing = THINGS.reduce((total, type) => total + shareOfClass(type), 0);
  const best = NAMED_KINDS.reduce((most, type) => (shareOfClass(type) > shareOfClass(most) ? type : most));
  const share = shareOfClass(best);
  const isThing =
    thing > share ||
    share < leastProbability(best, name) ||
    (best === 'Person' && isNoPerson && share < CERTAIN_SHARE) ||
    // `Put TLS in front`, `Tools and resources`
    (votesFor(votes, best) === 0 &&
      (INITIALS.test(name)
        ? best === 'Place'
        : (best === 'Person' && (isNoun(name) || (form === null && isPluralOfThings(name)))) ||
          (best === 'Place' && !name.includes(' ') && form === null && isNoun(name)))) ||
    // `Norwegian Cup`, `World War I`
    (best === 'Place' && form === 'Concept' && (!isOfNation(name) || CONCEPT_ENDINGS.has(lastWord(name))));
  if (isNameOfCode(name) && form === null) return certainly('Concept');
  if (BRAND.test(name) && form === null) {
    const product = shareOfClass('Product');
    const brand =
      shareOfClass('Work') > MIN_PROBABILITY_OF_THING
        ? 'Work'
        : shareOfClass('Organisation') > COMPANIES_PER_PRODUCT * product && !DIGIT_INSIDE.test(name)
          ? 'Organisation'
          : 'Product';
    return { type: brand, certainty: CERTAINTY_OF_FORM };
  }
  if (!isThing) return { type: best, certainty: share };
  const sort = (['Work', 'Product'] as const).find((type) => shareOfClass(type) >= MIN_PROBABILITY_OF_THING);
  if (sort === undefined && (form === 'Work' || voted === 'Work'))
    return { type: 'Work', certainty: CERTAINTY_OF_FORM };
  return { type: sort ?? 'Concept', certainty: shareOfClass(sort ?? OTHER) };
}

/** What code calls errors and settings, a signal, a number of an error or of a standard: no company and no person. */
const NAME_OF_CODE =
  /^(?:\p{L}[\p{L}\d]*\p{Ll}(?:Error|Exception|Options|Config|Handler|Factory|Context|Request|Response|Interface|Strategy|Props|Dependencies)|SIG(?:TERM|KILL|INT|HUP|QUIT|USR[12]|CHLD|STOP|PIPE|ABRT)|E(?:ACCES|PERM|NOENT|ADDRINUSE|CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|NOSPC|MFILE|NOTFOUND|PIPE|EXIST|ISDIR|NOTDIR|AGAIN|BUSY|HOSTUNREACH|NETUNREACH|HOSTDOWN|NETDOWN|ROFS|XDEV|INVAL|LOOP)|(?:RFC|ISO|IEEE|ECMA|PEP|CVE)[ -]?\d[\d-]*|Ed25519|Ed448)$/u;
/** Formats, protocols and terms of computing by their initials. */
const TERMS = new Set(
  'ABI ACID AES ANSI API ASCII CDN CIDR CJS CLI CORS CPU CRUD CSP CSRF CSV DDL DHCP DNS DOM ECDSA ESM FIFO FTP GPU GSSAPI GUI HMAC HTML HTTP HTTPS IDE IMAP IPC JSON JSONL JSX JWK JWKS JWS JWT LDAP LIFO LRU LSP MCP MIME MTU NAT NTP OIDC ORM OTLP PKCE PNG POP3 QUIC RAM RBAC RDF REPL REST RPC RSA SAML SASL SCIM SCRAM SDK SFTP SHA SLA SLO SMTP SPDX SQL SSD SSE SSH SSL SSO STDIN STDOUT SVG TCP TLS TOML TOTP TSX TTL TTY UDP UMD URI URL URN UTC UTF UUID VPN WAL WASM XML XSS YAML ZSTD'.split(
    ' ',
  ),
);
const isNameOfCode = (name: string): boolean => NAME_OF_CODE.test(name) || TERMS.has(name.replace(/s$/u, ''));

function leastProbability(type: EntityType, name: string): number {
  if (type === 'Place') return isOfNation(name) ? MIN_PROBABILITY_OF_LAND : MIN_PROBABILITY_OF_THING;
  return type === 'Person' && !name.includes(' ') ? MIN_PROBABILITY_OF_LONE_PERSON : MIN_PROBABILITY;
}

/** Whether it begins with the adjective of a nation. */
function isOfNation(name: string): boolean {
  return DEMONYMS.has(name.split(' ', 1)[0]?.toLowerCase() ?? '');
}

/** Whether it is an ordinary word, in singular or plural. */
function isNoun(name: string): boolean {
  const { row, partsOf } = wordSenses();
  const word = name.toLowerCase();
  const isOrdinary = [word, word.replace(/s$/u, '')].some((one) => row(one) >= 0 && partsOf(row(one)).noun > 0);
  return isOrdinary && !isGivenName(word);
}

/** `File Descriptors`, `Bucket Generators`: ordinary words, the last one in plural. */
function isPluralOfThings(name: string): boolean {
  const words = name.split(' ');
  return words.length > 1 && /[^s]s$/u.test(name) && words.every(isNoun);
}

/** How many of the names beside one are of a type; a single one says half as much. */
function shareOf(beside: readonly EntityType[], type: string): number {
  const isType = (one: EntityType): boolean => one === (type === OTHER ? 'Concept' : type);
  return beside.filter(isType).length / Math.max(2, beside.length);
}

function lastWord(text: string): string {
  return text.slice(text.lastIndexOf(' ') + 1).toLowerCase();
}

function votesFor(votes: TypeVotes, type: string): number {
  return votes.get(type === OTHER ? 'Concept' : (type as EntityType)) ?? 0;
}

/** A name of the gazetteer, an address, a company with its legal form, or a doctrine or science. */
function isKnownForm(name: string): boolean {
  const lower = name.toLowerCase();
  return PLACES.has(lower) || DEMONYMS.has(lower) || DOCTRINE.test(lower) || isAddress(lower) || isCompany(name);
}

export function toEntity(draft: Draft): ExtractedEntity {
  const { name, type, certainty, description, mentions, aliases } = draft;
  const typeCertainty = certainty === null || certainty === 1 ? {} : { typeCertainty: certainty };
  const entity = {
    name,
    type,
    ...typeCertainty,
    description,
    aliases: [...aliases].sort(),
    mentions: Math.max(1, mentions),
  };
  const isKeyword = draft.isKeyword && type === 'Concept';
  return isKeyword || draft.isPhrase ? { ...entity, isKeyword } : entity;
}
