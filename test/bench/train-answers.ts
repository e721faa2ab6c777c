/**
 * Learns the weights of answers without a model: `npm run train:answers -- [--cases cases.json] [--write]`. The data are
 * `answers/nq.json` (Natural Questions), the same questions with a word of like meaning, and notes in the first person, twice,
 * with the passages that search finds for them, which are kept in `--cases` and read from there when it exists. A question
 * whose passages with the answer are taken away stands for one that memory does not answer. Prints figures of five-fold
 * cross-validation, and of the questions of `answers/everyday.json`, which are not learned from. `--write` writes
 * `services/search/answers/answer-weights.ts`.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { logistic, softmax } from '../../services/common/kernel/probability.ts';
import type { AnswerWeights, Weights } from '../../services/search/answers/answer-weights.ts';
import { type Question, readQuestion } from '../../services/search/answers/question.ts';
import { rankSentences, type Sentence, sentencesOf, weigh } from '../../services/search/answers/rank-sentences.ts';
import { MIN_SHORT_CONFIDENCE, shortAnswer, spanCandidates } from '../../services/search/answers/short-answer.ts';
import { type Case, contains, readCases } from './answer-cases.ts';
import { percent, quantile } from './paired.ts';

type Features = Readonly<Record<string, number>>;
type Learned = Record<string, number>;

interface Choice {
  readonly features: Features;
  readonly isRight: boolean;
}

const FOLDS = 5;
const PASSAGES_READ = 8;
const APART = new Set(['table', 'two-hop', 'unanswerable']);
const TARGET = new URL('../../services/search/answers/answer-weights.ts', import.meta.url).pathname;

const { values } = parseArgs({
  options: { cases: { type: 'string' }, write: { type: 'boolean', default: false } },
});

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

const readAll = (of: readonly Case[]) =>
  of.map(({ question, answers, passages }) => readCase(question, answers, passages));
function readCase(text: string, answers: readonly string[], passages: Case['passages']): Read {
  const question = readQuestion(text);
  return { question, answers, sentences: sentencesOf(question, passages.slice(0, PASSAGES_READ)) };
}
const withoutAnswers = ({ passages, ...one }: Case): Case => ({
  ...one,
  passages: passages.filter(({ payload }) => !contains(payload.text, one.answers)),
});

const isPlain = ({ kind = '' }: Case) => !APART.has(kind);
const cases = await readCases(values.cases);
const notes = cases.notes.filter(isPlain);
const everyday = cases.everyday.filter(isPlain);
const full = readAll(cases.nq);
const emptied = readAll(cases.nq.map(withoutAnswers));
const reworded = cases.reworded.map((one) => (one === null ? null : (readAll([one])[0] ?? null)));
const [notesFull, notesEmptied] = [readAll(notes), readAll(notes.map(withoutAnswers))];
const everydayRead = readAll(everyday);

function learnWhere(isTraining: (at: number) => boolean): AnswerWeights {
  const of = <T>(all: readonly T[]) => all.filter((_one, at) => isTraining(at));
  const twice = <T>(all: readonly T[]) => [...all, ...all];
  return learn(
    [...of(full), ...of(reworded).filter((one) => one !== null), ...twice(of(notesFull))],
    [...of(emptied), ...twice(of(notesEmptied))],
  );
}
const folds = Array.from({ length: FOLDS }, (_, fold) => {
  const weights = learnWhere((at) => at % FOLDS !== fold);
  const judged = (all: readonly (Read | null)[]) =>
    all.filter((_one, at) => at % FOLDS === fold).flatMap((of) => (of === null ? [] : [judge(of, weights)]));
  return { full: judged(full), emptied: judged(emptied), reworded: judged(reworded), notes: judged(notesFull) };
});
const answerable = folds.flatMap((fold) => fold.full);
const unanswerable = folds.flatMap((fold) => fold.emptied);
const learned = learnWhere(() => true);
const byType = Map.groupBy(answerable, ({ type }) => type);
const figures = (of: readonly Judged[]) =>
  `${of.length}: sentence ${percent(of.map(({ sentence }) => Number(sentence)))}, first160 ${percent(of.map(({ first160 }) => Number(first160)))}, short ${percent(of.map(({ short }) => Number(short)))}`;
const judgedEveryday = everydayRead.map((of) => judge(of, learned));
const byKind = Map.groupBy(judgedEveryday.keys(), (at) => everyday[at]?.kind ?? '');
process.stdout.write(
  `${JSON.stringify(
    {
      ...summary(answerable, unanswerable),
      byType: Object.fromEntries([...byType].map(([type, of]) => [type, figures(of)])),
      reworded: figures(folds.flatMap((fold) => fold.reworded)),
      notes: figures(folds.flatMap((fold) => fold.notes)),
      everyday: figures(judgedEveryday),
      everydayByKind: Object.fromEntries(
        [...byKind].map(([kind, of]) => [kind, figures([...of].flatMap((at) => judgedEveryday[at] ?? []))]),
      ),
    },
    null,
    2,
  )}\n`,
);
if (values.write) {
  const source = readFileSync(TARGET, 'utf8');
  const head = source.slice(0, source.indexOf('export const ANSWER_WEIGHTS'));
  const weights = JSON.stringify(rounded(learned), null, 2)
    .replace(/"([a-zA-Z0-9]+)":/gu, '$1:')
    .replaceAll('"', "'");
  await writeFile(TARGET, `${head}export const ANSWER_WEIGHTS: AnswerWeights = ${weights};\n`);
}
