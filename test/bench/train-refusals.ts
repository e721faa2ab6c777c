/**
 * Learns when to refuse a question without a model: `npm run train:refusals -- [--cases cases.json]`. The data are the
 * questions in `samples/`, `answers/everyday.json` and Natural Questions; those with an answer are asked again without the
 * passages, and without the sentences, that hold it. Prints what is refused on sources that were left out of training, and
 * writes `services/search/answers/answerable-weights.ts`. Set apart are tables and two-hop questions, which have ways of
 * their own.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { logistic } from '../../services/common/kernel/probability.ts';
import type { Weights } from '../../services/search/answers/answer-weights.ts';
import { answerableFeatures } from '../../services/search/answers/answerable.ts';
import { readQuestion } from '../../services/search/answers/question.ts';
import { type ReadPassage, rankSentences, sentencesOf, weigh } from '../../services/search/answers/rank-sentences.ts';
import { shortAnswer } from '../../services/search/answers/short-answer.ts';
import { type Case, type Cases, contains, readCases } from './answer-cases.ts';
import { percent, quantile } from './paired.ts';

/** A question with what was found for it. */
interface Sample {
  readonly question: string;
  readonly source: string;
  /** What was taken away: nothing, the passages or the sentences with the answer. */
  readonly without: 'nothing' | 'passages' | 'sentences';
  readonly isAnswered: boolean;
  readonly features: Weights;
  /** The best sentence. */
  readonly best: string;
}

const TARGET = new URL('../../services/search/answers/answerable-weights.ts', import.meta.url).pathname;
/**
 * Share of the answerable questions about documents left out of training that may be refused: fewer are with all of them.
 * Without those of `diary`, which avoid the words of their notes on purpose.
 */
const REFUSED = 0.075;
/** Weights of questions, with less for those whose answer was taken away, and of all Natural Questions. */
const WEIGHTS = { nothing: 1, passages: 0.1, sentences: 0.05 } as const;
const NQ_WEIGHT = 0.2;
const RIDGE: number = 3e-4;
const STEPS = 12;
const APART = new Set(['table', 'two-hop']);

const { values } = parseArgs({ options: { cases: { type: 'string' }, show: { type: 'string' } } });

function samplesOf(source: string, one: Case): readonly Sample[] {
  const { answers, passages, kind } = one;
  const sampled = (without: Sample['without'], read: readonly ReadPassage[]): readonly Sample[] => {
    const question = readQuestion(one.question);
    const ranked = rankSentences(sentencesOf(question, read));
    const features = answerableFeatures(question, { ranked, short: shortAnswer(question, ranked), passages: read });
    if (features === null) return [];
    const isAnswered = without === 'nothing' && answers.length > 0;
    return [{ question: one.question, source, without, isAnswered, features, best: ranked[0]?.statement.text ?? '' }];
  };
  const others = passages.filter(({ payload }) => !contains(payload.text, answers));
  if (answers.length === 0) return sampled('nothing', passages);
  if (others.length === passages.length) return sampled('passages', others);
  // Another sentence may answer whether something is so.
  if (kind === 'yes-no') return sampled('nothing', passages);
  const rest = passages
    .map((passage) => withoutSentences(passage, answers))
    .filter(({ payload }) => payload.text !== '');
  return [...sampled('nothing', passages), ...sampled('passages', others), ...sampled('sentences', rest)];
}

function withoutSentences(passage: ReadPassage, answers: readonly string[]): ReadPassage {
  const sentences = passage.payload.text.split(/(?<=[.!?])\s+/u);
  const text = sentences.filter((sentence) => !contains(sentence, answers)).join(' ');
  return { ...passage, payload: { ...passage.payload, text } };
}

const isNq = ({ source }: Sample) => source === 'nq';

/** Gives people and Natural Questions their share, and both classes of each the same. */
function weightsOf(samples: readonly Sample[]): readonly number[] {
  const groupOf = (one: Sample) => `${isNq(one)} ${one.isAnswered}`;
  const totals = new Map<string, number>();
  for (const one of samples) totals.set(groupOf(one), (totals.get(groupOf(one)) ?? 0) + WEIGHTS[one.without]);
  return samples.map((one) => ((isNq(one) ? NQ_WEIGHT : 1) * WEIGHTS[one.without]) / (totals.get(groupOf(one)) ?? 1));
}

/** Logistic regression by Newton's method. */
function learn(samples: readonly Sample[]): Weights {
  const names = ['bias', ...new Set(samples.flatMap(({ features }) => Object.keys(features)))];
  const rows = samples.map(({ features }) => names.map((name) => (name === 'bias' ? 1 : (features[name] ?? 0))));
  const shares = weightsOf(samples);
  const total = shares.reduce((sum, share) => sum + share, 0);
  let learned: readonly number[] = names.map(() => 0);
  for (let step = 0; step < STEPS; step++) {
    const gradient = learned.map((value, column) => (column === 0 ? 0 : RIDGE * value));
    const curvature = names.map((_, at) => names.map((_name, column) => (at !== column ? 0 : at > 0 ? RIDGE : 1e-7)));
    for (const [at, row] of rows.entries()) {
      const share = (shares[at] ?? 0) / total;
      const probability = logistic(dot(row, learned));
      const error = share * (probability - Number(samples[at]?.isAnswered));
      const bend = share * Math.max(MIN_CURVATURE, probability * (1 - probability));
      for (const [column, value] of row.entries()) {
        if (value === 0) continue;
        gradient[column] = (gradient[column] ?? 0) + error * value;
        const line = curvature[column] ?? [];
        for (const [other, factor] of row.entries()) line[other] = (line[other] ?? 0) + bend * value * factor;
      }
    }
    const change = solve(curvature, gradient);
    learned = learned.map((value, column) => value - (change[column] ?? 0));
  }
  return Object.fromEntries(names.map((name, column) => [name, Number((learned[column] ?? 0).toFixed(2))]));
}

