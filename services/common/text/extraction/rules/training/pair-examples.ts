import { readPairs } from '../extract-by-rules.ts';
import { CONDITIONS, PAIR_SLOTS, UNNAMED, UNRELATED } from '../pair-model.ts';
import type { SlotModel } from '../slot-model.ts';
import { createTagger } from '../tagger.ts';
import { typeModel } from '../type-model.ts';
import { type LabelledDocument, normalName } from './labelled-document.ts';
import type { Example, TrainingOptions } from './train-slot-model.ts';

/** Relations by the properties of Wikidata that state them; `-` when from tail to head. The first that fits names a pair. */
const PROPERTIES: readonly (readonly [string, string])[] = Object.entries({
  born_in: 'P19',
  died_in: 'P20',
  born: 'P569',
  died: 'P570',
  studied_at: 'P69',
  plays_for: 'P54',
  member_of: 'P463 P102 P361 -P527',
  wrote: '-P50 -P58 -P86 -P676',
  directed: '-P57',
  performed: '-P175',
  released_by: 'P264 P123 P272',
  published: 'P577 P580',
  takes_part_in: 'P1344 -P710 P607 P118 P641',
  nationality: 'P27 P495 P172',
  located_in: 'P131 P17 P276 P159 P30 P706 P206 P403 -P150 P740 P551',
}).flatMap(([relation, properties]) => properties.split(' ').map((property) => [property, relation] as const));

export const PAIR_TRAINING: TrainingOptions = {
  classes: [UNRELATED, UNNAMED, ...[...CONDITIONS.keys()].flatMap((label) => [`${label}>`, `${label}<`])],
  slots: PAIR_SLOTS,
  buckets: 2048,
  epochs: 6,
  rate: 0.08,
  decay: 1e-6,
  vectorScale: 1,
};

/** Pairs of labelled names in one sentence, with the relation that the labels state; `typesOf` a document the model of types. */
export function pairExamples(
  documents: readonly LabelledDocument[],
  typesOf: (group: number) => SlotModel = typeModel,
): Example[] {
  const tag = createTagger();
  return documents.flatMap((document, group) => {
    const labels = new Map(document.entities.flatMap(({ names }, at) => names.map((name) => [normalName(name), at])));
    const stated = new Map(
      Map.groupBy(document.relations, ({ head, tail }) => `${head} ${tail}`)
        .entries()
        .map(([key, list]) => [key, list.map(({ property }) => property)]),
    );
    return readPairs({ text: document.text, documentName: '', headings: [], knownNames: [] }, tag, {
      types: () => typesOf(group),
    }).flatMap(({ left, right, features, spellings }): Example[] => {
      const [one, other] = [left.name, right.name].map((name) =>
        [name, ...(spellings(name) ?? [])]
          .map((spelling) => labels.get(normalName(spelling)))
          .find((at) => at !== undefined),
      );
      if (one === undefined || other === undefined || one === other) return [];
      const forward = stated.get(`${one} ${other}`) ?? [];
      const backward = stated.get(`${other} ${one}`) ?? [];
      return [{ features: features(), label: labelOf(forward, backward), group }];
    });
  });
}

function labelOf(forward: readonly string[], backward: readonly string[]): string {
  if (forward.length + backward.length === 0) return UNRELATED;
  for (const [property, relation] of PROPERTIES) {
    const isTurned = property.startsWith('-');
    const plain = isTurned ? property.slice(1) : property;
    if (forward.includes(plain)) return `${relation}${isTurned ? '<' : '>'}`;
    if (backward.includes(plain)) return `${relation}${isTurned ? '>' : '<'}`;
  }
  return UNNAMED;
}
