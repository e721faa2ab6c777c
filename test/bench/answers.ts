/**
 * Measures answers without a model: `npm run bench:answers -- [nq] [everyday] [SAMPLE…] [--out report.json]
 * [--against report.json] [--show] [--type HYBRID_COMPLETION]`. A sample is a file of `samples/`. Builds the passages over HTTP, asks each
 * question and looks for the expected strings. `--out` keeps the outcome of each question, `--against` compares with one that
 * was kept (paired bootstrap), `--show` prints the answers that are wrong. Prints JSON.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SAMPLES } from './answer-cases.ts';
import { type BenchFile, fileNameOf, startBenchServer } from './bench-server.ts';
import { type Difference, pairedDifference, percent, quantile, round } from './paired.ts';

interface Question {
  readonly question: string;
  /** Any of them is right; empty: nothing in memory answers it. */
  readonly answers: readonly string[];
  /** What must not come before the right answer. */
  readonly not?: readonly string[];
  readonly kind?: string;
}

interface QuestionSet {
  readonly files: readonly BenchFile[];
  readonly questions: readonly Question[];
}

interface Outcome {
  readonly question: string;
  readonly kind: string;
  /** Within the first 160 characters, and before anything that must not come first. */
  readonly first160: boolean;
  readonly whole: boolean;
  readonly isRefused: boolean;
  readonly milliseconds: number;
}

const SETS = ['nq', 'everyday'] as const;
const FIRST = 160;
const REFUSAL = /nothing in memory answers/i;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: new URL('../../../shared/data', import.meta.url).pathname },
    out: { type: 'string' },
    against: { type: 'string' },
    show: { type: 'boolean', default: false },
    type: { type: 'string', default: 'HYBRID_COMPLETION' },
  },
});

async function readSet(name: string): Promise<QuestionSet> {
  const read = async (file: string | URL): Promise<unknown> =>
    JSON.parse(await readFile(typeof file === 'string' ? path.join(values.data, file) : file, 'utf8'));
  if (name === 'nq') {
    const { passages, questions } = (await read('answers/nq.json')) as {
      readonly passages: readonly { readonly title: string; readonly text: string }[];
      readonly questions: readonly Question[];
    };
    const files = passages.map(({ title, text }, at) => ({
      name: `${at}-${fileNameOf(title)}`,
      content: `# ${title}\n\n${text}\n`,
    }));
    return { files: files.map((file) => ({ ...file, name: file.name.replace(/\.txt$/u, '.md') })), questions };
  }
  if (SAMPLES.some((sample) => sample === name))
    return (await read(new URL(`samples/${name}.json`, import.meta.url))) as QuestionSet;
  const { corpus, questions } = (await read(`answers/${name}.json`)) as {
    readonly corpus: string;
    readonly questions: readonly Question[];
  };
  const memories = (await read(corpus)) as readonly { readonly title: string; readonly content: string }[];
  const files = memories.map(({ title, content }, at) => ({
    name: `${String(at + 1).padStart(2, '0')}-${title.replace(/[^\w]+/gu, '-')}.md`,
    content: `# ${title}\n\n${content}\n`,
  }));
  return { files, questions };
}

function judge(question: Question, answer: string, milliseconds: number): Outcome {
  const text = answer.toLowerCase();
  const at = (wanted: string) => {
    const found = text.indexOf(wanted.toLowerCase());
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  };
  const isRefused = REFUSAL.test(answer);
  const right = Math.min(Number.POSITIVE_INFINITY, ...question.answers.map(at));
  const isClean = !(question.not ?? []).some((wrong) => at(wrong) < right);
  const isUnanswerable = question.answers.length === 0;
  return {
    question: question.question,
    kind: question.kind ?? 'question',
    first160: isUnanswerable ? isRefused : right + 1 <= FIRST && isClean,
    whole: isUnanswerable ? isRefused : Number.isFinite(right) && isClean,
    isRefused,
    milliseconds,
  };
}

function textOf(found: unknown): string {
  if (typeof found === 'string') return found;
  if (Array.isArray(found)) return found.map(textOf).join(' | ');
  if (typeof found !== 'object' || found === null) return '';
  const { search_result: result, text, answer } = found as Record<string, unknown>;
  return textOf(result ?? text ?? answer ?? Object.values(found));
}

const summary = (outcomes: readonly Outcome[]) => ({
  questions: outcomes.length,
  first160: percent(outcomes.map(({ first160 }) => Number(first160))),
  whole: percent(outcomes.map(({ whole }) => Number(whole))),
});

const kept: Record<string, readonly Outcome[]> = {};
const report: Record<string, unknown> = {};
const before =
  values.against === undefined ? null : (JSON.parse(await readFile(values.against, 'utf8')) as typeof kept);
for (const name of positionals.length > 0 ? positionals : SETS) {
  const { files, questions } = await readSet(name);
  await using server = await startBenchServer();
  await server.upload(name, files);
  await server.post('/cognify', { datasets: [name] });
  const outcomes: Outcome[] = [];
  for (const question of questions) {
    const start = performance.now();
    const body = { query: question.question, searchType: values.type, datasets: [name] };
    const answer = textOf(await server.post('/search', body));
    const outcome = judge(question, answer, performance.now() - start);
    outcomes.push(outcome);
    if (values.show && !outcome.first160) {
      process.stderr.write(
        `${outcome.kind}: ${question.question}\n   ${answer.replace(/\s+/gu, ' ').slice(0, 220)}\n   expected: ${question.answers[0] ?? 'a refusal'}\n`,
      );
    }
  }
  kept[name] = outcomes;
  const answerable = outcomes.filter((_, at) => questions[at]?.answers.length !== 0);
  const times = outcomes.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const former = before?.[name];
  const versus: Record<string, Difference> =
    former === undefined
      ? {}
      : {
          first160: pairedDifference(
            outcomes.map(({ first160 }) => Number(first160)),
            former.map(({ first160 }) => Number(first160)),
          ),
          whole: pairedDifference(
            outcomes.map(({ whole }) => Number(whole)),
            former.map(({ whole }) => Number(whole)),
          ),
        };
  report[name] = {
    ...summary(outcomes),
    refusedAnswerable: percent(answerable.map(({ isRefused }) => Number(isRefused))),
    byKind: Object.fromEntries([...Map.groupBy(outcomes, ({ kind }) => kind)].map(([kind, of]) => [kind, summary(of)])),
    p50Ms: round(quantile(times, 0.5)),
    p95Ms: round(quantile(times, 0.95)),
    ...(former === undefined ? {} : { versus }),
  };
}
if (values.out !== undefined) await writeFile(values.out, JSON.stringify(kept));
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
