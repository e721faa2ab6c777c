import { placeTable } from '../../places/place-table.ts';
import type { Argument } from './clause-levels.ts';
import { type EntityType, isCompany, isGivenName } from './entity-type.ts';
import { PLACES } from './gazetteer.ts';
import type { FoundRelation } from './relations.ts';
import type { TaggedWord } from './tagger.ts';

export type ForeignLanguage = 'de' | 'es' | 'fr';

const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/u));
const FUNCTION_WORDS: readonly (readonly [ForeignLanguage | 'en', ReadonlySet<string>])[] = [
  [
    'de',
    set(`der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren wird werden wurde wurden hat
      haben hatte ich du er sie es wir ihr mich mir dich dir sich mein meine meinen meinem meiner sein seine seinen seinem seiner unser
      unsere ihre ihren im am zum zur vom beim mit von zu auf aus bei nach seit für über unter vor durch gegen ohne um dass weil wenn
      als wie auch noch nur schon sehr man kein keine keinen diese dieser dieses wohnt wohne lebt arbeitet schrieb besuchte gestern heute
      bis je bitte inkl zzgl zwischen gilt nr datum`),
  ],
  [
    'es',
    set(`el la los las un una unos unas de del al y que en por para con su sus se es fue ha está según como más pero lo nos
      también sobre entre desde hasta ayer cuando mi mis trabaja vive nació fundó diseñó escribió`),
  ],
  [
    'fr',
    set(`le la les un une des du de et est sont dans pour avec sur par que qui ne pas nous vous il elle au aux ce cette son sa ses
      ma mon mes ont été depuis chez notre nos leur mais où à travaille habite fondé écrit conçu née né`),
  ],
  ['en', set('the of and to is are were has have with for that it he she you we they on at by this from not an')],
];
/** Particles of names in any language. */
const PARTICLES = set('de del la las los le les el du des von zu der den');

const LANGUAGES_OF_WORDS = new Map<string, (ForeignLanguage | 'en')[]>();
for (const [language, own] of FUNCTION_WORDS) {
  for (const word of own) LANGUAGES_OF_WORDS.set(word, [...(LANGUAGES_OF_WORDS.get(word) ?? []), language]);
}

type Scores = Readonly<Record<ForeignLanguage | 'en', number>>;

/** How much the words of a sentence speak for each language. */
function scoresOf(words: readonly TaggedWord[]): Scores {
  const scores = { de: 0, es: 0, fr: 0, en: 0 };
  for (const { text } of words) {
    const languages = LANGUAGES_OF_WORDS.get(text) ?? LANGUAGES_OF_WORDS.get(text.toLowerCase()) ?? [];
    for (const language of languages) scores[language] += PARTICLES.has(text) ? 1 : 1.5;
  }
  return scores;
}

/** Score from which a sentence or a text is in a language. */
const LEAST = 2.5;

/** Returns the language whose words are most, when they are enough and English ones are few. */
function mostLikely(scores: Scores): ForeignLanguage | null {
  let best: ForeignLanguage = 'de';
  for (const language of ['es', 'fr'] as const) if (scores[language] > scores[best]) best = language;
  return scores[best] >= LEAST && scores[best] > 2 * scores.en ? best : null;
}

/**
 * Returns the languages of the sentences of a text that are German, Spanish or French, whose words the tagger does not know;
 * null for the others. A line without a word that tells (`Netto: 580 EUR`) is in the language of the text.
 */
export function foreignLanguages(sentences: readonly (readonly TaggedWord[])[]): (ForeignLanguage | null)[] {
  const scores = sentences.map(scoresOf);
  const sum = (language: keyof Scores): number => scores.reduce((total, one) => total + one[language], 0);
  // Words such as `Stück` and `Straße` tell the language of a text, but of a single sentence they may be a name.
  const umlauts = sentences.flat().filter(({ text }) => /[äöüß]/u.test(text)).length;
  const usual = mostLikely({ de: sum('de') + umlauts, es: sum('es'), fr: sum('fr'), en: sum('en') });
  return scores.map((own) => mostLikely(own) ?? (usual !== null && own.en <= own[usual] ? usual : null));
}

