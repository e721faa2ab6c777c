/**
 * Learns when to refuse a question without a model: `npm run train:refusals -- [--cases cases.json]`. The data are the
 * questions in `samples/`, `answers/everyday.json` and Natural Questions; those with an answer are asked again without the
 * passages, and without the sentences, that hold it. Learns, too, which of the best sentences answers a question. Prints what is
 * refused, and how often the first sentence is right, on sources that were left out of training, and writes
 * `services/search/answers/answerable-weights.ts`. Set apart are tables and two-hop questions, which have ways of
 * their own.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { logistic } from '../../services/common/kernel/probability.ts';
import type { Weights } from '../../services/search/answers/answer-weights.ts';
import { readFirst, sentenceFeatures, withHighest } from '../../services/search/answers/answerable.ts';
import { foreignFeatures } from '../../services/search/answers/foreign-answerable.ts';
import { readQuestion } from '../../services/search/answers/question.ts';
import {
  areOwnNotes,
  type ReadPassage,
  rankSentences,
  sentencesOf,
  weigh,
} from '../../services/search/answers/rank-sentences.ts';
import { shortAnswer } from '../../services/search/answers/short-answer.ts';
import { saidOf, unmetCondition } from '../../services/search/answers/unmet-condition.ts';
import { type Case, type Cases, contains, FOREIGN, HELD_OUT, LEARNED, readCases } from './answer-cases.ts';
import { percent, quantile } from './paired.ts';

/** A question with what was found for it. */
interface Sample {
  readonly question: string;
  readonly source: string;
  /** What was taken away: nothing, the passages or the sentences with the answer. */
  readonly without: 'nothing' | 'passages' | 'sentences';
  readonly isAnswered: boolean;
  /** What was found is notes in the first person. */
  readonly isOwn: boolean;
  readonly features: Weights;
  /** A condition of the question is surely not met. */
  readonly isUnmet: boolean;
  /** The best sentences. */
  readonly sentences: readonly ReadSentence[];
}

interface ReadSentence {
  readonly text: string;
  readonly features: Weights;
  readonly hasAnswer: boolean;
}

/** What weights are learned from. */
interface Example {
  readonly features: Weights;
  readonly isRight: boolean;
  readonly isNq: boolean;
  readonly weight: number;
}

const TARGET = new URL('../../services/search/answers/answerable-weights.ts', import.meta.url).pathname;
/**
 * Share of the answerable questions about documents left out of training that may be refused: fewer are with all of them.
 * Without those that avoid the words of their notes on purpose.
 */
const REFUSED = 0.05;
/** The same for those in other languages, of which the words for a trade or a colour cannot be known in the notes. */
const REFUSED_FOREIGN = 0.07;
const REWORDED = new Set(['diary', 'boatyard', 'laboratory', 'bakery', 'club', 'vineyard', 'newsroom', 'expedition']);
/** Weights of questions, with less for those whose answer was taken away, and of all Natural Questions. */
const WEIGHTS = { nothing: 1, passages: 0.05, sentences: 0.02 } as const;
const NQ_WEIGHT = { answerable: 0.1, answering: 0.2 } as const;
/** Weight of a question whose answer is in none of its best sentences, as a share of that of others: a quote would be wrong. */
const MISSED = 0.3;
/** Weight of the sentences without the answer beside one with it. */
const BESIDE = 0.4;
const RIDGE: number = 3e-4;
const STEPS = 8;
const APART = new Set(['table', 'two-hop']);

const { values } = parseArgs({
  options: { cases: { type: 'string' }, show: { type: 'string' }, 'held-out': { type: 'boolean', default: false } },
});

