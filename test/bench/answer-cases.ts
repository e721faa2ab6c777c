/** Questions with the passages that search finds for them: what the weights of answers are learned from. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { STOP_WORDS } from '../../services/common/text/language/stop-words.ts';
import { stemOf } from '../../services/common/text/language/tokenize.ts';
import { wordTable } from '../../services/common/text/words/word-table.ts';
import type { ReadPassage } from '../../services/search/answers/rank-sentences.ts';
import { type BenchFile, fileNameOf, startBenchServer } from './bench-server.ts';

interface Asked {
  readonly question: string;
  readonly answers: readonly string[];
  readonly kind?: string;
}

export interface Case extends Asked {
  readonly passages: readonly ReadPassage[];
}

/** Notes of invented people and groups, written for this project. */
export const LEARNED = [
  'notes',
  'journal',
  'school',
  'diary',
  'household',
  'team',
  'boatyard',
  'laboratory',
  'bakery',
  'club',
  'vineyard',
  'newsroom',
  'expedition',
  'manual',
] as const;
/** Nothing is learned from these. */
export const HELD_OUT = ['logbook', 'practice', 'theatre', 'ward', 'depot', 'renovation'] as const;
/** Notes in German, Spanish and French, of which nothing is learned from the second. */
export const FOREIGN = ['languages', 'abroad'] as const;
export const SAMPLES = [...LEARNED, ...HELD_OUT, ...FOREIGN] as const;

export interface Cases extends Readonly<Record<(typeof SAMPLES)[number], readonly Case[]>> {
  /** Of `answers/everyday.json`. */
  readonly everyday: readonly Case[];
  /** Of `samples/memories.json`: other questions about the same memories. */
  readonly memories: readonly Case[];
  /** Of `answers/nq.json`: Natural Questions. */
  readonly nq: readonly Case[];
  /** The same in the same order, each with one word replaced by one of like meaning; null when it has no such word. */
  readonly reworded: readonly (Case | null)[];
}

const DATA = new URL('../../../shared/data/', import.meta.url);
const PASSAGES = 10;
/** Minimum cosine of a word and the one that replaces it. */
const NEAR = 0.6;

/** Returns the cases kept in `file`; finds and keeps those that it lacks. */
export async function readCases(file: string | undefined): Promise<Cases> {
  const kept: Partial<Cases> = file !== undefined && existsSync(file) ? read(file) : {};
  const samples: Record<string, readonly Case[]> = {};
  for (const name of SAMPLES) {
    if (kept[name] !== undefined) continue;
    const { files, questions } = read(new URL(`samples/${name}.json`, import.meta.url));
    samples[name] = await findPassages(name, files, questions);
  }
  const cases = { ...kept, ...samples, ...(kept.nq === undefined ? await findOthers() : {}) } as Cases;
  if (file !== undefined) await writeFile(file, JSON.stringify(cases));
  return cases;
}

async function findOthers(): Promise<Omit<Cases, (typeof SAMPLES)[number]>> {
  const memories = read(new URL('samples/memories.json', import.meta.url));
  const everyday = read(new URL('answers/everyday.json', DATA));
  const nq = read(new URL('answers/nq.json', DATA));
  const reword = rewording(nq.passages.map(({ text }: { readonly text: string }) => text));
  const reworded: readonly (Asked | null)[] = nq.questions.map(reword);
  const asked = [...nq.questions, ...reworded.filter((one) => one !== null)];
  const found = await findPassages('nq', nq.passages.map(page), asked);
  const told = await findPassages('everyday', read(new URL(everyday.corpus, DATA)).map(page), [
    ...everyday.questions,
    ...memories,
  ]);
  let next = nq.questions.length;
  return {
    everyday: told.slice(0, everyday.questions.length),
    memories: told.slice(everyday.questions.length),
    nq: found.slice(0, next),
    reworded: reworded.map((one) => (one === null ? null : (found[next++] ?? null))),
  };
}

export const contains = (text: string, answers: readonly string[]) =>
  answers.some((answer) => text.toLowerCase().includes(answer.toLowerCase()));

const read = (file: string | URL) => JSON.parse(readFileSync(file, 'utf8'));

function page({ title, text, content }: Readonly<Record<string, string>>, at: number): BenchFile {
  return {
    name: `${at}-${fileNameOf(title ?? '').replace(/\.txt$/u, '.md')}`,
    content: `# ${title}\n\n${text ?? content}\n`,
  };
}

interface Found {
  readonly id: string;
  readonly text: string;
  readonly document_name: string;
  readonly chunk_index: number;
}

async function findPassages(dataset: string, files: readonly BenchFile[], asked: readonly Asked[]) {
  await using server = await startBenchServer();
  await server.upload(dataset, files);
  await server.post('/cognify', { datasets: [dataset] });
  const cases: Case[] = [];
  for (const one of asked) {
    const body = { query: one.question, searchType: 'CHUNKS', datasets: [dataset], topK: PASSAGES };
    const [found] = (await server.post('/search', body)) as readonly { readonly search_result: readonly Found[] }[];
    cases.push({ ...one, passages: (found?.search_result ?? []).map(passageOf) });
  }
  return cases;
}

function passageOf({ id, text, ...chunk }: Found): ReadPassage {
  const payload = { text, documentName: chunk.document_name, headings: [], chunkIndex: chunk.chunk_index };
  return { id, payload } as unknown as ReadPassage;
}

/** Replaces the word of a question that has the nearest other word of the texts; names stay. */
function rewording(texts: readonly string[]): (asked: Asked) => Asked | null {
  const table = wordTable();
  const counts = new Map<string, number>();
  for (const [word] of texts.join('\n').matchAll(/\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const isOrdinary = (word: string) =>
    word.length > 3 &&
    !STOP_WORDS.has(word) &&
    (counts.get(word) ?? 0) > (counts.get(`${word[0]?.toUpperCase()}${word.slice(1)}`) ?? 0);
  const others = [...counts.keys()].filter((word) => isOrdinary(word) && table.row(word) >= 0);
  const nearest = (word: string) => {
    const vector = table.find(word)?.vector;
    let best = { word: '', cosine: 0 };
    if (vector === undefined || !isOrdinary(word)) return best;
    const stem = stemOf(word);
    for (const other of others) {
      const cosine = table.cosine(vector, table.row(other));
      if (cosine > best.cosine && stemOf(other) !== stem) best = { word: other, cosine };
    }
    return best;
  };
  return (asked) => {
    const words = asked.question.toLowerCase().match(/\p{L}+/gu) ?? [];
    const [best] = words.map((word) => ({ word, by: nearest(word) })).toSorted((a, b) => b.by.cosine - a.by.cosine);
    if (best === undefined || best.by.cosine < NEAR) return null;
    return {
      ...asked,
      question: asked.question.toLowerCase().replace(new RegExp(`\\b${best.word}\\b`, 'u'), best.by.word),
    };
  };
}
