import { isCommonWord } from '../../language/common-words.ts';
import { dates } from '../../language/dates.ts';
import { STOP_WORDS } from '../../language/stop-words.ts';
import { typeByForm } from '../rules/entity-type.ts';
import { isKnownProduct } from '../rules/known-products.ts';
import { KNOWN_ORGANISATIONS } from '../rules/type-words.ts';
import type { Named } from './fact.ts';

const NUMBER =
  /^[-+~≈]?(?:[$€£¥]\s?)?\d{1,3}(?:[,.\u00a0 ]\d{3})+(?:[.,]\d+)?(?:\s?[\p{L}%°/²³]{1,12})?$|^[-+~≈]?(?:[$€£¥]\s?)?\d+(?:[.,]\d+)?(?:\s?(?:%|°?[\p{L}°/²³€$£]{1,12}))?$/u;
const NOTHING = /^(?:[-–—.?*]*|n\/?a|null|none|nil|undefined|unknown|tbd|empty|unset|not set|true|false|no)?$/iu;
const YES = /^(?:yes|✓|✔|✅|x|ja|sí|oui)$/iu;
/** Hashes and ids of machines. */
const OPAQUE = /^(?:[0-9a-f]{8}-[0-9a-f-]{20,}|(?=\S*\d)[A-Za-z0-9+/_=-]{24,})$/u;
const MAX_LENGTH = 60;
const MAX_WORDS = 7;

const TYPES: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /(?:^|_)(?:city|town|village|country|state|region|county|place|location|address|venue|capital|continent|ort|stadt|land|adresse|anschrift|wohnort|ciudad|dirección|domicilio|país|ville|pays|domicile)$/u,
    'Place',
  ],
  [
    /(?:^|_)(?:author|owner|manager|person|employee|contact|assignee|attendee|attendees|deciders?|receiver|trainer|dozent(?:in)?|betreuer(?:in)?|lehrer(?:in)?|profesora?|organizer|organiser|reporter|leader|speaker|teacher|student|patient|director|editor|maintainer|member|members|present|absent|participant|participants|chair|host|minutes|verfasser|protokoll|anwesend|teilnehmer|ansprechpartner(?:in)?|inhaber(?:in)?|geschäftsführer(?:in)?|bearbeiter(?:in)?|asistentes|contacto|autor|auteur|first_name|last_name)$/u,
    'Person',
  ],
  [
    /(?:^|_)(?:company|organisation|organization|employer|vendor|supplier|publisher|manufacturer|university|school|firma|unternehmen|lieferant|verlag|empresa|société)$/u,
    'Organisation',
  ],
];
/** Keys whose values are persons when they look like a full name. */
const OF_PERSONS =
  /(?:^|_)(?:interviewers?|candidate|applicant|reviewers?|travellers?|travelers?|guests?|on_call|escalation|lead|sponsor|mentor|coach|doctor|dentist|gp|vet|landlord|landlady|tenant|lawyer|driver|bride|groom|facilitator|scribe|design|photos?|music|architect|treasurer|secretary|apologies|absent|by|assigned_to|with)$/u;
/** Keys of what software is made of, and of what is bought. */
const OF_PRODUCTS =
  /(?:^|_)(?:frontend|front_end|backend|back_end|api|database|db|cache|queue|message_broker|broker|auth|authentication|framework|runtime|orm|ci|ci_cd|monitoring|logging|search|bundler|editor|ide|operating_system|os|browser|device|product|model|produkt|gerät|producto|produit|tools?|software)$/u;
/** Keys whose values are persons or companies: a person unless a word of the name is an ordinary one. */
const OF_CUSTOMERS =
  /(?:^|_)(?:customer|client|name|requester|requested|caller|buyer|seller|commander|chef|kunde|kundin|auftraggeber(?:in)?|cliente|client(?:e)?|nombre|nom|recipient)$/u;
/** Words in the names of shops, inns and other firms. */
const TRADE =
  /(?:^|[ &-])(?:cafés?|cafe|bistrot?|restaurant|gasthof|gasthaus|hotel|hostal|pension|bakery|bäckerei|konditorei|panadería|pastelería|boulangerie|brauhaus|brauerei|brewery|feinkost|kitchen|deli|buchhandlung|bookshop|books|apotheke|pharmacy|farmacia|pharmacie|klinik|clinic|praxis|studio|salon|garage|werkstatt|taller|florist|blumen|druckerei|imprenta|tischlerei|schreinerei|carpintería|spedition|logistics|consulting|partners|brothers|gebrüder|hermanos|stores?|shop|market|markt|farm|winery|weingut|bodegas?)(?: |$)|(?:stube|markt)(?: |$)/iu;