function samplesOf(source: string, one: Case): readonly Sample[] {
  const { answers, passages, kind } = one;
  const sampled = (without: Sample['without'], read: readonly ReadPassage[]): readonly Sample[] => {
    const question = readQuestion(one.question);
    const ranked = rankSentences(sentencesOf(question, read));
    const short = shortAnswer(question, ranked);
    const found = sentenceFeatures(question, { ranked, short, passages: read });
    const best = readFirst({ ranked, short });
    const features = withHighest(found);
    if (features === null) return [];
    const isAnswered = without === 'nothing' && answers.length > 0;
    const sentences = found.map((of, at) => {
      const text = best[at]?.statement.text ?? '';
      // Another sentence may answer whether something is so.
      const hasAnswer = isAnswered && (contains(text, answers) || (kind === 'yes-no' && at === 0));
      return { text, features: of, hasAnswer };
    });
    const isOwn = areOwnNotes(read);
    const isUnmet = unmetCondition(question, saidOf(best)) !== null;
    return [{ question: one.question, source, without, isAnswered, isOwn, isUnmet, features, sentences }];
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

const learnAnswerable = (samples: readonly Sample[]) =>
  learn(
    samples.map((one) => {
      const isMissed = one.isAnswered && !one.sentences.some(({ hasAnswer }) => hasAnswer);
      const weight = (isNq(one) ? NQ_WEIGHT.answerable : 1) * WEIGHTS[one.without] * (isMissed ? MISSED : 1);
      return { features: one.features, isRight: one.isAnswered, isNq: isNq(one), weight };
    }),
    NQ_WEIGHT.answerable,
  );

/** Learns from the sentences with an answer, those beside them, and all of the questions without one. */
const learnAnswering = (samples: readonly Sample[]) =>
  learn(
    samples.flatMap((one) => {
      const right = one.sentences.filter(({ hasAnswer }) => hasAnswer).length;
      if (one.isAnswered && right === 0) return [];
      return one.sentences.map(({ features, hasAnswer }, at) => {
        const share = hasAnswer ? 1 / right : one.isAnswered ? BESIDE : at === 0 ? 1 : 1 / one.sentences.length;
        const weight = (isNq(one) ? NQ_WEIGHT.answering : 1) * WEIGHTS[one.without] * share;
        return { features, isRight: hasAnswer, isNq: isNq(one), weight };
      });
    }),
    NQ_WEIGHT.answering,
  );

/** Gives people and Natural Questions their share, and both classes of each the same. */
function sharesOf(examples: readonly Example[], nqWeight: number): Float64Array {
  const groupOf = (one: Example) => `${one.isNq} ${one.isRight}`;
  const totals = new Map<string, number>();
  for (const one of examples) totals.set(groupOf(one), (totals.get(groupOf(one)) ?? 0) + one.weight);
  const all = 2 * (1 + nqWeight);
  return Float64Array.from(
    examples,
    (one) => ((one.isNq ? nqWeight : 1) * one.weight) / (totals.get(groupOf(one)) ?? 1) / all,
  );
}

/** Logistic regression by Newton's method. */
function learn(examples: readonly Example[], nqWeight: number): Weights {
  const names = ['bias', ...new Set(examples.flatMap(({ features }) => Object.keys(features)))];
  const columnOf = new Map(names.map((name, column) => [name, column]));
  const rows = examples.map(({ features }) => {
    const filled = Object.entries(features).filter(([, value]) => value !== 0);
    const columns = Int32Array.from([0, ...filled.map(([name]) => columnOf.get(name) as number)]).sort();
    return {
      columns,
      values: Float64Array.from(columns, (column) =>
        column === 0 ? 1 : (features[names[column] as string] as number),
      ),
    };
  });
  const shares = sharesOf(examples, nqWeight);
  const [size, width] = [names.length, names.length + 1];
  const learned = new Float64Array(size);
  for (let step = 0; step < STEPS; step++) {
    /** The curvature, and in the last column the gradient. */
    const system = new Float64Array(size * width);
    for (let column = 0; column < size; column++) {
      system[column * width + column] = column === 0 ? 1e-7 : RIDGE;
      system[column * width + size] = column === 0 ? 0 : RIDGE * (learned[column] as number);
    }
    for (const [at, { columns, values }] of rows.entries()) {
      const share = shares[at] as number;
      const probability = logistic(
        columns.reduce((sum, column, k) => sum + (values[k] as number) * (learned[column] as number), 0),
      );
      const error = share * (probability - Number(examples[at]?.isRight));
      const bend = share * Math.max(MIN_CURVATURE, probability * (1 - probability));
      for (let one = 0; one < columns.length; one++) {
        const line = (columns[one] as number) * width;
        const value = values[one] as number;
        system[line + size] = (system[line + size] as number) + error * value;
        for (let other = one; other < columns.length; other++) {
          const cell = line + (columns[other] as number);
          system[cell] = (system[cell] as number) + bend * value * (values[other] as number);
        }
      }
    }
    for (const [column, change] of solve(system, size).entries())
      learned[column] = (learned[column] as number) - change;
  }
  return Object.fromEntries(names.map((name, column) => [name, Number((learned[column] ?? 0).toFixed(2))]));
}

/** Keeps steps short where all probabilities are near 0 or 1. */
const MIN_CURVATURE = 1e-3;

/** Solves linear equations by elimination: a symmetric positive definite matrix of which the upper half is set, and the right side behind it. */
function solve(system: Float64Array, size: number): Float64Array {
  const width = size + 1;
  const at = (row: number, column: number) => system[row * width + column] as number;
  for (let pivot = 0; pivot < size; pivot++) {
    for (let row = pivot + 1; row < size; row++) {
      const factor = at(pivot, row) / at(pivot, pivot);
      if (factor === 0) continue;
      for (let column = row; column < width; column++) {
        system[row * width + column] = at(row, column) - factor * at(pivot, column);
      }
    }
  }
  const solution = new Float64Array(size);
  for (let row = size - 1; row >= 0; row--) {
    let rest = at(row, size);
    for (let column = row + 1; column < size; column++) rest -= at(row, column) * (solution[column] as number);
    solution[row] = rest / at(row, row);
  }
  return solution;
}

/** Reads a question in another language than English. */
function foreignExamplesOf({ question: text, answers, passages }: Case): readonly Example[] {
  const question = readQuestion(text);
  const ranked = rankSentences(sentencesOf(question, passages));
  const features = foreignFeatures(question, { ranked, short: shortAnswer(question, ranked), passages });
  return features === null ? [] : [{ features, isRight: answers.length > 0, isNq: false, weight: 1 }];
}

function reportForeign(judged: readonly (Example & { readonly probability: number })[], limit: number) {
  const refused = (isRight: boolean) =>
    percent(judged.filter((one) => one.isRight === isRight).map(({ probability }) => Number(probability < limit)));
  return { unanswerableRefused: refused(false), answerableRefused: refused(true) };
}

interface Judged extends Sample {
  readonly probability: number;
  /** The sentence that most probably answers the question. */
  readonly best: ReadSentence | undefined;
}

interface Learned {
  readonly answerable: Weights;
  readonly answering: Weights;
}

const learnBoth = (samples: readonly Sample[]): Learned => ({
  answerable: learnAnswerable(samples),
  answering: learnAnswering(samples),
});

const judge = (samples: readonly Sample[], { answerable, answering }: Learned): readonly Judged[] =>
  samples.map((one) => {
    const scores = one.sentences.map(({ features }) => weigh(features, answering));
    const best = one.sentences[scores.indexOf(Math.max(...scores))];
    const certainty = (weigh(one.features, answerable) + Math.max(...scores)) / 2;
    return { ...one, probability: one.isUnmet ? 0 : logistic(certainty), best };
  });

const limitOf = (judged: readonly Judged[], isWanted: (one: Judged) => boolean) =>
  quantile(
    judged
      .filter((one) => isWanted(one) && one.isAnswered)
      .map(({ probability }) => probability)
      .toSorted((a, b) => a - b),
    REFUSED,
  );

const isRefused = (one: Judged, { own, other }: Limits) => one.probability < (one.isOwn ? own : other);

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
    areaUnderCurve: areaUnderCurve(people),
    unanswerableRefused: refused(people.filter(({ isAnswered }) => !isAnswered)),
    answerableRefused: refused(people.filter(({ isAnswered }) => isAnswered)),
    firstIsRight: rightOf(judged, ({ sentences }) => sentences[0]),
    bestIsRight: rightOf(judged, ({ best }) => best),
    groups: [...groups].map(([group, of]) => `${group}: ${refused(of)} of ${of.length}`).join('; '),
  };
}

