/**
 * Learns the weights of answers without a model: `npm run train:answers -- [--cases cases.json] [--write]`. The data are the
 * questions of `answers/nq.json` (Natural Questions) with the passages that search finds for them, which are kept in
 * `--cases` and read from there when it exists. A question whose passages with the answer are taken away stands for one that
 * memory does not answer. Prints figures of five-fold cross-validation. `--write` writes
 * `services/search/answers/answer-weights.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { AnswerWeights, Weights } from '../../services/search/answers/answer-weights.ts';
import { type Question, readQuestion } from '../../services/search/answers/question.ts';
import {
  logistic,
  type ReadPassage,
  rankSentences,
  type Sentence,
  sentencesOf,
  softmax,
  weigh,
} from '../../services/search/answers/rank-sentences.ts';
import { MIN_SHORT_CONFIDENCE, shortAnswer, spanCandidates } from '../../services/search/answers/short-answer.ts';
import { fileNameOf, startBenchServer } from './bench-server.ts';
import { percent, quantile } from './paired.ts';

interface Case {
  readonly question: string;
  readonly answers: readonly string[];
  readonly passages: readonly ReadPassage[];
}

type Features = Readonly<Record<string, number>>;
type Learned = Record<string, number>;

interface Choice {
  readonly features: Features;
  readonly isRight: boolean;
}

const FOLDS = 5;
const SAMPLE = new URL('../../../shared/data/answers/nq.json', import.meta.url).pathname;
const TARGET = new URL('../../services/search/answers/answer-weights.ts', import.meta.url).pathname;

const { values } = parseArgs({
  options: { cases: { type: 'string' }, write: { type: 'boolean', default: false } },
});

async function readCases(): Promise<readonly Case[]> {
  if (values.cases !== undefined && existsSync(values.cases)) return JSON.parse(readFileSync(values.cases, 'utf8'));
  const { passages, questions } = JSON.parse(readFileSync(SAMPLE, 'utf8')) as {
    readonly passages: readonly { readonly title: string; readonly text: string }[];
    readonly questions: readonly Omit<Case, 'passages'>[];
  };
  await using server = await startBenchServer();
  const files = passages.map(({ title, text }, at) => ({
    name: `${at}-${fileNameOf(title)}`.replace(/\.txt$/u, '.md'),
    content: `# ${title}\n\n${text}\n`,
  }));
  await server.upload('nq', files);
  await server.post('/cognify', { datasets: ['nq'] });
  const cases: Case[] = [];
  for (const { question, answers } of questions) {
    const body = { query: question, searchType: 'CHUNKS', datasets: ['nq'], topK: 8 };
    const [found] = (await server.post('/search', body)) as readonly {
      readonly search_result: readonly FoundChunk[];
    }[];
    const read = (found?.search_result ?? []).map(passageOf);
    cases.push({ question, answers, passages: read });
  }
  if (values.cases !== undefined) await writeFile(values.cases, JSON.stringify(cases));
  return cases;
}

interface FoundChunk {
  readonly id: string;
  readonly text: string;
  readonly document_name: string;
  readonly chunk_index: number;
}

function passageOf(chunk: FoundChunk): ReadPassage {
  const payload = { text: chunk.text, documentName: chunk.document_name, headings: [], chunkIndex: chunk.chunk_index };
  return { id: chunk.id, payload } as unknown as ReadPassage;
}

const contains = (text: string, answers: readonly string[]) =>
  answers.some((answer) => text.toLowerCase().includes(answer.toLowerCase()));

/** Weights by which the right choices of a list have the largest share of the softmax. */
function softmaxWeights(lists: readonly (readonly Choice[])[], epochs: number): Weights {
  const weights: Learned = {};
  for (let epoch = 0; epoch < epochs; epoch++) {
    const rate = 0.3 / (1 + epoch * 0.2);
    for (const list of lists) {
      if (!list.some(({ isRight }) => isRight) || list.every(({ isRight }) => isRight)) continue;
      const shares = softmax(list.map(({ features }) => weigh(features, weights)));
      const right = shares.reduce((sum, share, at) => sum + (list[at]?.isRight ? share : 0), 0);
      const step: Learned = {};
      for (const [at, { features, isRight }] of list.entries()) {
        const share = shares[at] ?? 0;
        add(step, features, share - (isRight ? share / right : 0));
      }
      descend(weights, step, rate);
    }
  }
  return weights;
}

