import { recentlyUsed } from '../../kernel/recently-used.ts';
import { fold } from '../language/fold.ts';
import type { OtherLanguage } from '../language/stop-words.ts';
import { EVERYDAY_TRANSLATIONS } from './everyday-translations.ts';
import { wordTable } from './word-table.ts';

type Language = OtherLanguage['language'];

/** Common words of German, Spanish and French, looked up without diacritics in any regular form. */
export interface Translations {
  /** Returns the English word for a word of a language, or of any of them; null for an unknown word. */
  english(word: string, language?: Language): string | null;
  /** Whether a word is of another language and no common word of English. */
  isForeign(word: string): boolean;
  /** Words of the other languages for an English word. */
  foreign(english: string): readonly string[];
}

const LANGUAGES: readonly Language[] = ['de', 'es', 'fr'];
/** Endings of inflected forms. */
const ENDINGS: Readonly<Record<Language, readonly string[]>> = {
  de: 'e,en,er,es,em,n,s,t,te,ten,test,st,et,ete,eten,est,in,innen'.split(','),
  es: 's,es,a,o,e,as,os,an,en,amos,emos,imos,ado,ada,ados,adas,ido,ida,idos,idas,ando,iendo,aba,aban,ia,ian,aron,ieron,aste,iste,io,ar,er,ir,ara,era,ira'.split(
    ',',
  ),
  fr: 's,x,e,es,ee,ees,ent,ons,ez,er,ir,re,ait,aient,ais,a,ant,i,ie,ies,is,it,u,ue,era,erons'.split(','),
};
/** Endings of lemmas that other forms are without. */
const OF_LEMMAS: Readonly<Record<Language, RegExp>> = {
  de: /e?n$|e$/u,
  es: /(?:[aei]r|[ao])$/u,
  fr: /(?:er|ir|re|e)$/u,
};
/** `l’entrepôt` */
const ELISION = /^(?:[ldsnmtcj]|qu)['’](?=\p{L}{3})/u;
/** Place by frequency in English from which on a word is rather one of another language: `casa`. */
const MIN_FOREIGN_RANK = 11_000;
const MIN_STEM = 3;
const CACHED_WORDS = 4_000;

let shared: Translations | undefined;

/** The translations that come with the program, read on first use. */
export function translations(): Translations {
  shared ??= readTranslations();
  return shared;
}

function readTranslations(): Translations {
  const byLanguage = LANGUAGES.map(() => ({ lemmas: new Map<string, string>(), stems: new Map<string, string>() }));
  const byEnglish = new Map<string, string[]>();
  for (const line of EVERYDAY_TRANSLATIONS.trim().split('\n')) {
    const [english = '', ...others] = line.split(' | ');
    const known = byEnglish.get(english) ?? [];
    byEnglish.set(english, known);
    for (const [at, language] of LANGUAGES.entries()) {
      const { lemmas, stems } = byLanguage[at] as (typeof byLanguage)[number];
      for (const lemma of fold(others[at] ?? '').split(' ')) {
        const stem = lemma.replace(OF_LEMMAS[language], '');
        known.push(lemma);
        if (!lemmas.has(lemma)) lemmas.set(lemma, english);
        if (stem.length >= MIN_STEM && !stems.has(stem)) stems.set(stem, english);
      }
    }
  }
  const find = (word: string, language: Language): string | null => {
    const { lemmas, stems } = byLanguage[LANGUAGES.indexOf(language)] as (typeof byLanguage)[number];
    const whole = lemmas.get(word);
    if (whole !== undefined) return whole;
    const forms = language === 'de' && word.startsWith('ge') ? [word, word.slice(2)] : [word];
    for (const form of forms) {
      for (let length = form.length; length >= MIN_STEM; length--) {
        if (length < form.length && !ENDINGS[language].includes(form.slice(length))) continue;
        const stem = form.slice(0, length);
        const english = (length < form.length ? lemmas.get(stem) : undefined) ?? stems.get(stem);
        if (english !== undefined) return english;
      }
    }
    return null;
  };
  const found = new Map<string, string | null>();
  const english: Translations['english'] = (word, language) => {
    const folded = fold(word).replace(ELISION, '');
    return recentlyUsed(found, CACHED_WORDS, `${language ?? ''} ${folded}`, () => {
      for (const one of language === undefined ? LANGUAGES : [language]) {
        const known = find(folded, one);
        if (known !== null) return known;
      }
      return null;
    });
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
