/**
 * Trains the models of names and writes their weights to `../weights`:
 *   node services/common/text/extraction/rules/training/train.ts [--check] [--data ../shared/data/extraction/redocred.json]
 * `--check` prints the accuracy of a cross-validation over documents instead. Data: Re-DocRED (Tan et al. 2022, MIT), 250
 * articles of Wikipedia with labelled entities and relations.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { indexOfGreatest } from '../slot-model.ts';
import type { LabelledDocument } from './labelled-document.ts';
import { crossValidated, train } from './train-slot-model.ts';
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

const examples = entityTypeExamples(documents);
if (values.check) {
  const modelOf = crossValidated(examples, TYPE_TRAINING);
  const right = new Map<string, number[]>();
  for (const { features, label, group } of examples) {
    if (group < 0) continue;
    const { classes, probabilities } = modelOf(group);
    const of = probabilities(features);
    const best = classes[indexOfGreatest(of)];
    for (const key of [label, 'all']) right.set(key, [...(right.get(key) ?? []), Number(best === label)]);
  }
  for (const [label, list] of right) {
    process.stdout.write(
      `${label}: ${((100 * list.filter(Boolean).length) / list.length).toFixed(1)} of ${list.length}\n`,
    );
  }
} else {
  const text = JSON.stringify(train(examples, TYPE_TRAINING));
  writeFileSync(
    new URL('../weights/entity-types.ts', import.meta.url),
    `import type { StoredModel } from '../slot-model.ts';\n\n// Written by training/train.ts.\n// biome-ignore format: one line\nexport const ENTITY_TYPE_WEIGHTS: StoredModel = ${text};\n`,
  );
}