/** Weights of a logistic regression, with a bias. */
function logisticWeights(choices: readonly Choice[]): Weights {
  const weights: Learned = {};
  for (let epoch = 0; epoch < 60; epoch++) {
    const rate = 0.1 / (1 + epoch * 0.2);
    for (const { features, isRight } of choices) {
      const step: Learned = {};
      add(step, { ...features, bias: 1 }, logistic(weigh(features, weights)) - Number(isRight));
      descend(weights, step, rate);
    }
  }
  return weights;
}

function add(sum: Learned, features: Features, factor: number): void {
  for (const name in features) sum[name] = (sum[name] ?? 0) + factor * (features[name] ?? 0);
}

function descend(weights: Learned, step: Features, rate: number): void {
  for (const name in step) {
    const weight = weights[name] ?? 0;
    weights[name] = weight - rate * ((step[name] ?? 0) + 1e-4 * weight);
  }
}

interface Read {
  readonly question: Question;
  readonly answers: readonly string[];
  readonly sentences: readonly Sentence[];
}

const bare = (text: string) => text.toLowerCase().replace(/^(?:the|an?) /u, '');

function isRightSpan(span: string, answers: readonly string[]): boolean {
  const text = bare(span);
  return answers.some((answer) => {
    const right = bare(answer);
    const isPart = right.includes(text) && text.length > right.length / 2;
    return text === right || isPart || (text.includes(right) && text.length < right.length + 12);
  });
}

const isRightSentence = ({ statement }: Sentence, answers: readonly string[]) => contains(statement.text, answers);

/** `answerable` and `unanswerable`: the same questions, with and without the passages that hold the answer. */
function learn(answerable: readonly Read[], unanswerable: readonly Read[]): AnswerWeights {
  const sentence = softmaxWeights(
    answerable.map(({ sentences, answers }) =>
      sentences.map((one) => ({ features: one.features, isRight: isRightSentence(one, answers) })),
    ),
    40,
  );
  const tops = [...answerable, ...unanswerable].flatMap(({ sentences, answers }) => {
    const [top, ...others] = rankSentences(sentences, { sentence, confidence: {} }).slice(0, 3);
    if (top === undefined) return [];
    return [{ features: top.features, isRight: [top, ...others].some((one) => isRightSentence(one, answers)) }];
  });
  const confidence = logisticWeights(tops);
  const ranked = (of: Read) => rankSentences(of.sentences, { sentence, confidence });
  const span = softmaxWeights(
    answerable.map((of) =>
      spanCandidates(of.question, ranked(of)).map((one) => ({
        features: one.features,
        isRight: isRightSpan(one.span.text, of.answers),
      })),
    ),
    30,
  );
  const shorts = [...answerable, ...unanswerable].flatMap((of) => {
    const short = shortAnswer(of.question, ranked(of), { span, spanConfidence: {} });
    return short === null ? [] : [{ features: short.features, isRight: isRightSpan(short.text, of.answers) }];
  });
  return { sentence, confidence, span, spanConfidence: logisticWeights(shorts) };
}

interface Judged {
  readonly type: string;
  readonly sentence: boolean;
  readonly inThree: boolean;
  readonly short: boolean;
  readonly first160: boolean;
  readonly always160: boolean;
  readonly confidence: number;
  readonly shortConfidence: number;
}

function judge({ question, answers, sentences }: Read, weights: AnswerWeights): Judged {
  const ranked = rankSentences(sentences, weights);
  const short = shortAnswer(question, ranked, weights);
  const isShown = short !== null && short.confidence >= MIN_SHORT_CONFIDENCE;
  const lead = isShown ? `${short.text}: "${short.sentence.statement.text}"` : `"${ranked[0]?.statement.text ?? ''}"`;
  return {
    type: question.type,
    sentence: ranked[0] !== undefined && isRightSentence(ranked[0], answers),
    inThree: ranked.slice(0, 3).some((one) => isRightSentence(one, answers)),
    short: short !== null && isRightSpan(short.text, answers),
    first160: contains(lead.slice(0, 160), answers),
    always160: contains(`${short?.text}: "${short?.sentence.statement.text}"`.slice(0, 160), answers),
    confidence: ranked[0]?.confidence ?? 0,
    shortConfidence: short?.confidence ?? 0,
  };
}