/** How often an answerable question is judged more probable than an unanswerable one, as a mean of the sources. */
function areaUnderCurve(judged: readonly Judged[]): number {
  const areas = [...Map.groupBy(judged, ({ source }) => source).values()].map((of) => {
    const [right, wrong] = [true, false].map((isAnswered) => of.filter((one) => one.isAnswered === isAnswered));
    const wins = (right ?? []).flatMap((one) =>
      (wrong ?? []).map((other) => (Math.sign(one.probability - other.probability) + 1) / 2),
    );
    return wins.reduce((sum, win) => sum + win, 0) / wins.length;
  });
  return Number((areas.reduce((sum, area) => sum + area, 0) / areas.length).toFixed(4));
}

const rightOf = (judged: readonly Judged[], read: (one: Judged) => ReadSentence | undefined) =>
  percent(judged.filter(({ isAnswered }) => isAnswered).map((one) => Number(read(one)?.hasAnswer)));

const cases = await readCases(values.cases);
const casesOf = (source: Exclude<keyof Cases, 'reworded'>) =>
  cases[source].filter(({ kind = '' }) => !APART.has(kind)).flatMap((one) => samplesOf(source, one));
const samples = [...LEARNED, 'everyday' as const, 'memories' as const, 'nq' as const].flatMap(casesOf);
/** Sources about the same documents are left out together, with a part of Natural Questions. */
const folds: readonly (readonly string[])[] = [...LEARNED.map((source) => [source]), ['everyday', 'memories']];
const questions = [...new Set(samples.filter(isNq).map(({ question }) => question))];
const foldOf = new Map(questions.map((question, at) => [question, at % folds.length]));
const apart = folds.flatMap((fold, at) => {
  const isLeftOut = (one: Sample) => (isNq(one) ? foldOf.get(one.question) === at : fold.includes(one.source));
  return judge(samples.filter(isLeftOut), learnBoth(samples.filter((one) => !isLeftOut(one))));
});
const limit = {
  own: Number(limitOf(apart, (one) => !isNq(one) && one.isOwn && !REWORDED.has(one.source)).toFixed(3)),
  other: Number(limitOf(apart, isNq).toFixed(3)),
};
const weights = learnBoth(samples);
const [learned = [], unseen = []] = FOREIGN.map((source) => cases[source].flatMap(foreignExamplesOf));
const foreign = learn(learned, 0);
const judgeForeign = (examples: readonly Example[]) =>
  examples.map((one) => ({ ...one, probability: logistic(weigh(one.features, foreign)) }));
