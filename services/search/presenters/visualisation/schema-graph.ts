import { STAGE_NAMES } from '../../../common/domain/improve-stages.ts';
import { compareText } from '../../../common/kernel/compare-text.ts';
import type { ViewLink } from './links.ts';
import type { ViewNode } from './nodes.ts';

const MAX_ENTITY_TYPES = 12;
const SAMPLES = 5;
const FIELDS = 6;
const ROLLUP = 'Other entities';

/** The nodes of a type, and what they are related to. */
interface TypeSummary {
  readonly type: string;
  readonly members: readonly ViewNode[];
  /** Names of the most connected ones. */
  readonly samples: readonly string[];
  readonly relationships: readonly { readonly to_type: string; readonly relation: string; readonly count: number }[];
}

/** Sums nodes up by type. An entity counts under its entity type, or under what `renamed` says for it. */
export function summariseTypes(
  nodes: readonly ViewNode[],
  links: readonly ViewLink[],
  { samples, renamed = new Map() }: { readonly samples: number; readonly renamed?: ReadonlyMap<string, string> },
): readonly TypeSummary[] {
  const typeOf = typesOf(nodes, renamed);
  const counts = new Map<string, { of: string; to_type: string; relation: string; count: number }>();
  const count = (of: string | undefined, to_type: string | undefined, relation: string) => {
    if (of === undefined || to_type === undefined) return;
    const key = JSON.stringify([of, to_type, relation]);
    const known = counts.get(key) ?? { of, to_type, relation, count: 0 };
    known.count += 1;
    counts.set(key, known);
  };
  for (const { source, target, relation } of links) {
    count(typeOf.get(source), typeOf.get(target), relation);
    count(typeOf.get(target), typeOf.get(source), `← ${relation}`);
  }
  const byType = Map.groupBy(counts.values(), ({ of }) => of);
  return [...Map.groupBy(nodes, ({ id }) => typeOf.get(id) ?? '')].map(([type, members]) => ({
    type,
    members,
    samples: members
      .toSorted((a, b) => b.degree - a.degree || compareText(a.name, b.name))
      .slice(0, samples)
      .map(({ name }) => name),
    relationships: (byType.get(type) ?? [])
      .map(({ of: _, ...relationship }) => relationship)
      .toSorted(
        (a, b) => b.count - a.count || compareText(a.to_type, b.to_type) || compareText(a.relation, b.relation),
      ),
  }));
}

/** Presents one card for each node type and for each pair of types with a relation (search-recall.md §8.1). */
export function presentSchemaGraph(
  nodes: readonly ViewNode[],
  links: readonly ViewLink[],
): Readonly<Record<string, unknown>> {
  const renamed = rolledTypes(nodes);
  const types = summariseTypes(nodes, links, { samples: SAMPLES, renamed });
  const typeOf = typesOf(nodes, renamed);
  const cards = types.map(({ type, members, samples, relationships }) => ({
    id: `type:${type}`,
    name: type,
    type: 'GraphNodeType',
    rank: Math.min(...members.map(({ visual_rank }) => visual_rank)),
    fields: [field('count', String(members.length)), ...fieldsOf(members)],
    source_pipeline: only(members, 'source_pipeline'),
    source_task: only(members, 'source_task'),
    source_user: only(members, 'source_user'),
    instance_count: members.length,
    samples,
    sample_size: samples.length,
    relationships,
    ...(type === ROLLUP ? { rollup: true, rolled_up_types: [...renamed.keys()] } : {}),
  }));
  const ranks = new Map(cards.map(({ name, rank }) => [name, rank]));
  const joints = jointsOf(links, typeOf, ranks);
  return {
    nodes: [...cards, ...joints],
    links: joints.flatMap(({ id, source_type, target_type }) => [
      { source: `type:${source_type}`, target: id, label: 'from' },
      { source: id, target: `type:${target_type}`, label: 'to' },
    ]),
    instances_by_type: Object.fromEntries(types.map(({ type, members }) => [type, members.map(({ id }) => id)])),
    instance_index: instanceIndex(nodes, typeOf, links),
    ...presentOperations(types),
  };
}

