/**
 * Trains a model of names and writes its weights to `../weights`, `types` before `relations`, whose examples have the types:
 *   node services/common/text/extraction/rules/training/train.ts types|relations [--check] [--data ../shared/data/extraction/redocred.json]
 * `--check` prints the accuracy of a cross-validation over documents instead. Data: Re-DocRED (Tan et al. 2022, MIT), 250
 * articles of Wikipedia with labelled entities and relations.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { indexOfGreatest, type StoredModel } from '../slot-model.ts';
import type { LabelledDocument } from './labelled-document.ts';
import { PAIR_TRAINING, pairExamples } from './pair-examples.ts';
import { crossValidated, type Example, type TrainingOptions, train } from './train-slot-model.ts';
import { entityTypeExamples, TYPE_TRAINING } from './type-examples.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: '../shared/data/extraction/redocred.json' },
    check: { type: 'boolean', default: false },
  },
});
const { documents } = JSON.parse(readFileSync(path.resolve(values.data), 'utf8')) as {
  readonly documents: readonly LabelledDocument[];
};

const [what] = positionals;
if (what === 'types') learn(entityTypeExamples(documents), TYPE_TRAINING, ['entity-types', 'ENTITY_TYPE_WEIGHTS']);
else {
  // Types as the extractor gives them to texts that it has not learned from.
  const typesOf = crossValidated(entityTypeExamples(documents), TYPE_TRAINING);
  learn(pairExamples(documents, typesOf), PAIR_TRAINING, ['relations', 'RELATION_WEIGHTS']);
}

function learn(examples: readonly Example[], options: TrainingOptions, [file, name]: readonly [string, string]): void {
  if (values.check) check(file, examples, options);
  else write(file, name, train(examples, options));
}

function check(title: string, examples: readonly Example[], options: TrainingOptions): void {
  const modelOf = crossValidated(examples, options);
  const right = new Map<string, number[]>();
  for (const { features, label, group } of examples) {
    if (group < 0) continue;
    const { classes, probabilities } = modelOf(group);
    const best = classes[indexOfGreatest(probabilities(features))];
    for (const key of [label, 'all']) right.set(key, [...(right.get(key) ?? []), Number(best === label)]);
  }
  for (const [label, list] of right) {
    const share = (100 * list.filter(Boolean).length) / list.length;
    process.stdout.write(`${title}, ${label}: ${share.toFixed(1)} % of ${list.length}\n`);
  }
}

function write(file: string, name: string, model: StoredModel): void {
  writeFileSync(
    new URL(`../weights/${file}.ts`, import.meta.url),
    `import type { StoredModel } from '../slot-model.ts';\n\n// Written by training/train.ts.\n// biome-ignore format: one line\nexport const ${name}: StoredModel = ${JSON.stringify(model)};\n`,
  );
}