const foreignRight = judgeForeign(learned).filter(({ isRight }) => isRight);
const probabilities = foreignRight.map(({ probability }) => probability).toSorted((a, b) => a - b);
const foreignLimit = Number(quantile(probabilities, REFUSED_FOREIGN).toFixed(3));
const heldOut = values['held-out'] ? HELD_OUT.flatMap(casesOf) : null;
const result = {
  limit: { ...limit, foreign: foreignLimit },
  foreign: [learned, unseen].map((of) => reportForeign(judgeForeign(of), foreignLimit)),
  leftOut: report(apart, limit),
  ...(heldOut !== null && { heldOut: report(judge(heldOut, weights), limit) }),
  trained: report(judge(samples, weights), limit),
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
if (values.show !== undefined) {
  const lines = apart
    .filter((one) => !isNq(one) && one.without === 'nothing' && isRefused(one, limit) === one.isAnswered)
    .map(({ question, source, isAnswered, probability, sentences }) =>
      [isAnswered ? 'refused' : 'answered', source, probability.toFixed(2), question, '=>', sentences[0]?.text].join(
        ' ',
      ),
    );
  await writeFile(values.show, `${lines.toSorted().join('\n')}\n`);
}
await writeFile(
  TARGET,
  `import type { Weights } from './answer-weights.ts';

/** Written by \`npm run train:refusals\`: that memory answers a question. */
// biome-ignore format: one line
export const ANSWERABLE_WEIGHTS: Weights = ${JSON.stringify(weights.answerable)};

/** That one of the best sentences does. */
// biome-ignore format: one line
export const ANSWERING_WEIGHTS: Weights = ${JSON.stringify(weights.answering)};

/** That memory answers a question in another language than English. */
// biome-ignore format: one line
export const FOREIGN_WEIGHTS: Weights = ${JSON.stringify(foreign)};

/** Less probable answers are refused: of notes in the first person, of other texts, and to questions in other languages. */
export const MIN_ANSWERABILITY = { own: ${limit.own}, other: ${limit.other}, foreign: ${foreignLimit} };
`,
);
