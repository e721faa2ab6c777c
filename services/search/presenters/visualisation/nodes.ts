import { NODE_TYPES, RELATIONS } from '../../../common/domain/index-rows.ts';
import { COGNIFY_PIPELINE } from '../../../common/domain/run.ts';
import type { JsonObject } from '../../../common/kernel/json.ts';
import { NEUTRAL_WEIGHT } from '../../../common/records/improve/element-weights.ts';
import { firstWords } from '../../../common/text/document-label.ts';
import type { ViewDetails } from '../../views/view-details.ts';
import type { GraphView } from '../../views/view-graph.ts';
import { buildStep } from '../source-task.ts';

/** A node of a graph view on the wire (search-recall.md §8.1). */
export interface ViewNode extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly entity_type: string;
  readonly color: string;
  readonly stage: string;
  readonly degree: number;
  readonly importance: number;
  readonly visual_rank: number;
  /** Epoch milliseconds. */
  readonly t_created: number | null;
}

export const STAGES = ['document', 'chunk', 'entity', 'type', 'summary', 'context', 'schema', 'other'] as const;
const STAGE_BY_TYPE: ReadonlyMap<string, (typeof STAGES)[number]> = new Map(
  Object.entries<(typeof STAGES)[number]>({
    [NODE_TYPES.document]: 'document',
    [NODE_TYPES.chunk]: 'chunk',
    [NODE_TYPES.entity]: 'entity',
    [NODE_TYPES.entityType]: 'type',
    [NODE_TYPES.summary]: 'summary',
    [NODE_TYPES.timestamp]: 'entity',
  }),
);
const COLOURS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    [NODE_TYPES.document]: '#A550FF',
    [NODE_TYPES.chunk]: '#0DFF00',
    [NODE_TYPES.entity]: '#6510F4',
    [NODE_TYPES.entityType]: '#D5C2FF',
    [NODE_TYPES.summary]: '#FFB454',
    [NODE_TYPES.timestamp]: '#38BDF8',
    [NODE_TYPES.nodeSet]: '#94A3B8',
  }),
);
const OTHER_COLOUR = '#DBD8D8';
/** An ontology knows it. */
const CONFIRMED_COLOUR = '#FF5CA8';

export function stageOf(type: string): (typeof STAGES)[number] {
  return STAGE_BY_TYPE.get(type) ?? 'other';
}

export function presentNodes(view: GraphView, details: ViewDetails | null = null): readonly ViewNode[] {
  const typeNames = new Map(
    view.nodes.filter(({ type }) => type === NODE_TYPES.entityType).map(({ id, name }) => [id, name]),
  );
  const entityTypes = new Map(
    view.edges
      .filter(({ relation, target }) => relation === RELATIONS.isA && typeNames.has(target))
      .map(({ source, target }) => [source, typeNames.get(target)]),
  );
  const degrees = new Map<string, number>();
  for (const { source, target } of view.edges) {
    for (const id of [source, target]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  }
  const greatest = Math.max(1, ...degrees.values());
  const beginnings = beginningsOf(view);
  const nodes = view.nodes.map((node): ViewNode => {
    const degree = degrees.get(node.id) ?? 0;
    const own = node.properties['text'];
    const text = typeof own === 'string' ? own : beginnings.get(node.id);
    const named = readableName(node.id, node.type, { name: node.name, text });
    const stage = stageOf(node.type);
    const { rank } = buildStep(node.type);
    return {
      ...(details === null ? {} : storedFields(node, details)),
      ...snakeCased(node.properties),
      id: node.id,
      type: node.type,
      ...named,
      entity_type: entityTypes.get(node.id) || String(node.properties['entityType'] ?? node.type),
      color: node.properties['ontologyValid'] === true ? CONFIRMED_COLOUR : (COLOURS.get(node.type) ?? OTHER_COLOUR),
      stage,
      visual_rank: rank > 0 ? rank : STAGES.indexOf(stage) + 1,
      degree,
      importance: Math.log1p(degree) / Math.log1p(greatest),
      is_memory_learning: node.nodeSets.includes('session_learnings'),
      belongs_to_set: node.nodeSets,
      ...(node.description === '' ? {} : { description: node.description }),
      t_created: view.times.get(node.id) ?? null,
    };
  });
  return withLabelPriority(nodes);
}

/** Presents by whom, of what and how the node was made, and what ratings say of it. */
function storedFields(
  { id, type, nodeSets, evidence }: GraphView['nodes'][number],
  { sources, weights }: ViewDetails,
): JsonObject {
  const { task, rank } = buildStep(type);
  const origins = [...new Set(evidence.map(({ item }) => item))].flatMap((item) => sources.get(item) ?? []);
  const provenance = {
    source_task: task,
    source_pipeline: COGNIFY_PIPELINE,
    source_node_set: nodeSets[0] ?? null,
    source_user: onlyOf(origins.map(({ user }) => user)),
  };
  return {
    topological_rank: rank,
    version: Math.max(...evidence.map(({ generation }) => generation)),
    ontology_valid: false,
    ontology_uri: null,
    ...provenance,
    source_content_hash: onlyOf(origins.map(({ contentHash }) => contentHash)),
    feedback_weight: weights.get(id) ?? NEUTRAL_WEIGHT,
    provenance: Object.fromEntries(Object.entries(provenance).filter(([, value]) => value !== null)),
  };
}

/** Returns the value that all share, null where they differ. */
function onlyOf(values: readonly (string | null)[]): string | null {
  const [first = null, ...others] = new Set(values);
  return others.length === 0 ? first : null;
}

/** Presents the stored properties in the wire's spelling. */
function snakeCased(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase(),
      value,
    ]),
  );
}

/** Returns the names of documents whose first chunk is in the view. */
function beginningsOf(view: GraphView): ReadonlyMap<string, string> {
  const beginnings = new Map<string, string>();
  for (const { type, properties } of view.nodes) {
    const { documentId, chunkIndex, text } = properties;
    if (type !== NODE_TYPES.chunk || chunkIndex !== 0) continue;
    if (typeof documentId === 'string' && typeof text === 'string') beginnings.set(documentId, firstWords(text));
  }
  return beginnings;
}

/** Generated names: ids, and `text_<md5>` of plain text. */
const LIKE_AN_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^(text_)?[0-9a-f]{24,}$/i;

export function readableName(
  id: string,
  type: string,
  { name, text }: { readonly name: string; readonly text: string | undefined },
): { readonly name: string; readonly is_unnamed: boolean } {
  if (name !== '' && !LIKE_AN_ID.test(name)) return { name, is_unnamed: false };
  const start = text?.replaceAll(/\s+/g, ' ').trim().slice(0, 120);
  if (start) return { name: start, is_unnamed: false };
  return { name: `Unnamed ${type} (${id.slice(0, 8)})`, is_unnamed: true };
}

/** Returns the nodes whose labels are shown first: documents, types and the most connected quarter. */
function withLabelPriority(nodes: readonly ViewNode[]): readonly ViewNode[] {
  const importances = nodes.map(({ importance }) => importance).toSorted((a, b) => a - b);
  const quarter = importances[Math.floor(importances.length * 0.75)] ?? 0;
  return nodes.map((node) => ({
    ...node,
    label_priority:
      node['is_unnamed'] !== true &&
      (node.stage === 'document' || node.stage === 'type' || (node.importance > 0 && node.importance >= quarter)),
  }));
}
