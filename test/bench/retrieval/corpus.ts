import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface BenchPassage {
  readonly title: string;
  readonly text: string;
}

export interface BenchQuestion {
  readonly id: string;
  readonly text: string;
  /** Positions of the supporting passages in the corpus. */
  readonly gold: readonly number[];
}

export interface BenchCorpus {
  readonly name: string;
  readonly passages: readonly BenchPassage[];
  readonly questions: readonly BenchQuestion[];
}

interface MusiqueQuestion {
  readonly id: string;
  readonly question: string;
  readonly paragraphs: readonly {
    readonly title: string;
    readonly paragraph_text: string;
    readonly is_supporting: boolean;
  }[];
}

interface HotpotQuestion {
  readonly _id?: string;
  readonly question: string;
  readonly supporting_facts: readonly (readonly [string, number])[];
}

/**
 * Reads `<folder>/<name>.json` and `<name>_corpus.json` in the format of HippoRAG: passages as a list of title and text,
 * or as one object title → sentences. A passage supports a question when title and text match a supporting paragraph.
 */
export async function readCorpus(folder: string, name: string): Promise<BenchCorpus> {
  const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(path.join(folder, file), 'utf8'));
  const passages = passagesOf(await read(`${name}_corpus.json`));
  const byText = new Map(passages.map((passage, at) => [`${passage.title}\n${passage.text}`, at]));
  const byTitle = new Map(passages.map((passage, at) => [passage.title, at]));
  const raw = (await read(`${name}.json`)) as readonly (MusiqueQuestion | HotpotQuestion)[];
  const questions = raw.map((question, at) => {
    const found =
      'paragraphs' in question
        ? question.paragraphs
            .filter((paragraph) => paragraph.is_supporting)
            .map((paragraph) => byText.get(`${paragraph.title}\n${paragraph.paragraph_text}`))
        : question.supporting_facts.map(([title]) => byTitle.get(title));
    const gold = [...new Set(found)].filter((position) => position !== undefined);
    if (gold.length === 0) throw new Error(`question ${at} of ${name} has no supporting passage in the corpus`);
    const id = ('id' in question ? question.id : question._id) ?? String(at);
    return { id, text: question.question, gold };
  });
  return { name, passages, questions };
}

function passagesOf(raw: unknown): readonly BenchPassage[] {
  if (Array.isArray(raw)) return raw as readonly BenchPassage[];
  return Object.entries(raw as Record<string, readonly string[]>).map(([title, sentences]) => ({
    title,
    text: sentences.join(''),
  }));
}
