import { fold } from '../../common/text/language/fold.ts';
import { OTHER_LANGUAGES, type OtherLanguage } from '../../common/text/language/stop-words.ts';
import { languageOfQuery } from '../../common/text/language/tokenize.ts';
import { translations } from '../../common/text/words/translations.ts';

/** How questions of a language are said in English: phrases in folded lower case first, then words. */
interface Wording {
  readonly phrases: readonly (readonly [RegExp, string])[];
  /** By the English word: those of the language. Its other function words say nothing about what is asked. */
  readonly words: Readonly<Record<string, string>>;
}

const WORDINGS: Readonly<Record<OtherLanguage['language'], Wording>> = {
  de: {
    phrases: [
      [/\bum wie ?viel uhr\b/gu, 'at what time'],
      [/\bwie viele[rnms]?\b/gu, 'how many'],
      [/\bwie ?viel\b|\bwie (?:hoch|teuer)\b/gu, 'how much'],
      [/\bwie (?:lange?|gross)\b/gu, 'how long'],
      [/\bwie alt\b/gu, 'how old'],
      [/\b(?:wie|was) (?:heisst|heissen|hiess|hiessen)\b/gu, 'what is the name of'],
      [/\bwie lautet\b/gu, 'what is'],
    ],
    words: {
      where: 'wo woher wohin',
      who: 'wer',
      whom: 'wen wem',
      whose: 'wessen',
      how: 'wie',
      when: 'wann',
      why: 'warum wieso weshalb',
      what: 'was wogegen womit wofur wovon woran worauf woruber wozu wodurch',
      which: 'welche welcher welches welchen welchem',
      is: 'ist',
      are: 'sind bin bist',
      was: 'war wurde',
      were: 'waren wurden',
      has: 'hat',
      have: 'habe haben',
      had: 'hatte hatten',
      will: 'wird werden',
      I: 'ich mich mir',
      we: 'wir uns',
      he: 'er',
      my: 'mein meine meinen meinem meiner',
      our: 'unser unsere unseren unserem unserer',
      his: 'sein seine',
      the: 'der die das den dem',
      of: 'des von vom',
      and: 'und',
    },
  },
  fr: {
    phrases: [
      [/\bcomment s'?appell?ent?\b|\bcomment s'appelle(?:nt)?\b/gu, 'what is the name of'],
      [/\bcombien d(?:e\b|')/gu, 'how many '],
      [/\bcombien\b/gu, 'how much'],
      [/\ba quelle heure\b/gu, 'at what time'],
      [/\bqu'est-ce (?:que?|qui)\b/gu, 'what'],
      [/\best-ce qu(?:e\b|')/gu, ''],
      [/^ou\b/gu, 'where'],
      [/^(?:a|de|avec|pour) qui\b/gu, 'whom'],
      [/\b(\p{L}+)-(?:t-)?(?:ils?|elles?|je|tu|on|nous|vous)\b/gu, '$1'],
      [/\bmachine a laver\b/gu, 'lave-linge'],
      [/\b(?:[ldsnmtcj]|qu)'/gu, ''],
    ],
    words: {
      who: 'qui',
      what: 'que quoi quel quelle',
      which: 'quels quelles',
      when: 'quand',
      why: 'pourquoi',
      how: 'comment',
      is: 'est',
      are: 'sont suis',
      was: 'etait fut',
      were: 'etaient',
      has: 'a',
      have: 'ai ont',
      had: 'avait',
      I: 'je me moi',
      we: 'nous',
      he: 'il',
      she: 'elle',
      my: 'mon ma mes',
      our: 'notre nos',
      his: 'son sa ses',
      the: 'le la les',
      of: 'de du des',
      and: 'et',
    },
  },
  es: {
    phrases: [
      [/\bcomo se llaman?\b/gu, 'what is the name of'],
      [/\bcuant[oa]s\b/gu, 'how many'],
      [/\bcuant[oa]\b/gu, 'how much'],
      [/\ba que hora\b/gu, 'at what time'],
      [/\bpor que\b/gu, 'why'],
      [/\b(?:a|con|de|para) quien\b/gu, 'whom'],
    ],
    words: {
      where: 'donde adonde',
      who: 'quien quienes',
      what: 'que cual',
      which: 'cuales',
      when: 'cuando',
      how: 'como',
      is: 'es esta',
      are: 'son soy estan estoy',
      was: 'era fue',
      were: 'eran fueron',
      has: 'ha',
      have: 'he han',
      I: 'yo me',
      we: 'nosotros nos',
      she: 'ella',
      my: 'mi mis',
      our: 'nuestro nuestra',
      his: 'su sus',
      the: 'el la las los lo',
      of: 'de del',
      and: 'y',
    },
  },
};

const englishBy = (language: OtherLanguage['language']): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(WORDINGS[language].words).flatMap(([english, own]) =>
      own.split(' ').map((word) => [word, english] as const),
    ),
  );
const ENGLISH = { de: englishBy('de'), es: englishBy('es'), fr: englishBy('fr') };

/**
 * Says a German, French or Spanish question in English, word by word; null for another one, and when no word of its subject is
 * known. `isName`: tells the words that the texts write with a capital, which stay as they are.
 */
export function inEnglish(query: string, isName: (word: string) => boolean): string | null {
  if (query.length > MAX_QUESTION) return null;
  const language = languageOfQuery(query) ?? languageByWords(query);
  if (language === null) return null;
  const { phrases } = WORDINGS[language.language];
  const own = ENGLISH[language.language];
  const capitals = new Set((query.match(/\p{Lu}\p{L}*/gu) ?? []).map(fold));
  const names = new Map((query.match(WORD) ?? []).filter(isName).map((word) => [fold(word), word]));
  const bare = fold(query.replace(BORN, 'naissance')).replace(/’/gu, "'");
  let isKnown = false;
  const said = phrases
    .reduce((text, [phrase, english]) => text.replace(phrase, english), bare)
    .replace(WORD, (word) => {
      const name = names.get(word);
      if (name !== undefined) return name;
      if (SAID.has(word)) return word;
      if (own.has(word)) return own.get(word) ?? '';
      if (language.all.has(word)) return '';
      const english = englishWords(word, language.language);
      if (english !== null) isKnown = true;
      // Of German only nouns are capitalised: a verb or its prefix may go unknown.
      return english ?? (language.language === 'de' && !capitals.has(word) ? '' : word);
    });
  return isKnown ? said.replace(/[¿¡]/gu, '').replace(/\s+/gu, ' ').replace(/\s+\?/gu, '?').trim() : null;
}

/** Returns the language that has all words of a query, when one of them is no English word: `Was war die Ursache?` */
function languageByWords(query: string): OtherLanguage | null {
  const words = query.toLowerCase().match(WORD) ?? [];
  const { english, isForeign } = translations();
  if (!words.some(isForeign)) return null;
  return (
    OTHER_LANGUAGES.find(({ language, all }) =>
      words.every((word) => all.has(fold(word)) || english(word, language) !== null),
    ) ?? null
  );
}

/** `né`, which is written like `ne` without its accent. */
const BORN = /(?<!\p{L})née?s?(?!\p{L})/giu;
const WORD = /\p{L}+(?:-\p{L}+)*/gu;
/** Characters of a question; more is a pasted text. */
const MAX_QUESTION = 500;
/** Words of the English phrases above. */
const SAID = new Set('what is the name of how many much at time long old where whom why'.split(' '));
/** Minimum length of a part of a compound. */
const MIN_PART = 4;

/** Returns the English word for a word, those for the parts of a German compound, or null. */
function englishWords(word: string, language: OtherLanguage['language']): string | null {
  const { english } = translations();
  const whole = english(word, language);
  if (whole !== null || language !== 'de') return whole;
  // The longer the second part, the more of the meaning is sure.
  for (let at = MIN_PART; at <= word.length - MIN_PART; at++) {
    const second = english(word.slice(at), language);
    const first = second === null ? null : english(word.slice(0, at), language);
    if (first !== null) return `${first} ${second}`;
  }
  return null;
}
