import { slug } from '../../kernel/ids.ts';

const NON_ASCII = /[^\0-\x7f]/u;
const LATIN_MARKS = /[\u0300-\u036f]/gu;
/** Hebrew points, Arabic short vowels and tatweel: written or left out at will. */
const OPTIONAL_MARKS = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]/gu;
const LIGATURES = /[ßæœøđðłıþ]/gu;
const LIGATURE_SPELLING: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
};

/**
 * Lower case, compatibility forms unified (NFKC), Latin diacritics and optional vowel signs removed: `Ærøskøbing` →
 * `aeroskobing`, `ﬁ` → `fi`. Marks that carry meaning (Indic vowels, Japanese voicing) stay.
 */
export function fold(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(LATIN_MARKS, '')
    .replace(OPTIONAL_MARKS, '')
    .normalize('NFC')
    .replace(LIGATURES, (letter) => LIGATURE_SPELLING[letter] ?? letter);
}

/** Key of an entity's name: `Moby-Dick` and `Moby Dick`, `Zürich` and `Zurich` are one across documents. */
export function nameKey(name: string): string {
  return slug(
    fold(name.replaceAll('’', "'"))
      .replace(/(?<=\p{L})[-‐‑–](?=\p{L})/gu, ' ')
      .replace(/\s+/gu, ' ')
      .trim(),
  );
}
