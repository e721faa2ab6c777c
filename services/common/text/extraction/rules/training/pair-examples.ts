import { readPairs } from '../extract-by-rules.ts';
import { PAIR_SLOTS, UNNAMED, UNRELATED } from '../pair-model.ts';
import { createTagger } from '../tagger.ts';
import { type LabelledDocument, normalName } from './labelled-document.ts';
import type { Example, TrainingOptions } from './train-slot-model.ts';

/** Relations by the properties of Wikidata that state them; `-` when from tail to head. The first that fits names a pair. */
const PROPERTIES: readonly (readonly [string, string])[] = Object.entries({
  born_in: 'P19',
  died_in: 'P20',
  born: 'P569',
  died: 'P570',
  married_to: 'P26',
  parent_of: 'P40 -P22 -P25',
  sibling_of: 'P3373',
  studied_at: 'P69',
  works_for: 'P108',
  plays_for: 'P54',
  member_of: 'P463 P102 P361 -P527',
  wrote: '-P50 -P58 -P86 -P676',
  directed: '-P57',
  performed: '-P175',
  appears_in: 'P1441 -P674 -P161',
  created: 'P800 -P170 -P178 -P162 -P112',
  owned_by: 'P127 P749 -P355',
  released_by: 'P264 P123 P272',
  leads: '-P6 -P35 -P488 -P169 P39',
  founded: 'P571',
  published: 'P577 P580',
  takes_part_in: 'P1344 -P710 P607 P118 P641',
  follows: 'P155 -P156',
  nationality: 'P27 P495 P172',
  located_in: 'P131 P17 P276 P159 P30 P706 P206 P403 -P150 P740 P551',
}).flatMap(([relation, properties]) => properties.split(' ').map((property) => [property, relation] as const));

const LABELS = [...new Set(PROPERTIES.map(([, relation]) => relation))];

export const PAIR_TRAINING: TrainingOptions = {
  classes: [UNRELATED, UNNAMED, ...LABELS.flatMap((label) => [`${label}>`, `${label}<`])],
  slots: PAIR_SLOTS,
  buckets: 2048,
  epochs: 6,
  rate: 0.08,
  decay: 1e-6,
  vectorScale: 1,
};

/** Pairs of labelled names in one sentence, with the relation that the labels state. */
export function pairExamples(documents: readonly LabelledDocument[]): Example[] {
  const tag = createTagger();
  return documents.flatMap((document, group) => {
    const labels = new Map(document.entities.flatMap(({ names }, at) => names.map((name) => [normalName(name), at])));
    const stated = new Map(
      Map.groupBy(document.relations, ({ head, tail }) => `${head} ${tail}`)
        .entries()
        .map(([key, list]) => [key, list.map(({ property }) => property)]),
    );
    return readPairs({ text: document.text, documentName: '', headings: [], knownNames: [] }, tag).flatMap(
      ({ left, right, features, spellings }): Example[] => {
        const [one, other] = [left.name, right.name].map((name) =>
          [name, ...(spellings(name) ?? [])]
            .map((spelling) => labels.get(normalName(spelling)))
            .find((at) => at !== undefined),
        );
        if (one === undefined || other === undefined || one === other) return [];
        const forward = stated.get(`${one} ${other}`) ?? [];
        const backward = stated.get(`${other} ${one}`) ?? [];
        return [{ features, label: labelOf(forward, backward), group }];
      },
    );
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
