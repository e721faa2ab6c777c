import { FOREIGN_KIN, FOREIGN_KIN_OF_SEVERAL, FOREIGN_PETS } from './kin-words.ts';

/** Translates statements of a speaker about itself from German, Spanish or French into the words of the English rules. */
interface OwnStatement {
  /** `live_in`; label of the relation in the graph. */
  readonly relation: string;
  /** The same sentence in English: `I now live in Berlin`. */
  readonly english: string;
  readonly value: string;
}

const WORD = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}&.'’-]*[\p{L}\p{M}\p{N}])?`;
const VALUE = `(?<value>${WORD}(?: ${WORD}){0,4}?)`;
const NOW = '(?<now>jetzt |nun |inzwischen |ahora |actualmente |maintenant |désormais |actuellement )?';
const SINCE = String.raw`(?:(?:seit|desde|depuis) (?<since>\d{4}) )?`;
const END = String.raw`(?<tail> (?:jetzt|ahora|maintenant|désormais))?(?:,? (?:seit|desde|depuis) (?<late>\d{4}))?(?=[.!,;]|$| (?:und|y|e|et|aber|pero|mais)\b)`;
const KIN = new Map([...FOREIGN_KIN, ...FOREIGN_PETS]);
/** Also of several, in front of a list of names. */
const KIN_BEFORE_NAMES = new Map([...KIN, ...FOREIGN_KIN_OF_SEVERAL]);
const OWN_KIN = new RegExp(
  `^(?:Mein|Meine|Mi|Mon|Ma) (?<kin>${[...KIN.keys()].join('|')}) (?:heißt|se llama|s['’]appelle) ${VALUE}${END}`,
  'iu',
);

const RELATIVES = new RegExp(
  `(?<!\\p{L})(?:meine?[mnr]?|unsere?[mnr]?|mis?|nuestr[oa]s?|mon|ma|mes|notre|nos) (${[...KIN_BEFORE_NAMES.keys()].join('|')}) (?=\\p{Lu})`,
  'giu',
);

/** Returns the relatives that a text names beside their word, as in `notre fille Chloé`, with where the name begins. */
export function ownRelatives(text: string): { readonly relation: string; readonly end: number }[] {
  return [...text.matchAll(RELATIVES)].flatMap(({ 0: words, 1: kin = '', index }) => {
    const relation = KIN_BEFORE_NAMES.get(kin.toLowerCase());
    return relation === undefined ? [] : [{ relation, end: index + words.length }];
  });
}

const say = (before: string, after = '') => `${before}${VALUE}${after}${END}`;
const PATTERNS = [
  ...each('live_in', [
    say('Ich (?:wohne|lebe) ~in '),
    say('(?:Yo )?(?:[Vv]ivo) ~en '),
    say('(?:Ahora|Actualmente) vivo en '),
    say("(?:J['’]habite|Je vis) ~(?:à|en|au) "),
  ]),
  ...each('move_to', [
    say('Ich bin ~nach ', ' (?:um)?gezogen'),
    say('(?:Yo )?[Mm]e mudé a '),
    say("J['’]ai déménagé (?:à|en|au) "),
  ]),
  ...each('work_at', [
    say('Ich arbeite ~bei '),
    say('(?:Yo )?[Tt]rabajo ~(?:en|para) '),
    say('(?:Ahora|Actualmente) trabajo en '),
    say('Je travaille ~(?:chez|pour) '),
  ]),
  ...each('study_at', [
    say('Ich studiere ~an der '),
    say('(?:Yo )?[Ee]studio ~en (?:la )?'),
    say("J['’]étudie ~à (?:l['’])?(?:la )?"),
  ]),
  ...each('born_in', [
    say('Ich (?:bin|wurde) in ', ' geboren'),
    say('(?:Yo )?[Nn]ací en '),
    say('Je suis née? (?:à|en|au) '),
  ]),
  ...each('prefer', [
    say('Ich bevorzuge ~'),
    say('(?:Yo )?[Pp]refiero ~(?:el |la )?'),
    say('Je préfère ~(?:le |la |les )?'),
  ]),
  ...each('like', [
    say('Ich (?:mag|liebe) '),
    say('Me gustan? (?:el |la |los |las )?'),
    say("J['’]aime (?:le |la |les )?"),
  ]),
  ...each('married_to', [
    say('Ich bin ~mit ', ' verheiratet'),
    say('Estoy ~casad[oa] con '),
    say('Je suis ~mariée? (?:à|avec) '),
  ]),
];

function each(relation: string, sentences: readonly string[]) {
  return sentences.map((sentence) => ({
    relation,
    expression: new RegExp(`^${sentence.replaceAll('~', `${NOW}${SINCE}`)}`, 'u'),
  }));
}

/** Whole words: the patterns take long, and many an English sentence begins with `Many` or `Michael`. */
const CUE = /^(?:(?:Ich|Meine?|Yo|Vivo|Ahora|Actualmente|Me|Trabajo|Estudio|Nací|Prefiero|Estoy|Mi|Je|Mon|Ma) |J['’])/u;
const DENIED = /\b(?:nicht|kein\p{L}*|nie|no|nunca|pas|jamais|würde|möchte|quisiera|voudrais)\b/u;
const ENGLISH: Readonly<Record<string, string>> = {
  live_in: 'live in',
  move_to: 'moved to',
  work_at: 'work at',
  study_at: 'study at',
  born_in: 'was born in',
  prefer: 'prefer',
  like: 'like',
  married_to: 'am married to',
};

/** Returns null for any other sentence, and for what is denied, wished or asked. */
export function ownStatement(sentence: string): OwnStatement | null {
  if (!CUE.test(sentence) || sentence.endsWith('?') || DENIED.test(sentence)) return null;
  const kin = OWN_KIN.exec(sentence)?.groups;
  if (kin !== undefined) {
    const relation = KIN.get(kin['kin']?.toLowerCase() ?? '') ?? '';
    return { relation, english: `My ${relation} is ${kin['value']}`, value: kin['value'] ?? '' };
  }
  for (const { relation, expression } of PATTERNS) {
    const groups = expression.exec(sentence)?.groups;
    if (groups === undefined) continue;
    const { value = '', now, since, tail, late } = groups;
    const isNow = now !== undefined || tail !== undefined || /^(?:Ahora|Actualmente) /u.test(sentence);
    const from = since ?? late;
    const adverb = isNow && !/^(?:am|was|moved)/u.test(ENGLISH[relation] ?? '') ? 'now ' : '';
    return { relation, value, english: `I ${adverb}${ENGLISH[relation]} ${value}${from ? ` since ${from}` : ''}` };
  }
  return null;
}