function typesOf(nodes: readonly ViewNode[], renamed: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(nodes.map(({ id, entity_type: type }) => [id, renamed.get(type) ?? type]));
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

interface Field {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

const field = (name: string, type: string, required = true): Field => ({ name, type, required });

/** Fields that every node has by being drawn, or that differ in each. */
const DRAWN: ReadonlySet<string> = new Set(
  'id name type color stage degree importance visual_rank label_priority is_unnamed is_memory_learning entity_type t_created provenance text'.split(
    ' ',
  ),
);

/** Returns the fields that most of the nodes have, with their kind and the share that has them. */
function fieldsOf(members: readonly ViewNode[]): readonly Field[] {
  const kinds = new Map<string, { kind: string; count: number }>();
  for (const node of members) {
    for (const [name, value] of Object.entries(node)) {
      if (DRAWN.has(name) || value === null || value === undefined) continue;
      const known = kinds.get(name) ?? { kind: kindOf(value), count: 0 };
      known.count += 1;
      kinds.set(name, known);
    }
  }
  return [...kinds]
    .toSorted((a, b) => b[1].count - a[1].count)
    .slice(0, FIELDS - 1)
    .map(([name, { kind, count }]) =>
      field(name, `${kind} ${Math.round((100 * count) / members.length)}%`, count === members.length),
    );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Returns the value that all of the nodes share, null where they differ. */
function only(members: readonly ViewNode[], name: string): unknown {
  const [first = null, ...others] = new Set(members.map((node) => node[name]));
  return others.length === 0 ? first : null;
}

/** Presents each pair of types between whose nodes there are links. */
function jointsOf(links: readonly ViewLink[], typeOf: ReadonlyMap<string, string>, ranks: ReadonlyMap<string, number>) {
  const pairs = Map.groupBy(links, ({ source, target }) => JSON.stringify([typeOf.get(source), typeOf.get(target)]));
  return [...pairs].map(([key, between], index) => {
    const [source, target] = JSON.parse(key) as [string, string];
    const relations = [...Map.groupBy(between, ({ relation }) => relation)]
      .map(([relation, { length }]) => ({ relation, length }))
      .toSorted((a, b) => b.length - a.length || compareText(a.relation, b.relation));
    return {
      id: `rel:${index}:${source}:${target}`,
      name: `${source} to ${target}`,
      type: 'GraphRelationshipType',
      rank: ((ranks.get(source) ?? 0) + (ranks.get(target) ?? 0)) / 2,
      source_type: source,
      target_type: target,
      relationship_label: relations.map(({ relation, length }) => `${relation} (${length})`).join(', '),
      edge_count: between.length,
      fields: [
        field('edges', String(between.length)),
        field('top relation', relations[0]?.relation ?? ''),
        field('relation types', String(relations.length)),
      ],
    };
  });
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

interface Operation {
  readonly name: string;
  readonly kind: 'pipeline' | 'lifecycle' | 'self_improve';
  readonly scope: 'subset' | 'whole';
  readonly summary: string;
  readonly effect: 'produces' | 'enriches' | 'modifies' | 'removes';
  readonly property?: string;
  /** Stages of the nodes that it changes; absent: all. */
  readonly stages?: readonly string[];
  /** Node set of what it adds. */
  readonly nodeSet?: string;
}

const OF_ITEMS = ['document', 'chunk', 'entity'];
/** Effect of each stage of improve on the graph; the others do nothing to it. */
const STAGE_EFFECTS: Partial<Record<(typeof STAGE_NAMES)[number], Omit<Operation, 'name' | 'kind'>>> = {
  feedback_weights: {
    scope: 'subset',
    summary: 'Changes the weight of nodes and edges by the ratings of answers that used them.',
    effect: 'modifies',
    property: 'feedback_weight',
    stages: ['chunk', 'entity'],
  },
  persist_session_qa: {
    scope: 'subset',
    summary: 'Brings what was said in sessions into the graph.',
    effect: 'produces',
    stages: OF_ITEMS,
    nodeSet: 'user_sessions_from_cache',
  },
  persist_agent_traces: {
    scope: 'subset',
    summary: 'Brings what steps of agents taught into the graph.',
    effect: 'produces',
    stages: OF_ITEMS,
    nodeSet: 'agent_trace_feedbacks',
  },
  distill_sessions: {
    scope: 'subset',
    summary: 'Writes lessons of sessions into the graph.',
    effect: 'produces',
    stages: OF_ITEMS,
    nodeSet: 'session_learnings',
  },
  build_truth_subspace: {
    scope: 'subset',
    summary: 'Measures passages by what accepted lessons say.',
    effect: 'modifies',
    property: 'truth_alignment',
    stages: ['chunk'],
  },
  triplet_enrichment: {
    scope: 'whole',
    summary: 'Indexes the statements of the graph.',
    effect: 'enriches',
    stages: ['entity'],
  },
  global_context_index: {
    scope: 'whole',
    summary: 'Builds a tree of summaries over the summaries of passages.',
    effect: 'enriches',
    stages: ['summary'],
  },
};

const OPERATIONS: readonly Operation[] = [
  {
    name: 'cognify',
    kind: 'pipeline',
    scope: 'subset',
    summary: 'Builds the graph from documents.',
    effect: 'produces',
  },
  {
    name: 'forget',
    kind: 'lifecycle',
    scope: 'subset',
    summary: 'Removes documents with everything that was built from them.',
    effect: 'removes',
  },
  ...STAGE_NAMES.flatMap((name): Operation[] => {
    const effect = STAGE_EFFECTS[name];
    return effect === undefined ? [] : [{ name, kind: 'self_improve', ...effect }];
  }),
];

/** Presents what can change the graph, and which types; observed: nodes of the type show that it did. */
function presentOperations(types: readonly TypeSummary[]): Readonly<Record<string, unknown>> {
  return {
    operations: OPERATIONS.map(({ name, kind, scope, summary }) => ({
      id: `op:${name}`,
      name: name.replaceAll('_', ' '),
      type: 'GraphOperation',
      op_kind: kind,
      scope,
      summary,
    })),
    operation_links: OPERATIONS.flatMap(({ name, effect, property, stages, nodeSet }) =>
      types
        .filter(({ members }) => members.some(({ stage }) => stages?.includes(stage) ?? true))
        .map(({ type, members }) => ({
          source: `op:${name}`,
          target: `type:${type}`,
          effect,
          property: property ?? null,
          observed: members.some((node) => isObserved(node, { name, nodeSet })),
        })),
    ),
  };
}

function isObserved(
  node: ViewNode,
  { name, nodeSet }: Pick<Operation, 'name'> & { readonly nodeSet: string | undefined },
) {
  if (name === 'cognify') return node['source_pipeline'] === 'cognify_pipeline';
  if (name === 'feedback_weights') return node['feedback_weight'] !== undefined && node['feedback_weight'] !== 0.5;
  return nodeSet !== undefined && (node['belongs_to_set'] as readonly string[]).includes(nodeSet);
}
