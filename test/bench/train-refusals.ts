/**
 * Learns when to refuse a question without a model: `npm run train:refusals -- [--cases cases.json]`. The data are the notes
 * in `samples/notes.json`, `answers/everyday.json` and Natural Questions, whose questions are also asked without the passages
 * that hold the answer. Prints five-fold cross-validation on the notes and writes
 * `services/search/answers/answerable-weights.ts`. Set apart are tables and two-hop questions, which have ways of their own.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { logistic } from '../../services/common/kernel/probability.ts';
import type { Weights } from '../../services/search/answers/answer-weights.ts';
import { answerableFeatures } from '../../services/search/answers/answerable.ts';
import { readQuestion } from '../../services/search/answers/question.ts';
import { type ReadPassage, rankSentences, sentencesOf, weigh } from '../../services/search/answers/rank-sentences.ts';
import { shortAnswer } from '../../services/search/answers/short-answer.ts';
import { contains, readCases } from './answer-cases.ts';
import { percent, quantile } from './paired.ts';

interface Sample {
  readonly features: Weights;
  readonly isAnswered: boolean;
  readonly weight: number;
}

const FOLDS = 5;
const TARGET = new URL('../../services/search/answers/answerable-weights.ts', import.meta.url).pathname;
/** Share of the answerable questions of people that may be refused. */
const REFUSED = 0.07;
const NQ_WEIGHT = 0.2;
const APART = new Set(['table', 'two-hop']);

const { values } = parseArgs({ options: { cases: { type: 'string' } } });

function featuresOf(text: string, passages: readonly ReadPassage[]): Weights | null {
  const question = readQuestion(text);
  const ranked = rankSentences(sentencesOf(question, passages));
  return answerableFeatures(question, { ranked, short: shortAnswer(question, ranked), passages });
}

/** Gives both classes the same weight, `total` together. */
function balanced(samples: readonly Omit<Sample, 'weight'>[], total: number): readonly Sample[] {
  const answered = samples.filter(({ isAnswered }) => isAnswered).length;
  return samples.map((one) => ({
    ...one,
    weight: total / 2 / (one.isAnswered ? answered : samples.length - answered),
  }));
}

/** Logistic regression by Adam over all samples. */
function learn(samples: readonly Sample[]): Weights {
  const names = ['bias', ...new Set(samples.flatMap(({ features }) => Object.keys(features)))];
  const rows = samples.map(({ features }) => names.map((name) => (name === 'bias' ? 1 : (features[name] ?? 0))));
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const [weights, mean, square] = [names.map(() => 0), names.map(() => 0), names.map(() => 0)];
  for (let step = 1; step <= 300; step++) {
    const slope = names.map(() => 0);
    for (const [at, row] of rows.entries()) {
      const { isAnswered, weight } = samples[at] as Sample;
      const score = row.reduce((sum, value, column) => sum + value * (weights[column] ?? 0), 0);
      const error = (weight * (logistic(score) - Number(isAnswered))) / total;
      for (const [column, value] of row.entries()) slope[column] = (slope[column] ?? 0) + error * value;
    }
    for (const column of names.keys()) {
      const gradient = (slope[column] ?? 0) + (column > 0 ? 1e-3 * (weights[column] ?? 0) : 0);
      mean[column] = 0.9 * (mean[column] ?? 0) + 0.1 * gradient;
      square[column] = 0.999 * (square[column] ?? 0) + 0.001 * gradient ** 2;
      const rate = 0.08 / (Math.sqrt((square[column] ?? 0) / (1 - 0.999 ** step)) + 1e-8);
      weights[column] = (weights[column] ?? 0) - (rate * (mean[column] ?? 0)) / (1 - 0.9 ** step);
    }
  }
  return Object.fromEntries(names.map((name, column) => [name, Number((weights[column] ?? 0).toFixed(3))]));
}

const sampled = (question: string, passages: readonly ReadPassage[], isAnswered: boolean) => {
  const features = featuresOf(question, passages);
  return features === null ? [] : [{ features, isAnswered }];
};

const cases = await readCases(values.cases);
const people = [...cases.notes, ...cases.everyday]
  .filter(({ kind = '' }) => !APART.has(kind))
  .flatMap(({ question, passages, answers }) => sampled(question, passages, answers.length > 0));
const nq = cases.nq.flatMap(({ question, passages, answers }) => {
  const others = passages.filter(({ payload }) => !contains(payload.text, answers));
  const isFound = others.length < passages.length;
  return [...(isFound ? sampled(question, passages, true) : []), ...sampled(question, others, false)];
});
const weightsOf = (train: typeof people, other: typeof people) =>
  learn([...balanced(train, 1), ...balanced(other, NQ_WEIGHT)]);
const judged = Array.from({ length: FOLDS }, (_, fold) => {
  const weights = weightsOf(
    people.filter((_sample, at) => at % FOLDS !== fold),
    nq,
  );
  return people
    .filter((_sample, at) => at % FOLDS === fold)
    .map(({ features, isAnswered }) => ({ isAnswered, probability: logistic(weigh(features, weights)) }));
}).flat();
const probabilities = judged.filter(({ isAnswered }) => isAnswered).map(({ probability }) => probability);
const limit = Number(
  quantile(
    probabilities.toSorted((a, b) => a - b),
    REFUSED,
  ).toFixed(3),
);
const weights = weightsOf(people, nq);
const refused = (of: readonly { readonly probability: number; readonly isAnswered: boolean }[], isAnswered: boolean) =>
  percent(of.filter((one) => one.isAnswered === isAnswered).map(({ probability }) => Number(probability < limit)));
const onNq = nq.map(({ features, isAnswered }) => ({ isAnswered, probability: logistic(weigh(features, weights)) }));
process.stdout.write(
  `${JSON.stringify(
    {
      limit,
      people: { unanswerableRefused: refused(judged, false), answerableRefused: refused(judged, true) },
      nqNotCrossValidated: { unanswerableRefused: refused(onNq, false), answerableRefused: refused(onNq, true) },
    },
    null,
    2,
  )}\n`,
);
const table = JSON.stringify(weights, null, 2)
  .replace(/"([a-zA-Z0-9]+)":/gu, '$1:')
  .replaceAll('"', "'");
await writeFile(
  TARGET,
  `import type { Weights } from './answer-weights.ts';

/** Written by \`npm run train:refusals\`. */
export const ANSWERABLE_WEIGHTS: Weights = ${table};

/** Less probable answers are refused. */
export const MIN_ANSWERABILITY = ${limit};
`,
);
