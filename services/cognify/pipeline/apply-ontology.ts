import { setImmediate as nextTurn } from 'node:timers/promises';
import { NODE_TYPES, RELATIONS } from '../../common/domain/index-rows.ts';
import { idFor, slug } from '../../common/kernel/ids.ts';
import type { Json } from '../../common/kernel/json.ts';
import { nameKey } from '../../common/text/language/fold.ts';
import {
  canonicalName,
  type Ontology,
  type OntologyEdge,
  type OntologyTerm,
} from '../../common/text/ontology/ontology.ts';
import { type DocumentEntity, mergedMentions, mergedRelations, type ResolvedEntities } from './document-entities.ts';
import { TIMESTAMP } from './times.ts';

/** The ontology of a run, and what becomes of entities that it does not know. */
export interface AppliedOntology {
  readonly ontology: Ontology;
  /** `annotate` keeps them, `strict` drops them with their relations. */
  readonly mode: 'annotate' | 'strict';
}

interface OntologyNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, Json>>;
}

/** Edges from node to node, as the ontology states them. */
interface OntologyLink {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  readonly text: string;
}

export interface MatchedEntities extends ResolvedEntities {
  /** Classes and individuals that the entities lead to, matched ones included, by node id. */
  readonly known: ReadonlyMap<string, OntologyNode>;
  readonly links: readonly OntologyLink[];
}

export const WITHOUT_ONTOLOGY: Pick<MatchedEntities, 'known' | 'links'> = { known: new Map(), links: [] };

/** Terms that one item adds to the graph at most. */
const MAX_TERMS = 1000;
/** Comparing a name with tens of thousands of similar ones takes some milliseconds. */
const MATCHES_PER_TURN = 4;

/**
 * Matches the entities of a document with an ontology (cognify-improve.md §1.10). A matched name becomes the canonical one of
 * its individual, a matched type that of its class; entities that are one individual are merged. What the ontology states of
 * matched classes and individuals is added.
 */
export async function applyOntology(
  { ontology, mode }: AppliedOntology,
  resolved: ResolvedEntities,
): Promise<MatchedEntities> {
  const roots = new Set<OntologyTerm>();
  const ids = new Map<string, string>();
  const entities = new Map<string, DocumentEntity>();
  for (const [index, entity] of resolved.entities.entries()) {
    if (index % MATCHES_PER_TURN === MATCHES_PER_TURN - 1) await nextTurn();
    const matched = matchEntity(ontology, entity);
    if (matched.terms.length === 0 && mode === 'strict') continue;
    for (const term of matched.terms) roots.add(term);
    const { id } = matched.entity;
    ids.set(entity.id, id);
    const before = entities.get(id);
    entities.set(id, before === undefined ? matched.entity : mergedEntity(before, matched.entity));
  }
  const { terms, edges } = ontology.around(roots, MAX_TERMS);
  const nodes = new Map(terms.map((term) => [term.uri, nodeOf(term, ontology)]));
  const times = new Set([...entities.values()].filter(({ type }) => type === TIMESTAMP).map(({ id }) => id));
  return {
    entities: [...entities.values()],
    ...repointed(resolved, ids, (id) => times.has(id)),
    known: new Map([...nodes.values()].map((node) => [node.id, node])),
    links: linksOf(edges, nodes),
  };
}

function matchEntity(
  ontology: Ontology,
  entity: DocumentEntity,
): { readonly entity: DocumentEntity; readonly terms: readonly OntologyTerm[] } {
  if (entity.type === TIMESTAMP) return { entity, terms: [] };
  const known = ontology.classOf(entity.type);
  const individual = ontology.individualOf([entity.name, ...entity.aliases]);
  const typed = known === null ? entity : { ...entity, type: canonicalName(known) };
  if (individual === null) return { entity: typed, terms: known === null ? [] : [known] };
  const name = canonicalName(individual);
  const type = known === null ? classesOf(individual, ontology)[0] : undefined;
  return {
    entity: {
      ...typed,
      ...(type === undefined ? {} : { type: canonicalName(type) }),
      id: entityId(name),
      name,
      aliases: otherNames(name, [entity.name, ...entity.aliases]),
      isKeyword: false,
      ontologyUri: individual.uri,
    },
    terms: [individual, ...(known === null ? [] : [known])],
  };
}

function classesOf(individual: OntologyTerm, ontology: Ontology): readonly OntologyTerm[] {
  return ontology.around([individual], MAX_TERMS).terms.filter(({ kind }) => kind === 'class');
}

function entityId(name: string): string {
  return idFor('Entity', nameKey(name));
}

function otherNames(name: string, names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((other) => other !== name).sort();
}

/** Two entities of a document that are one individual. */
function mergedEntity(first: DocumentEntity, second: DocumentEntity): DocumentEntity {
  const [main, other] = first.ontologyUri === undefined ? [second, first] : [first, second];
  const { description } = first.description.length >= second.description.length ? first : second;
  return {
    ...main,
    description,
    aliases: otherNames(main.name, [...main.aliases, other.name, ...other.aliases]),
    mentions: first.mentions + second.mentions,
    ordinal: Math.min(first.ordinal, second.ordinal),
    merged: [...first.merged, ...second.merged],
    isKeyword: first.isKeyword && second.isKeyword,
  };
}

/** Relations and mentions of the entities that are left, under their new ids. */
function repointed(
  { relations, mentions }: ResolvedEntities,
  ids: ReadonlyMap<string, string>,
  isTime: (id: string) => boolean,
): Pick<ResolvedEntities, 'relations' | 'mentions'> {
  const idOf = (id: string): string => ids.get(id) ?? '';
  const stated = relations
    .filter(({ sourceId, targetId }) => ids.has(sourceId) && ids.has(targetId))
    .map(({ sourceId, targetId, validFrom, validTo, ...rest }) => {
      const valid = { ...(validFrom && { validFrom }), ...(validTo && { validTo }) };
      return { ...rest, source: sourceId, target: targetId, valid };
    });
  const kept = mentions
    .filter(({ entityId: id }) => ids.has(id))
    .map(({ entityId: key, ...rest }) => ({ ...rest, key }));
  return { relations: mergedRelations(stated, idOf, isTime), mentions: mergedMentions(kept, idOf) };
}

function nodeOf(term: OntologyTerm, ontology: Ontology): OntologyNode {
  const name = canonicalName(term);
  const properties = { ontologyValid: true, ontologyUri: term.uri };
  if (term.kind === 'class') return { id: idFor('EntityType', name), type: NODE_TYPES.entityType, name, properties };
  const [type] = classesOf(term, ontology);
  return {
    id: entityId(name),
    type: NODE_TYPES.entity,
    name,
    properties: { ...properties, ...(type === undefined ? {} : { entityType: canonicalName(type) }) },
  };
}

function linksOf(edges: readonly OntologyEdge[], nodes: ReadonlyMap<string, OntologyNode>): readonly OntologyLink[] {
  return edges.flatMap(([from, property, to]) => {
    const [source, target] = [nodes.get(from), nodes.get(to)];
    if (source === undefined || target === undefined || source.id === target.id) return [];
    const relation = property === RELATIONS.isA ? property : relationOf(property);
    const text = `${source.name} ${relation.replaceAll('_', ' ')} ${target.name}.`;
    return [{ source: source.id, relation, target: target.id, text }];
  });
}

/** `hasManufacturer` → `has_manufacturer`. */
function relationOf(property: string): string {
  return slug(property.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_').replaceAll('-', '_'));
}