const PLACES_IN_GERMAN = set(
  `deutschland österreich schweiz frankreich italien spanien polen russland türkei europa amerika afrika asien england bayern
  münchen köln wien zürich genf nürnberg hannover düsseldorf bremen prag rom mailand venedig paris moskau warschau`,
);
/** Nouns in front of a name, or at its beginning, by what the name is. */
const KIND_NOUNS: ReadonlyMap<string, EntityType> = new Map(
  Object.entries({
    Person: `herr herrn frau dr prof professor onkel tante opa oma schwester bruder mutter vater tochter sohn freund freundin kollege
      kollegin nachbar nachbarin architekt architektin elektriker elektrikerin ansprechpartner ansprechpartnerin leiterin vermieter vermieterin
      mieter mieterin ärztin anwalt anwältin lehrer lehrerin trainer trainerin chefin presidenta presidente arquitecto arquitecta médica abogado
      abogada profesora profesor dueño dueña vecino vecina jefe jefa directora alcalde alcaldesa voisin voisine propriétaire professeure avocat
      avocate gérant gérante présidente directrice mari maire señor señora don doña hermano hermana hijo hija tío tía monsieur madame mademoiselle frère sœur
      fils fille oncle`,
    Work: 'roman film buch lied oper novela película libro canción livre chanson',
    Organisation: `metzgerei bäckerei weingut brauerei klinik kanzlei buchhandlung apotheke clínica bodega panadería farmacia clinique boulangerie pharmacie hôpital
      firma verein unternehmen universität bank empresa banco universidad escuela colegio ayuntamiento ministerio museo agence
      entreprise société école lycée université banque ministère musée`,
    Place: `stadt dorf park volkspark schloss calle plaza avenida paseo barrio ciudad pueblo parque iglesia église rue avenue boulevard place quai
      quartier ville parc`,
  } satisfies Partial<Record<EntityType, string>>).flatMap(([type, nouns]) =>
    nouns.split(/\s+/u).map((noun): [string, EntityType] => [noun, type as EntityType]),
  ),
);
const PLACE_OF =
  /(?<!\p{L})(?:barrio|ciudad|pueblo|provincia|ville|quartier|village|région) d(?:e |u |['’])(?:la |el )?$/u;
const KIND_BEFORE = /(\p{L}+)\.? (?:(?:ist|war|heißt|es|fue|est|était) )?$/u;

/** Returns what a German, Spanish or French noun says of the name behind it (`die Firma Sodexo`) or that begins with it; null without one. */
export function kindByNoun(name: string, before: string): EntityType | null {
  const [first = '', second] = name.split(' ', 2);
  if (PLACE_OF.test(before)) return 'Place';
  const noun = KIND_BEFORE.exec(before)?.[1] ?? '';
  return (
    KIND_NOUNS.get(noun.toLowerCase()) ?? (second === undefined ? null : KIND_NOUNS.get(first.toLowerCase())) ?? null
  );
}

const STREET_BEFORE =
  /(?<!\p{L})(?:rue|avenue|boulevard|place|quai|musée|église|lycée|calle|avenida|plaza|paseo|museo|iglesia|colegio) (?:d(?:e|u|es|el|e la|e los|e las) |de l['’])?$/u;

/** Returns the words in front of the name of a street or house that belong to it: `rue des ` of `rue des Martyrs`. */
export function streetBefore(before: string): string {
  return STREET_BEFORE.exec(before)?.[0] ?? '';
}

/** Names of persons and works, and names of companies and towns that are complete without it. */
function isApart(noun: string): boolean {
  return (
    /^(?:Meine?|Unsere?|Firma|Verein|Unternehmen|Stadt|Dorf|(?:Ehe)?[Mm]ann|Ehefrau|Schwieger(?:mutter|vater|sohn|tochter)|Töchtern?|Söhnen|Kindern?|Neffe|Nichte|Cousine?|Partner(?:in)?|Hund|Katze|Kater|Projektleiter(?:in)?|Ingenieur(?:in)?|Studium|Ausbildung)$/u.test(
      noun,
    ) || /^(?:Person|Work)$/u.test(KIND_NOUNS.get(noun.toLowerCase().replace('.', '')) ?? '')
  );
}

const STREET = /^\p{L}[\p{L}-]+(?:stra(?:ß|ss)e|allee|gasse)(?: \d{1,4}\p{L}?)?$/u;

/** An adjective or verb that opens a line. */
const INFLECTED = /^\p{L}{3,}(?:e[nrsm]?|t)$/u;

/**
 * Returns the name in capitalised words of a German sentence, where every noun has a capital: a known name or place, what
 * stands behind a title, or two names in a row (`Vorsitzende Karl-Heinz Brandt` is Karl-Heinz Brandt); null for nouns.
 */
export function germanName(name: string, before: string): string | null {
  const words = (isCompany(name) ? name.replace(/^.* (?:der|des) /u, '') : name).split(' ');
  // `die Klassenlehrerin Frau Brandt`
  words.splice(0, words.slice(0, -1).findLastIndex(isApart) + 1);
  const [first = '', ...rest] = words;
  const lower = words.join(' ').toLowerCase();
  if (PLACES.has(lower) || PLACES_IN_GERMAN.has(lower) || isCompany(words.join(' ')) || STREET.test(lower))
    return words.join(' ');
  if (/^(?:in|nach|aus|von|bis|ab)$/u.test(before) && placeTable().levels(lower).length > 0) return words.join(' ');
  const given = words.findIndex((word) => isGivenName((word.split('-')[0] ?? '').toLowerCase()));
  if (given === 0 || (given > 0 && given + 1 < words.length)) return words.slice(given).join(' ');
  // `40 Stück Türband`
  const isCounted = /^\d[\d.,]*$/u.test(before);
  if (isCounted || FUNCTION_WORDS[0]?.[1].has(first.toLowerCase()) || isApart(name)) return null;
  if (isApart(before)) return words.join(' ');
  const isRow = rest.length > 0 && rest.every((word) => /^\p{Lu}/u.test(word));
  // `Freundliche Grüße`, `Können Sie`
  const isPhrase =
    (before === '' && INFLECTED.test(first)) || rest.some((word) => FUNCTION_WORDS[0]?.[1].has(word.toLowerCase()));
  return (isRow && !isPhrase) || words.length < name.split(' ').length ? words.join(' ') : null;
}

const DENIED = /\b(?:nicht|kein\p{L}*|nie|niemals|nunca|jamás|pas|jamais|würde|möchte|podría|pourrait|no)\b|\?/u;
/** Up to three words without a capital, such as articles and adverbs. */
const FEW = String.raw`(?: [\p{Ll}\d'’]+){0,3}?(?: (?:Roman|Film|Buch|Lied|Oper|Firma|Stadt|Dorf))?`;
/** Words between two names that relate them; `<`: the second one acts. */
const PATTERNS: readonly (readonly [string, RegExp])[] = Object.entries({
  live_in: ['(?:wohnt|lebt)~ in', '(?:vive|reside)~ en', '(?:habite|vit)~ (?:à|en|au|dans)'],
  work_at: [
    'arbeitete?t?~ (?:bei|für|an)(?: de[rmn])?',
    '(?:trabaja|trabajó)~ (?:en|para)(?: el| la)?',
    '(?:travaille|a travaillé)~ (?:chez|pour|à)(?: la)?',
    'vom (?:Büro|Verein|Unternehmen)',
    'von der Firma',
  ],
  come_from: ['(?:kommt|stammt)~ aus', '(?:viene|procede)~ de', '(?:vient|est originaire)~ d[eu]'],
  belong_to: ['gehört~', 'pertenece~ a(?: la)?', 'appartient~ (?:à|au)(?: la)?'],
  located_in: ['mit Sitz in', 'con (?:sede|oficina) en', '(?:basée?|installée?|située?) (?:à|en|au)'],
  sell_to: ['verkaufte~ an', 'vendió~ a(?: la| l[oa]s)?(?: familia)?', 'a vendu~ (?:à|au)(?: la)?'],
  study_at: ['studiert(?:e)?~ an(?: der)?', 'estudi[aó]~ en(?: la)?', '(?:étudie|a étudié)~ à(?: la)?'],
  born_in: [',? geboren~ in', ',? (?:nació|nacid[oa])~ en', ',? (?:est )?née?~ (?:à|en|au)'],
  died_in: ['starb~ in', 'murió~ en', '(?:est morte?|mourut)~ à'],
  move_to: ['(?:zog|zieht)~ nach', 'se mud[aó]~ a', '(?:a déménagé|déménage)~ à'],
  found: ['(?:gründete|hat gegründet)~', 'fundó~', '(?:a fondé|fonda)~'],
  'found<': [',? (?:fue )?fundad[oa]~ por', ',? (?:a été )?fondée?~ par'],
  'lead<': [',? (?:está |fue )?dirigid[oa]~ por', ',? (?:est |était |sera )?(?:dirigée?|animée?|tenue?)~ par'],
  lead: ['(?:leitet|leitete|führt)~', '(?:dirige|dirigió|preside)~', '(?:dirige|a dirigé)~'],
  marry: [
    'heiratete~',
    '(?:se casó con|,? casad[oa] con)',
    "(?:s['’]est mariée? avec|est mariée? (?:à|avec)|a épousé)",
  ],
  write: ['schrieb~', 'escribió~', '(?:a écrit|écrivit)~'],
  'write<': ['(?:wurde )?von~ geschrieben', ',? (?:fue )?escrit[oa] por~', ',? (?:a été )?écrite? par~'],
  design: ['entwarf~', 'diseñó~', '(?:a conçu|a dessiné)~'],
  'design<': [',? entworfen von~', ',? (?:fue )?diseñad[oa] por~', ',? (?:a été )?(?:conçu|dessiné)e? par~'],
  buy: ['(?:kauft|kaufte)~', 'compró~', 'a acheté~'],
  visit: ['besuchte~', 'visitó~', 'a visité~'],
  meet: ['traf~', 'conoció a~', 'a rencontré~'],
  mayor_of: [', (?:der |die )?Bürgermeister(?:in)? von', ', alcald(?:e|esa) de', ', maire de'],
  president_of: [
    ', (?:der |die )?(?:Präsident|Vorsitzende)(?:in|r)? von',
    ',(?: el| la)? president[ea] de(?: la|l)?',
    ',(?: la)? présidente? d[eu]',
  ],
  director_of: [
    ', (?:der |die )?(?:Direktor|Leiter|Geschäftsführer)(?:in)? (?:von|der|des)',
    ',(?: el| la)? director[a]? de(?: la|l)?',
    ',(?: le| la)? direct(?:eur|rice) d[eu](?: la)?',
  ],
  author_of: [', (?:der |die )?Autor(?:in)? von', ',? (?:y )?autora? de~', ',? (?:et )?auteure? d[eu]~'],
  capital_of: [', (?:die )?Hauptstadt von', ', (?:la )?capital de', ', (?:la )?capitale d[eu](?: la)?'],
}).flatMap(([relation, forms]) =>
  forms.map((form): [string, RegExp] => [
    relation,
    new RegExp(`^(?:, (?:que|qui|quien)|,)? ?${form.replaceAll('~', FEW)} ?(?:["“«])?$`, 'u'),
  ]),
);

/** `La alcaldesa de Valdeluz, Teresa Montoya,`: an office before the place, and its holder behind a comma. */
const OFFICES: readonly (readonly [string, RegExp])[] = [
  ['mayor_of', /\b(?:Bürgermeister(?:in)? von|alcald(?:e|esa) de|maire de) $/iu],
  ['minister_of', /\b(?:ministr[oa] de|ministre d[eu](?: la)?) $/iu],
  ['president_of', /\b(?:Präsident(?:in)? von|president[ea] de(?: la|l)?|présidente? d[eu](?: la)?) $/iu],
  ['director_of', /\b(?:Direktor(?:in)? von|directora? de(?: la|l)?|direct(?:eur|rice) d[eu](?: la)?) $/iu],
  ['founder_of', /\b(?:Gründer(?:in)? von|fundadora? de|fondat(?:eur|rice) d[eu]) $/iu],
];

const TYPES_OF_TARGETS: readonly (readonly [EntityType, RegExp])[] = [
  ['Place', /^(?:live_in|born_in|died_in|move_to|mayor_of|capital_of|come_from|located_in)$/u],
  ['Organisation', /^(?:work_at|study_at|director_of)$/u],
];
const ACTS_OF_PERSONS = /^(?!capital_of|located_in|belong_to)/u;

/** Types that a relation gives to its ends; null where it tells nothing. */
export function typesOfEnds(relation: string): { source: EntityType | null; target: EntityType | null } {
  const target = TYPES_OF_TARGETS.find(([, expression]) => expression.test(relation))?.[0] ?? null;
  return { source: ACTS_OF_PERSONS.test(relation) ? 'Person' : null, target };
}

/** A preposition with its article in front of a name: the subject is named before it. */
export const GOVERNED =
  /(?<!\p{L})(?:in|an|auf|bei|von|vom|im|am|mit|für|aus|en|de|del|con|para|à|au|dans|du|avec|pour) (?:der |dem |den |la |el |las |los |le |les )?$/u;

/** Relations between neighbouring names of a German, Spanish or French sentence, by a closed list of words between them. */
export function foreignRelations(text: string, named: readonly Argument[]): FoundRelation[] {
  if (DENIED.test(text)) return [];
  const parts = named.filter(({ type }) => type !== 'Date');
  let subject: Argument | null = null;
  return parts.slice(0, -1).flatMap((before, at): FoundRelation[] => {
    const right = parts[at + 1] as Argument;
    const gap = text.slice(before.end, right.start);
    // `nació en Coyoacán y se casó con Diego`
    const isJoined = subject !== null && /^ (?:und|y|et) /u.test(gap);
    const left: Argument = isJoined && subject !== null ? subject : before;
    subject = left;
    const between = isJoined ? gap.replace(/^ \p{L}+/u, '') : gap;
    if (left.name === right.name || between.length > 60) return [];
    const office = between === ', ' && right.type === 'Person' ? officeBefore(text.slice(0, left.start)) : null;
    if (office !== null) return [{ source: right.name, relation: office, target: left.name }];
    const found = PATTERNS.find(([, expression]) => expression.test(between))?.[0];
    // `Die Werkstatt in der Hafenstraße gehört …`, `El hijo de Amparo vive en …`
    const isActing = found !== undefined && !/_of$|^located_in$|<$/u.test(found);
    if (found === undefined || ((isActing || found === 'belong_to') && GOVERNED.test(text.slice(0, left.start))))
      return [];
    const isTurned = found.endsWith('<');
    const [source, target] = isTurned ? [right, left] : [left, right];
    return [{ source: source.name, relation: isTurned ? found.slice(0, -1) : found, target: target.name }];
  });
}

const SUBJECT_PRONOUN =
  /^(?:(?:En|In|Im Jahr|Seit|Desde) \d{4},? )?(?:(?:puis|dann) )?(?:Er|Sie|Elle|Il|Él|Ella|elle|il|él|ella)(?= \p{Ll})/u;

/** Where a sentence begins with a pronoun of the third person; null when it does not. `Il y a`, `Il faut` mean nobody. */
export function foreignPronoun(text: string): { readonly start: number; readonly end: number } | null {
  const [opening] = SUBJECT_PRONOUN.exec(text) ?? [];
  if (
    opening === undefined ||
    /^ (?:y a|faut|pleut|est (?:possible|important|temps))\b/u.test(text.slice(opening.length))
  )
    return null;
  return { start: opening.lastIndexOf(' ') + 1, end: opening.length };
}

function officeBefore(text: string): string | null {
  return OFFICES.find(([, expression]) => expression.test(text))?.[0] ?? null;
}
