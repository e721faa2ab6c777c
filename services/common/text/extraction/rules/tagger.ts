import { createRequire } from 'node:module';
import type { Model, WinkMethods } from 'wink-nlp';
import { isOffice } from './type-words.ts';

/** A word of a sentence with its part of speech (Universal Dependencies tags) and place in the sentence. */
export interface TaggedWord {
  readonly text: string;
  readonly lemma: string;
  readonly pos: string;
  readonly start: number;
  readonly end: number;
}

export type Tagger = (sentence: string) => readonly TaggedWord[];

/** Runs without a blank cost wink-nlp time by the square of their length, and are no words: it sees a placeholder. */
const ENDLESS_RUN = /(?<!\S)\S{80,}/g;

/** wink-nlp with its English model: 0.2 s and 67 MB to load, at the first sentence, then about 700,000 words a second. */
export function createTagger(): Tagger {
  let nlp: WinkMethods | undefined;
  return (sentence) => {
    nlp ??= loadWink();
    const { its } = nlp;
    const tokens = nlp.readDoc(sentence.replace(ENDLESS_RUN, (run) => 'x'.repeat(run.length))).tokens();
    const values = tokens.out(its.value) as unknown as readonly string[];
    const spaces = tokens.out(its.precedingSpaces) as unknown as readonly string[];
    const tags = tokens.out(its.pos) as unknown as readonly string[];
    const lemmas = tokens.out(its.lemma as unknown as typeof its.value) as unknown as readonly string[];
    let at = 0;
    const words = values.map((text, index) => {
      const start = at + (spaces[index]?.length ?? 0);
      at = start + text.length;
      return { text, lemma: lemmas[index] ?? text, pos: tags[index] ?? 'X', start, end: at };
    });
    return words.map((word, at) => {
      if (isOffice(word.text)) return { ...word, pos: 'NOUN', lemma: word.text.toLowerCase() };
      return isVerbOfSubject(words, at) ? { ...word, pos: 'VERB', lemma: verbLemma(word.text) } : word;
    });
  };
}

/** Verbs that the model takes for plural nouns behind a subject: `Ada lives in Oslo.` */
const NOUN_LIKE_VERBS = new Set(
  `answers bakes calls changes chairs climbs collects cooks costs dances deals designs drinks drives edits farms fishes flies
  funds hikes hosts hunts lectures lives loans mentors moves offers orders paints photographs plans plants practices
  programs ranks reports researches rides sails sketches studies supports tests tours trades trains travels visits
  volunteers votes walks wishes`.split(/\s+/u),
);
const OBJECT_TAGS = new Set(['ADJ', 'ADP', 'ADV', 'DET', 'NOUN', 'NUM', 'PRON', 'PROPN']);
const CLAUSE_END_TAGS = new Set(['CCONJ', 'PUNCT', 'SCONJ']);

/** Whether the word is the verb of a whole sentence's clause that has no other, behind a name or `my brother`. */
function isVerbOfSubject(words: readonly TaggedWord[], at: number): boolean {
  const [word, before, next] = [words[at], words[at - 1], words[at + 1]];
  if (word?.pos !== 'NOUN' || !NOUN_LIKE_VERBS.has(word.text) || !OBJECT_TAGS.has(next?.pos ?? '')) return false;
  const hasOwner = before?.pos === 'NOUN' && /^(?:my|our|his|her|their|your)$/iu.test(words[at - 2]?.text ?? '');
  if (!(before?.pos === 'PROPN' || hasOwner) || !/^[.!?]$/u.test(words.at(-1)?.text ?? '')) return false;
  for (let other = at + 1; other < words.length; other++) {
    const { pos = '', text = '' } = words[other] ?? {};
    if (CLAUSE_END_TAGS.has(pos)) return true;
    const isVerb = pos === 'AUX' || (pos === 'VERB' && !text.endsWith('ing') && words[other - 1]?.text !== 'to');
    if (isVerb) return false;
  }
  return true;
}

/** `lives` → `live`, `studies` → `study` */
function verbLemma(text: string): string {
  return text
    .replace(/ies$/u, 'y')
    .replace(/(?<=[cs]h)es$/u, '')
    .replace(/(?<=\p{L}{2}[^s])s$/u, '');
}

function loadWink(): WinkMethods {
  const require = createRequire(import.meta.url);
  const create = require('wink-nlp') as (model: Model, pipe: string[]) => WinkMethods;
  return create(require('wink-eng-lite-web-model') as Model, ['pos']);
}
