import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const data = process.env['ENGRAM_BENCH_DATA'] ?? join(import.meta.dirname, '../../../shared/data');

/** Sentences of a novel and of encyclopedia articles, in ../shared/data or ENGRAM_BENCH_DATA. */
export function readSentences(): readonly string[] {
  const read = (file: string) => JSON.parse(readFileSync(join(data, file), 'utf8')) as unknown;
  const chapters = read('corpora/moby-dick.json') as readonly { readonly content: string }[];
  const hotpot = read('retrieval/hotpotqa_train_corpus.json') as Readonly<Record<string, readonly string[]>>;
  const musique = read('retrieval/musique_train_corpus.json') as readonly { readonly text: string }[];
  return [
    ...chapters.map(({ content }) => content),
    ...Object.values(hotpot).map((parts) => parts.join('')),
    ...musique.map(({ text }) => text),
  ]
    .flatMap((text) => text.split(/(?<=[.!?])\s+/))
    .filter((text) => text.length > 40)
    .map((text) => text.slice(0, 200));
}

/** Six words each of distant sentences, so that one question rarely warms caches for the next. */
export function questionsOf(sentences: readonly string[], count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) =>
    (sentences[((from + at) * 611_953) % sentences.length] ?? '').split(/\s+/).slice(2, 8).join(' '),
  );
}
