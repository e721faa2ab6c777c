import { slug } from '../../kernel/ids.ts';

export interface UnreadableFile {
  readonly name: string;
  readonly reason: string;
}

/** A named class or individual. */
export interface OntologyTerm {
  readonly uri: string;
  readonly kind: 'class' | 'individual';
  /** Fragment or last segment of its IRI. */
  readonly name: string;
  /** `rdfs:label`, the English one of several. */
  readonly label: string | null;
}

/** From, relation, to, by IRI: `is_a` to a class, or an object property. */
export type OntologyEdge = readonly [source: string, relation: string, target: string];

export type OntologyPart = { readonly terms: readonly OntologyTerm[] } | { readonly edges: readonly OntologyEdge[] };

/** Classes and individuals that extracted entities are matched with (cognify-improve.md §1.10). */
export interface Ontology {
  readonly isEmpty: boolean;
  /** Finds the class of a type: by its name or label, else by the most similar one. */
  classOf(type: string): OntologyTerm | null;
  /** Finds an individual by one of the names of an entity, else by the one most similar to the first. */
  individualOf(names: readonly string[]): OntologyTerm | null;
  /** Walks from the roots, breadth first, over at most `maxTerms` terms; the edges are those between visited terms. */
  around(
    roots: Iterable<OntologyTerm>,
    maxTerms: number,
  ): { readonly terms: readonly OntologyTerm[]; readonly edges: readonly OntologyEdge[] };
}

export function createOntology(terms: readonly OntologyTerm[], edges: readonly OntologyEdge[]): Ontology {
  const byUri = new Map(terms.map((term) => [term.uri, term]));
  const leaving = Map.groupBy(edges, ([source]) => source);
  const classOf = createMatcher(terms.filter(({ kind }) => kind === 'class'));
  const individualOf = createMatcher(terms.filter(({ kind }) => kind === 'individual'));
  return {
    isEmpty: terms.length === 0,
    classOf: (type) => classOf([type]),
    individualOf,
    around(roots, maxTerms) {
      const visited = new Map([...roots].slice(0, maxTerms).map((term) => [term.uri, term]));
      // A map is walked in the order of insertion, what is added on the way included.
      for (const uri of visited.keys()) {
        for (const [, , target] of leaving.get(uri) ?? []) {
          if (visited.size >= maxTerms && !visited.has(target)) continue;
          visited.set(target, byUri.get(target) as OntologyTerm);
        }
      }
      const found = [...visited.keys()].flatMap((uri) => leaving.get(uri) ?? []);
      return { terms: [...visited.values()], edges: found.filter(([, , target]) => visited.has(target)) };
    },
  };
}

/** The name that a matched entity or type gets. Codes such as `HP_0001250` are no names: their label is used. */
export function canonicalName({ name, label }: OntologyTerm): string {
  return label !== null && /\d{3,}$/u.test(name) ? label : name.replaceAll('_', ' ').trim();
}

/** Names asked for again and again are remembered up to this many. */
const KEPT_ANSWERS = 10_000;

function createMatcher(terms: readonly OntologyTerm[]): (names: readonly string[]) => OntologyTerm | null {
  const byKey = new Map<string, OntologyTerm>();
  for (const spelling of ['name', 'label'] as const) {
    for (const term of terms) {
      const key = slug(term[spelling] ?? '');
      if (key !== '' && !byKey.has(key)) byKey.set(key, term);
    }
  }
  const closest = createClosestName([...byKey.keys()]);
  const answers = new Map<string, OntologyTerm | null>();
  const similarTo = (key: string): OntologyTerm | null => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const found = byKey.get(closest(key) ?? '') ?? null;
    if (answers.size >= KEPT_ANSWERS) answers.clear();
    answers.set(key, found);
    return found;
  };
  return (names) => {
    const keys = names.map((name) => slug(name.trim()));
    for (const key of keys) {
      const exact = byKey.get(key);
      if (exact !== undefined) return exact;
    }
    return keys[0] === undefined ? null : similarTo(keys[0]);
  };
}

