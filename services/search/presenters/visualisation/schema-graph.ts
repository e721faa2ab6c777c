import type { ViewLink } from './links.ts';
import type { ViewNode } from './nodes.ts';

const MAX_ENTITY_TYPES = 12;
const SAMPLES = 5;
const ROLLUP = 'Other entities';

/** Presents one card for each node type and for each pair of types with a relation (search-recall.md §8.1). */
export function presentSchemaGraph(
  nodes: readonly ViewNode[],
  links: readonly ViewLink[],
): Readonly<Record<string, unknown>> {
  const semantic = nodes.filter(({ stage }) => stage !== 'type');
  const typeNames = rolledTypes(semantic);
  const typeOf = new Map(semantic.map((node) => [node.id, typeNames.get(node.entity_type) ?? node.entity_type]));
  const byType = Map.groupBy(semantic, (node) => typeOf.get(node.id) ?? node.entity_type);
  const relations = countRelations(links, typeOf);
  const cards = [...byType].map(([type, members]) => {
    const samples = members
      .toSorted((a, b) => b.degree - a.degree)
      .slice(0, SAMPLES)
      .map(({ name }) => name);
    return {
      id: `type:${type}`,
      name: type,
      type: 'GraphNodeType',
      rank: Math.min(...members.map(({ visual_rank }) => visual_rank)),
      fields: null,
      instance_count: members.length,
      samples,
      sample_size: samples.length,
      relationships: relations
        .filter(({ source }) => source === type)
        .map(({ target, relation, count }) => ({ to_type: target, relation, count })),
      ...(type === ROLLUP
        ? { rollup: true, rolled_up_types: [...typeNames.keys()].filter((name) => typeNames.get(name) === ROLLUP) }
        : {}),
    };
  });
  const joints = relations.map(({ source, target, relation, count }, index) => ({
    id: `rel:${index}:${source}:${target}`,
    name: relation,
    type: 'GraphRelationshipType',
    rank: null,
    source_type: source,
    target_type: target,
    relationship_label: relation,
    edge_count: count,
    fields: null,
  }));
  return {
    nodes: [...cards, ...joints],
    links: joints.flatMap(({ id, source_type, target_type }) => [
      { source: `type:${source_type}`, target: id, label: 'from' },
      { source: id, target: `type:${target_type}`, label: 'to' },
    ]),
    instances_by_type: Object.fromEntries([...byType].map(([type, members]) => [type, members.map(({ id }) => id)])),
    instance_index: instanceIndex(semantic, typeOf, links),
    operations: null,
    operation_links: null,
  };
}

/** Returns the card name of rare entity types, which share one card when there are many types. */
function rolledTypes(nodes: readonly ViewNode[]): ReadonlyMap<string, string> {
  const entities = nodes.filter(({ stage }) => stage === 'entity');
  const counts = [...Map.groupBy(entities, ({ entity_type }) => entity_type)].toSorted(
    (a, b) => b[1].length - a[1].length,
  );
  if (counts.length <= MAX_ENTITY_TYPES) return new Map();
  return new Map(counts.slice(MAX_ENTITY_TYPES - 1).map(([name]) => [name, ROLLUP]));
}

function countRelations(
  links: readonly ViewLink[],
  typeOf: ReadonlyMap<string, string>,
): { source: string; target: string; relation: string; count: number }[] {
  const counts = new Map<string, { source: string; target: string; relation: string; count: number }>();
  for (const link of links) {
    const source = typeOf.get(link.source);
    const target = typeOf.get(link.target);
    if (source === undefined || target === undefined) continue;
    const key = JSON.stringify([source, link.relation, target]);
    const known = counts.get(key) ?? { source, target, relation: link.relation, count: 0 };
    known.count += 1;
    counts.set(key, known);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || a.relation.localeCompare(b.relation));
}

/** Returns each instance with its neighbours, for a click on a card. */
function instanceIndex(
  nodes: readonly ViewNode[],
  typeOf: ReadonlyMap<string, string>,
  links: readonly ViewLink[],
): Readonly<Record<string, unknown>> {
  const outgoing = Map.groupBy(links, ({ source }) => source);
  const incoming = Map.groupBy(links, ({ target }) => target);
  return Object.fromEntries(
    nodes.map(({ id, name }) => [
      id,
      {
        id,
        name,
        type: typeOf.get(id),
        out: (outgoing.get(id) ?? []).map(({ target, relation }) => ({ id: target, relation })),
        in: (incoming.get(id) ?? []).map(({ source, relation }) => ({ id: source, relation })),
      },
    ]),
  );
}