/** Keeps steps short where all probabilities are near 0 or 1. */
const MIN_CURVATURE = 1e-3;

const dot = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

/** Solves linear equations with a positive definite matrix by elimination. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const rows = matrix.map((row, at) => [...row, right[at] ?? 0]);
  for (const [at, pivot] of rows.entries()) {
    for (const [other, row] of rows.entries()) {
      const factor = (row[at] ?? 0) / (pivot[at] ?? 1);
      if (other === at || factor === 0) continue;
      for (const [column, value] of pivot.entries()) row[column] = (row[column] ?? 0) - factor * value;
    }
  }
  return rows.map((row, at) => (row.at(-1) ?? 0) / (row[at] ?? 1));
}

interface Judged extends Sample {
  readonly probability: number;
}

const judge = (samples: readonly Sample[], weights: Weights): readonly Judged[] =>
  samples.map((one) => ({
    ...one,
    probability: logistic(weigh(one.features, weights)),
  }));

const limitOf = (judged: readonly Judged[], isWanted: (one: Judged) => boolean) =>
  quantile(
    judged
      .filter((one) => isWanted(one) && one.isAnswered)
      .map(({ probability }) => probability)
      .toSorted((a, b) => a - b),
    REFUSED,
  );

const isRefused = (one: Judged, { own, other }: Limits) => one.probability < (isNq(one) ? other : own);

interface Limits {
  readonly own: number;
  readonly other: number;
}

function report(judged: readonly Judged[], limits: Limits) {
  const groups = Map.groupBy(
    judged,
    ({ source, without, isAnswered }) => `${source}, ${isAnswered ? 'answerable' : `without ${without}`}`,
  );
  const people = judged.filter((one) => !isNq(one) && one.without === 'nothing');
  const refused = (of: readonly Judged[]) => percent(of.map((one) => Number(isRefused(one, limits))));
  return {
    unanswerableRefused: refused(people.filter(({ isAnswered }) => !isAnswered)),
    answerableRefused: refused(people.filter(({ isAnswered }) => isAnswered)),
    groups: [...groups].map(([group, of]) => `${group}: ${refused(of)} of ${of.length}`).join('; '),
  };
}

const cases = await readCases(values.cases);
const casesOf = (source: Exclude<keyof Cases, 'reworded'>) =>
  cases[source].filter(({ kind = '' }) => !APART.has(kind)).flatMap((one) => samplesOf(source, one));
const samples = (
  ['notes', 'journal', 'school', 'diary', 'household', 'team', 'everyday', 'memories', 'nq'] as const
).flatMap(casesOf);
/** Sources about the same documents are left out together, with a fifth of Natural Questions. */
const folds = [['notes'], ['journal'], ['school'], ['diary'], ['household'], ['team'], ['everyday', 'memories']];
const questions = [...new Set(samples.filter(isNq).map(({ question }) => question))];
const foldOf = new Map(questions.map((question, at) => [question, at % folds.length]));
const apart = folds.flatMap((fold, at) => {
  const isLeftOut = (one: Sample) => (isNq(one) ? foldOf.get(one.question) === at : fold.includes(one.source));
  return judge(samples.filter(isLeftOut), learn(samples.filter((one) => !isLeftOut(one))));
});
const limit = {
  own: Number(limitOf(apart, (one) => !isNq(one) && one.source !== 'diary').toFixed(3)),
  other: Number(limitOf(apart, isNq).toFixed(3)),
};
const weights = learn(samples);
const heldOut = (['logbook', 'practice'] as const).flatMap((source) => casesOf(source));
const result = {
  limit,
  leftOut: report(apart, limit),
  heldOut: report(judge(heldOut, weights), limit),
  trained: report(judge(samples, weights), limit),
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
if (values.show !== undefined) {
  const lines = apart
    .filter((one) => !isNq(one) && one.without === 'nothing' && isRefused(one, limit) === one.isAnswered)
    .map(({ question, source, isAnswered, probability, best }) =>
      [isAnswered ? 'refused' : 'answered', source, probability.toFixed(2), question, '=>', best].join(' '),
    );
  await writeFile(values.show, `${lines.toSorted().join('\n')}\n`);
}
await writeFile(
  TARGET,
  `import type { Weights } from './answer-weights.ts';

/** Written by \`npm run train:refusals\`. */
// biome-ignore format: one line
export const ANSWERABLE_WEIGHTS: Weights = ${JSON.stringify(weights)};

/** Less probable answers are refused: of notes in the first person, and of other texts. */
export const MIN_ANSWERABILITY = { own: ${limit.own}, other: ${limit.other} };
`,
);