/** Names whose similarity is smaller are different things (cognify-improve.md §1.10). */
const CUTOFF = 0.8;
/** Longer names are compared for equality alone: the comparison takes time with the square of their length. */
const MAX_LENGTH = 200;

/**
 * Finds the key that is most similar to a name, by Ratcliff and Obershelp's measure. Keys that share too few pairs of letters
 * to reach the cutoff are not compared: of tens of thousands a few dozen are.
 */
function createClosestName(keys: readonly string[]) {
  const byPair = new Map<string, number[]>();
  for (const [index, key] of keys.entries()) {
    for (const pair of new Set(pairsOf(key))) {
      const list = byPair.get(pair);
      if (list === undefined) byPair.set(pair, [index]);
      else list.push(index);
    }
  }
  return (name: string): string | null => {
    if (name.length > MAX_LENGTH) return null;
    const shared = new Map<number, number>();
    for (const pair of pairsOf(name)) {
      for (const index of byPair.get(pair) ?? []) shared.set(index, (shared.get(index) ?? 0) + 1);
    }
    let best: string | null = null;
    let greatest = CUTOFF;
    const candidates = [...shared]
      .map(([index, pairs]) => ({ key: keys[index] as string, pairs }))
      .filter(
        ({ key, pairs }) => key.length <= MAX_LENGTH && pairs >= leastSharedPairs(key.length + name.length, CUTOFF),
      )
      .sort((one, other) => other.pairs - one.pairs);
    for (const { key, pairs } of candidates) {
      const both = key.length + name.length;
      // What is found raises what the others have to reach.
      if (pairs < leastSharedPairs(both, greatest)) continue;
      if ((2 * commonLetters(key, name)) / both < greatest) continue;
      const ratio = similarity(key, name);
      if (ratio < greatest || (ratio === greatest && best !== null && key >= best)) continue;
      [best, greatest] = [key, ratio];
    }
    return best;
  };
}

/** m equal letters of both names stand in at most `both - 2m + 1` blocks, and each block of n letters has n - 1 pairs. */
function leastSharedPairs(both: number, ratio: number): number {
  return Math.max(1, 3 * Math.ceil((ratio * both) / 2 - 1e-9) - both - 1);
}

/** Letters of one name that the other has too, wherever they stand: at least as many as `equalLetters`. */
function commonLetters(one: string, other: string): number {
  const left = new Map<string, number>();
  for (const letter of one) left.set(letter, (left.get(letter) ?? 0) + 1);
  let common = 0;
  for (const letter of other) {
    const count = left.get(letter) ?? 0;
    if (count === 0) continue;
    left.set(letter, count - 1);
    common += letter.length;
  }
  return common;
}

function pairsOf(text: string): readonly string[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));
}

/** 1 for equal texts, 0 for texts without a common letter. */
function similarity(one: string, other: string): number {
  const both = one.length + other.length;
  return both === 0 ? 1 : (2 * equalLetters(one, other)) / both;
}

/** Letters of the longest common part, and of those before and after it. */
function equalLetters(one: string, other: string): number {
  const [inOne, inOther, length] = longestCommonPart(one, other);
  if (length === 0) return 0;
  return (
    length +
    equalLetters(one.slice(0, inOne), other.slice(0, inOther)) +
    equalLetters(one.slice(inOne + length), other.slice(inOther + length))
  );
}

function longestCommonPart(one: string, other: string): readonly [number, number, number] {
  let found: readonly [number, number, number] = [0, 0, 0];
  let above = new Uint16Array(other.length + 1);
  for (let at = 0; at < one.length; at++) {
    const row = new Uint16Array(other.length + 1);
    for (let to = 0; to < other.length; to++) {
      if (one[at] !== other[to]) continue;
      const length = (above[to] as number) + 1;
      row[to + 1] = length;
      if (length > found[2]) found = [at - length + 1, to - length + 1, length];
    }
    above = row;
  }
  return found;
}
