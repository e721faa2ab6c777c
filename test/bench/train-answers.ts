/**
 * Learns the weights of answers without a model: `npm run train:answers -- [--cases cases.json] [--write]`. The data are
 * `answers/nq.json` (Natural Questions), the same questions with a word of like meaning, and notes, a diary and a journal in
 * the first person, twice, with the passages that search finds for them, which are kept in `--cases` and read from there when
 * it exists. A question whose passages with the answer are taken away stands for one that memory does not answer. Prints
 * figures of five-fold cross-validation, and of `answers/everyday.json`, `samples/memories.json` and `samples/logbook.json`,
 * which are not learned from. `--write` writes `services/search/answers/answer-weights.ts`.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { logistic, softmax } from '../../services/common/kernel/probability.ts';
import type { AnswerWeights, Weights } from '../../services/search/answers/answer-weights.ts';
import { type Question, readQuestion } from '../../services/search/answers/question.ts';
import { rankSentences, type Sentence, sentencesOf } from '../../services/search/answers/rank-sentences.ts';
import { MIN_SHORT_CONFIDENCE, shortAnswer, spanCandidates } from '../../services/search/answers/short-answer.ts';
import { type Case, contains, readCases } from './answer-cases.ts';
import { percent, quantile } from './paired.ts';

type Features = Readonly<Record<string, number>>;

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

/** Choices with their features in the order of `names`. */
interface Table {
  readonly names: readonly string[];
  readonly rows: readonly (readonly { readonly values: Float64Array; readonly isRight: boolean }[])[];
}

function tableOf(lists: readonly (readonly Choice[])[]): Table {
  const names = [...new Set(lists.flat().flatMap(({ features }) => Object.keys(features)))];
  const rows = lists.map((list) =>
    list.map(({ features, isRight }) => ({ values: Float64Array.from(names, (name) => features[name] ?? 0), isRight })),
  );
  return { names, rows };
}

const weightsOf = ({ names }: Table, learned: Float64Array): Weights =>
  Object.fromEntries(names.map((name, at) => [name, learned[at] ?? 0]));

/** Weights by which the right choices of a list have the largest share of the softmax. */
function softmaxWeights(lists: readonly (readonly Choice[])[], epochs: number): Weights {
  const table = tableOf(
    lists.filter((list) => list.some(({ isRight }) => isRight) && !list.every(({ isRight }) => isRight)),
  );
  const weights = new Float64Array(table.names.length);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const rate = 0.3 / (1 + epoch * 0.2);
    for (const list of table.rows) {
      const shares = softmax(list.map(({ values }) => dot(values, weights)));
      const right = shares.reduce((sum, share, at) => sum + (list[at]?.isRight ? share : 0), 0);
      const step = new Float64Array(weights.length);
      for (const [at, { values, isRight }] of list.entries()) {
        const share = shares[at] ?? 0;
        add(step, values, share - (isRight ? share / right : 0));
      }
      descend(weights, step, rate);
    }
  }
  return weightsOf(table, weights);
}

/** Weights of a logistic regression, with a bias. */
function logisticWeights(choices: readonly Choice[]): Weights {
  const table = tableOf([choices.map((one) => ({ ...one, features: { ...one.features, bias: 1 } }))]);
  const weights = new Float64Array(table.names.length);
  for (let epoch = 0; epoch < 60; epoch++) {
    const rate = 0.1 / (1 + epoch * 0.2);
    for (const { values, isRight } of table.rows.flat()) {
      const step = new Float64Array(weights.length);
      add(step, values, logistic(dot(values, weights)) - Number(isRight));
      descend(weights, step, rate);
    }
  }
  return weightsOf(table, weights);
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
  return sum;
}

function add(sum: Float64Array, values: Float64Array, factor: number): void {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + factor * (values[at] as number);
}

function descend(weights: Float64Array, step: Float64Array, rate: number): void {
  for (let at = 0; at < step.length; at++) {
    const weight = weights[at] as number;
    weights[at] = weight - rate * ((step[at] as number) + 1e-4 * weight);
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
  // Unanswerable questions are refused before.
  const shorts = answerable.flatMap((of) => {
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
const people = [...cases.notes, ...cases.diary, ...cases.journal].filter(isPlain);
const others = { everyday: cases.everyday, memories: cases.memories, logbook: cases.logbook };
const full = readAll(cases.nq);
const emptied = readAll(cases.nq.map(withoutAnswers));
const reworded = cases.reworded.map((one) => (one === null ? null : (readAll([one])[0] ?? null)));
const [peopleFull, peopleEmptied] = [readAll(people), readAll(people.map(withoutAnswers))];

function learnWhere(isTraining: (at: number) => boolean): AnswerWeights {
  const of = <T>(all: readonly T[]) => all.filter((_one, at) => isTraining(at));
  const twice = <T>(all: readonly T[]) => [...all, ...all];
  return learn(
    [...of(full), ...of(reworded).filter((one) => one !== null), ...twice(of(peopleFull))],
    [...of(emptied), ...twice(of(peopleEmptied))],
  );
}
const folds = Array.from({ length: FOLDS }, (_, fold) => {
  const weights = learnWhere((at) => at % FOLDS !== fold);
  const judged = (all: readonly (Read | null)[]) =>
    all.filter((_one, at) => at % FOLDS === fold).flatMap((of) => (of === null ? [] : [judge(of, weights)]));
  return { full: judged(full), emptied: judged(emptied), reworded: judged(reworded), people: judged(peopleFull) };
});
const answerable = folds.flatMap((fold) => fold.full);
const unanswerable = folds.flatMap((fold) => fold.emptied);
const learned = learnWhere(() => true);
const byType = Map.groupBy(answerable, ({ type }) => type);
const figures = (of: readonly Judged[]) =>
  `${of.length}: sentence ${percent(of.map(({ sentence }) => Number(sentence)))}, first160 ${percent(of.map(({ first160 }) => Number(first160)))}, short ${percent(of.map(({ short }) => Number(short)))}`;
const sourceOf = (at: number) => (at < cases.notes.filter(isPlain).length ? 'notes' : 'diary and journal');
const ofPeople = folds.flatMap((fold, number) =>
  fold.people.map((one, at) => ({ one, of: people[number + FOLDS * at] as Case, at: number + FOLDS * at })),
);
const peopleBySource = Map.groupBy(ofPeople, ({ at, of }) => `${sourceOf(at)}, ${of.kind}`);
const judgedOthers = Object.entries(others).flatMap(([name, of]) => {
  const plain = of.filter(isPlain);
  const judged = readAll(plain).map((one) => judge(one, learned));
  return [...Map.groupBy(judged.keys(), (at) => plain[at]?.kind ?? '')].map(
    ([kind, places]) => [`${name}, ${kind}`, figures([...places].flatMap((at) => judged[at] ?? []))] as const,
  );
});
process.stdout.write(
  `${JSON.stringify(
    {
      ...summary(answerable, unanswerable),
      byType: Object.fromEntries([...byType].map(([type, of]) => [type, figures(of)])),
      reworded: figures(folds.flatMap((fold) => fold.reworded)),
      people: Object.fromEntries(
        [...peopleBySource].map(([source, of]) => [source, figures(of.map(({ one }) => one))]),
      ),
      others: Object.fromEntries(judgedOthers),
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
