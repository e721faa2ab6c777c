/**
 * Trains the models of names and writes their weights to `../weights`:
 *   node services/common/text/extraction/rules/training/train.ts [--check] [--data ../shared/data/extraction/redocred.json]
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

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data/extraction/redocred.json' },
    check: { type: 'boolean', default: false },
  },
});
const { documents } = JSON.parse(readFileSync(path.resolve(values.data), 'utf8')) as {
  readonly documents: readonly LabelledDocument[];
};

const [typeExamples, relationExamples] = [entityTypeExamples(documents), pairExamples(documents)];
if (values.check) {
  check('types', typeExamples, TYPE_TRAINING);
  check('relations', relationExamples, PAIR_TRAINING);
} else {
  write('entity-types', 'ENTITY_TYPE_WEIGHTS', train(typeExamples, TYPE_TRAINING));
  write('relations', 'RELATION_WEIGHTS', train(relationExamples, PAIR_TRAINING));
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
