import { fold } from '../language/fold.ts';
import { isFunctionWord, type OtherLanguage } from '../language/stop-words.ts';
import { EVERYDAY_TRANSLATIONS } from './everyday-translations.ts';
import { wordTable } from './word-table.ts';

type Language = OtherLanguage['language'];

/** Common words of German, Spanish and French, looked up without diacritics in any regular form. */
interface Translations {
  /** Returns the English word for a word of a language, or of any of them; null for an unknown word. */
  english(word: string, language?: Language): string | null;
  /** Whether a word is of another language and no common word of English. */
  isForeign(word: string): boolean;
  /** Words of the other languages for an English word. */
  foreign(english: string): readonly string[];
}

const LANGUAGES: readonly Language[] = ['de', 'es', 'fr'];
interface Endings {
  /** Of nouns and adjectives, behind the lemma or in place of its last vowel. */
  readonly nouns: readonly string[];
  /** Of verbs, in place of that of the lemma. */
  readonly verbs: readonly string[];
  readonly ofVerbs: RegExp;
  readonly ofNouns: RegExp;
}

const ENDINGS: Readonly<Record<Language, Endings>> = {
  de: {
    nouns: 'e,en,er,es,em,n,s,in,innen'.split(','),
    verbs: ',e,t,te,ten,test,st,et,ete,eten,est'.split(','),
    ofVerbs: /e?n$/u,
    ofNouns: /e$/u,
  },
  es: {
    nouns: 's,es,a,o,as,os'.split(','),
    verbs:
      'a,o,e,as,an,es,en,amos,emos,imos,ado,ada,ados,adas,ido,ida,idos,idas,ando,iendo,aba,aban,ia,ian,aron,ieron,aste,iste,io,ara,era,ira'.split(
        ',',
      ),
    ofVerbs: /[aei]r$/u,
    ofNouns: /[ao]$/u,
  },
  fr: {
    nouns: 's,x,e,es'.split(','),
    verbs: 's,e,es,ee,ees,ent,ons,ez,ait,aient,ais,a,ant,i,ie,ies,it,u,ue,era,erons'.split(','),
    ofVerbs: /(?:er|ir|re)$/u,
    ofNouns: /e$/u,
  },
};
const LONGEST_ENDING = Math.max(
  ...Object.values(ENDINGS).flatMap(({ nouns, verbs }) => [...nouns, ...verbs].map(({ length }) => length)),
);
const LONGEST_WORD = 40;
const MIN_STEM = 4;
/** Behind a stem of three letters. */
const LONG_ENDING = 3;

/** `l’entrepôt` */
const ELISION = /^(?:[ldsnmtcj]|qu)['’](?=\p{L}{3})/u;
/** Place by frequency in English from which on a word is rather one of another language: `casa`. */
const MIN_FOREIGN_RANK = 11_000;

let shared: Translations | undefined;

/** The translations that come with the program, read on first use. */
export function translations(): Translations {
  shared ??= readTranslations();
  return shared;
}

function readTranslations(): Translations {
  const byLanguage = LANGUAGES.map(() => ({
    lemmas: new Map<string, string>(),
    nouns: new Map<string, string>(),
    verbs: new Map<string, string>(),
  }));
  const byEnglish = new Map<string, string[]>();
  for (const line of EVERYDAY_TRANSLATIONS.trim().split('\n')) {
    const [english = '', ...others] = line.split(' | ');
    const known = byEnglish.get(english) ?? [];
    byEnglish.set(english, known);
    for (const [at, language] of LANGUAGES.entries()) {
      const { lemmas, nouns, verbs } = byLanguage[at] as (typeof byLanguage)[number];
      const { ofNouns, ofVerbs } = ENDINGS[language];
      for (const lemma of fold(others[at] ?? '').split(' ')) {
        known.push(lemma);
        setNew(lemmas, lemma, english);
        setNew(nouns, lemma, english);
        if (ofNouns.test(lemma)) setNew(nouns, lemma.replace(ofNouns, ''), english);
        if (ofVerbs.test(lemma)) setNew(verbs, lemma.replace(ofVerbs, ''), english);
      }
    }
  }
  /** Stems of all languages: most words have none of them. */
  const stems = new Set(byLanguage.flatMap(({ nouns, verbs }) => [...nouns.keys(), ...verbs.keys()]));
  const hasStem = (form: string): boolean => {
    const shortest = Math.max(MIN_STEM - 1, form.length - LONGEST_ENDING);
    for (let length = form.length; length >= shortest; length--) if (stems.has(form.slice(0, length))) return true;
    return stems.has(form);
  };
  const find = (word: string, language: Language): string | null => {
    const { lemmas, nouns, verbs } = byLanguage[LANGUAGES.indexOf(language)] as (typeof byLanguage)[number];
    const whole = lemmas.get(word);
    if (whole !== undefined || isFunctionWord(word)) return whole ?? null;
    const forms = language === 'de' && word.startsWith('ge') ? [word, word.slice(2)] : [word];
    const endings = ENDINGS[language];
    for (const form of forms) {
      for (let length = form.length; length >= Math.max(MIN_STEM - 1, form.length - LONGEST_ENDING); length--) {
        if (length < MIN_STEM && form.length - length < LONG_ENDING) continue;
        const stem = form.slice(0, length);
        const [noun, verb] = [nouns.get(stem), verbs.get(stem)];
        if (noun === undefined && verb === undefined) continue;
        const ending = form.slice(length);
        if (noun !== undefined && endings.nouns.includes(ending)) return noun;
        if (verb !== undefined && endings.verbs.includes(ending)) return verb;
      }
    }
    return null;
  };
  const english: Translations['english'] = (word, language) => {
    if (word.length > LONGEST_WORD) return null;
    const folded = fold(word).replace(ELISION, '');
    if (!hasStem(folded) && !(folded.startsWith('ge') && hasStem(folded.slice(2)))) return null;
    for (const one of language === undefined ? LANGUAGES : [language]) {
      const known = find(folded, one);
      if (known !== null) return known;
    }
    return null;
  };
  return {
    english,
    isForeign(word) {
      const row = wordTable().row(word);
      if (row < 0) return english(word) !== null;
      return wordTable().rank(row) >= MIN_FOREIGN_RANK && byLanguage.some(({ lemmas }) => lemmas.has(fold(word)));
    },
    foreign: (english) => byEnglish.get(english) ?? [],
  };
}

function setNew(words: Map<string, string>, word: string, english: string): void {
  if (!words.has(word)) words.set(word, english);
}