const FULL_NAME = /^\p{Lu}\p{Ll}[\p{L}'’-]* (?:\p{L}[\p{L}.'’-]* ){0,2}\p{Lu}[\p{L}'’-]+$/u;

/** Numbers that count nothing. */
const CODES =
  /(?:^|_)(?:id|zip|postcode|plz|phone|telephone|telefon|mobile|fax|code|isbn|number|no|nr|version|port|uid)$/u;

/** Where four digits are a year. */
const YEARS = /^$|year|date|since|found|born|died|release|publish|from|until|start|end|establish|open|built|created/u;

/** Lists, objects, texts and calls of code, and its types: `[]`, `{ a: 1 }`, `""`, `(path)`, `rgb(0, 0, 0)`, `integer`. */
const LITERAL =
  /^(?:[[{(].*[\]})]|["'].*["']|\p{Ll}[\p{L}\d_.]*\(.*\)|(?:string|str|number|integer|int|boolean|bool|float|double|array|object|enum|function|void)(?:\[\])?)$/u;

/** Whether a cell says nothing. */
export function isNothing(text: string): boolean {
  return NOTHING.test(text) && !YES.test(text);
}

export function isYes(text: string): boolean {
  return YES.test(text);
}

/** Sentences and longer texts are prose. */
export function isProse(text: string): boolean {
  const words = text.split(/\s+/u).length;
  if (text.length > MAX_LENGTH || words > MAX_WORDS) return true;
  // `where positions go`
  if (words > 2 && /^(?:where|what|which|who|how|when|why|whether)\b/iu.test(text)) return true;
  // `folder of the database`
  if (words > 3 && /^\p{Ll}/u.test(text) && text.split(/\s+/u).some((word) => STOP_WORDS.has(word))) return true;
  return words > 1 && /(?:\p{L}{3,}|\))[.!?](?:\s|$)/u.test(text) && !/ (?:Inc|Ltd|Corp|LLC)\.$/u.test(text);
}

const ROLE = / \([^()]{1,40}\)$/u;
const NAME_IN_LIST = /^\p{Lu}[\p{L}.'’-]+(?: (?:\p{Ll}{1,3} )?\p{Lu}[\p{L}.'’-]*){0,3}$/u;

const ARTICLE = /^(?:the|der|die|das|el|la|los|las|le|les)$/iu;

/** Names between commas: `Priya Patel, Lena Fischer (minutes)`; null for any other text. */
export function nameList(text: string): string[] | null {
  const names = text.split(/,\s+|\s+(?:and|und|y|et)\s+/u).map((name) => name.replace(ROLE, ''));
  // `Harbour Kitchen, The` is one.
  const isList = names.length > 1 && names.every((name) => NAME_IN_LIST.test(name) && !ARTICLE.test(name));
  return isList ? names : null;
}

/** A number or date with its type; null for words. */
export function literalOf(text: string, relation: string): Named | null {
  const isCode = CODES.test(relation);
  if (/\d/u.test(text)) {
    const [date] = dates(text);
    const isNumber = /^\d{4}$/u.test(text) && !YEARS.test(relation);
    if (!isCode && !isNumber && date !== undefined && isWhole(date, text)) return { name: date.name, type: 'Date' };
    if (NUMBER.test(text)) return { name: text, type: isCode ? 'Concept' : 'Quantity' };
  }
  return null;
}

function isWhole({ start, end }: { start: number; end: number }, text: string): boolean {
  // `2024-03-01T10:00:00Z`
  return start === 0 && /^(?::\d\d)?(?:\.\d+)?\s?(?:Z|UTC|GMT|CES?T|[EP][SD]T|[+-]\d\d:?\d\d)?$/u.test(text.slice(end));
}

/** The node that a value becomes; null for nothing, prose and opaque ids. */
export function valueNamed(text: string, relation: string): Named | null {
  if (isNothing(text) || LITERAL.test(text) || isProse(text) || OPAQUE.test(text) || !/[\p{L}\p{N}]/u.test(text))
    return null;
  return literalOf(text, relation) ?? nameOf(text, relation);
}

/** In front of the name of a person: `Dr. Amara Osei` and `Amara Osei` are one. */
const TITLES = /^(?:(?:Dr|Prof|Mr|Mrs|Ms|Herr|Frau)\.? )+(?=\p{Lu}[\p{L}.'’-]* \p{Lu})/u;

/** A name with its type; of a person without titles and address. */
export function nameOf(text: string, relation: string): Named {
  const name = text.replace(TITLES, '').replace(/ [<(]?[^\s<>()]+@[^\s<>()]+[>)]?$/u, '');
  return { name, type: name === text ? typeOf(name, relation) : 'Person' };
}

/** Type by the words of the name, else by the column. */
export function typeOf(name: string, relation: string): string {
  if (!/^\p{Lu}/u.test(name)) return 'Concept';
  const byColumn = TYPES.find(([expression]) => expression.test(relation))?.[1];
  const isKnownBody = KNOWN_ORGANISATIONS.has(name.toLowerCase());
  const known = isKnownProduct(name) ? 'Product' : isKnownBody ? 'Organisation' : null;
  const isFirm = OF_CUSTOMERS.test(relation) && name.includes(' ') && TRADE.test(name);
  const byForm = byColumn ?? known ?? (isFirm ? 'Organisation' : typeByForm(name, 'name'));
  if (byForm !== null) return byForm;
  if (OF_PRODUCTS.test(relation)) return 'Product';
  if (!FULL_NAME.test(name)) return 'Concept';
  const isPerson =
    OF_PERSONS.test(relation) ||
    (OF_CUSTOMERS.test(relation) && name.split(' ').every((word) => !isCommonWord(word.toLowerCase())));
  return isPerson ? 'Person' : 'Concept';
}

/** Without the marks of Markdown and quotation marks around it. */
export function plainText(text: string): string {
  return text
    .replace(/!?\[([^[\]]{0,200})\]\([^()\s]{0,500}\)/gu, '$1')
    .replace(/[`*]+/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/^(["'])(.*)\1$/u, '$2');
}
