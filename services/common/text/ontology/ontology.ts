import { slug } from '../../kernel/ids.ts';
import { createClosestName } from './closest-name.ts';

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