function summary(answerable: readonly Judged[], unanswerable: readonly Judged[]) {
  const share = (of: (judged: Judged) => boolean, among = answerable) => percent(among.map((one) => Number(of(one))));
  const limit = quantile(
    answerable.map(({ confidence }) => confidence).toSorted((a, b) => a - b),
    0.05,
  );
  const shown = answerable.filter(({ shortConfidence }) => shortConfidence >= MIN_SHORT_CONFIDENCE);
  return {
    questions: answerable.length,
    sentence: share(({ sentence }) => sentence),
    inThree: share(({ inThree }) => inThree),
    short: share(({ short }) => short),
    shortShown: share(({ shortConfidence }) => shortConfidence >= MIN_SHORT_CONFIDENCE),
    shortRightWhenShown: share(({ short }) => short, shown),
    first160: share(({ first160 }) => first160),
    always160: share(({ always160 }) => always160),
    refusedWhenFivePercentOfTheOthersAre: share(({ confidence }) => confidence < limit, unanswerable),
    confidenceByTenth: [0, 2, 4, 6, 8].map((from) => {
      const within = [...answerable, ...unanswerable].filter(
        ({ confidence }) => confidence >= from / 10 && confidence < from / 10 + 0.2,
      );
      return `${from / 10}: ${within.length}, ${percent(within.map(({ inThree }) => Number(inThree)))}`;
    }),
  };
}

function rounded(weights: AnswerWeights): AnswerWeights {
  const round = (of: Weights) =>
    Object.fromEntries(Object.entries(of).map(([name, weight]) => [name, Number(weight.toFixed(2))]));
  return {
    sentence: round(weights.sentence),
    confidence: round(weights.confidence),
    span: round(weights.span),
    spanConfidence: round(weights.spanConfidence),
  };
}

const cases = await readCases();
const full = cases.map((one): Read => {
  const question = readQuestion(one.question);
  return { question, answers: one.answers, sentences: sentencesOf(question, one.passages) };
});
const emptied = cases.map((one, at): Read => {
  const { question, answers } = full[at] as Read;
  const others = one.passages.filter(({ payload }) => !contains(payload.text, answers));
  return { question, answers, sentences: sentencesOf(question, others) };
});
const outcomes = Array.from({ length: FOLDS }, (_, fold) => {
  const isTest = (_read: Read, at: number) => at % FOLDS === fold;
  const isTraining = (_read: Read, at: number) => at % FOLDS !== fold;
  const weights = learn(full.filter(isTraining), emptied.filter(isTraining));
  return [full, emptied].map((all) => all.filter(isTest).map((of) => judge(of, weights)));
});
const answerable = outcomes.flatMap(([found]) => found ?? []);
const unanswerable = outcomes.flatMap(([, none]) => none ?? []);
const byType = Map.groupBy(answerable, ({ type }) => type);
process.stdout.write(
  `${JSON.stringify({ ...summary(answerable, unanswerable), byType: Object.fromEntries([...byType].map(([type, of]) => [type, `${of.length}: sentence ${percent(of.map(({ sentence }) => Number(sentence)))}, first160 ${percent(of.map(({ first160 }) => Number(first160)))}, short ${percent(of.map(({ short }) => Number(short)))}`])) }, null, 2)}\n`,
);
if (values.write) {
  const source = readFileSync(TARGET, 'utf8');
  const head = source.slice(0, source.indexOf('export const ANSWER_WEIGHTS'));
  const weights = JSON.stringify(rounded(learn(full, emptied)), null, 2)
    .replace(/"([a-zA-Z0-9]+)":/gu, '$1:')
    .replaceAll('"', "'");
  await writeFile(TARGET, `${head}export const ANSWER_WEIGHTS: AnswerWeights = ${weights};\n`);
}
