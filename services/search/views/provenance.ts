import type { MergedEdge, MergedNode } from '../../common/domain/graph/merge.ts';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import { append } from '../../common/kernel/long-lists.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { entriesOf } from '../../common/kernel/result-page.ts';
import type { AnswerOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { SourceAccess } from '../../common/records/integrations/source-access.ts';
import type { EdgeEvidence, NodeEvidence } from '../../common/storage/ports/graph-store.ts';
import type { SessionReaders } from '../conversation/conversation.ts';
import { type GraphView, type ViewDependencies, viewGraph } from './view-graph.ts';

interface ProvenanceDependencies extends ViewDependencies {
  readonly messenger: Messenger;
  readonly sourceAccess: SourceAccess;
  readonly sessions: Pick<SessionReaders, 'visible'>;
}

interface ProvenanceRequest {
  readonly principal: Principal;
  readonly context: CallContext;
  /** Adds what the readable datasets know. */
  readonly withMemory: boolean;
}

const FILES_OF_PAGE = 1000;
const MOST_FILES = 20_000;
const MOST_SESSIONS = 500;
const MEMORY_NODES = 5000;
const MEMORY_EDGES = 20_000;

/** Returns who has to do with what: tenant, people, datasets, files, agents and sessions as one graph (search-recall.md §9). */
export async function provenanceView(
  dependencies: ProvenanceDependencies,
  { principal, context, withMemory }: ProvenanceRequest,
): Promise<GraphView> {
  const asking = { ...context, principal };
  const access = await dependencies.messenger.call('auth.DescribeAccess', {}, asking);
  const nodes: MergedNode<NodeEvidence>[] = access.nodes.map(({ id, type, name }) => nodeOf(id, type, name));
  const edges: MergedEdge<EdgeEvidence>[] = access.edges.map(({ source, relation, target }) =>
    edgeOf(source, relation, target),
  );
  let files = 0;
  for (const dataset of await Promise.all(access.datasets.map(dependencies.sourceAccess.asSeen))) {
    nodes.push(nodeOf(`dataset:${dataset.id}`, 'Dataset', dataset.name));
    for await (const { id, name: stored, excerpt } of itemsOf(dependencies.messenger, dataset, asking)) {
      if (files >= MOST_FILES) break;
      if (dataset.withheld?.has(id)) continue;
      files += 1;
      const name = excerpt || stored;
      const source = { source_node_set: dataset.name, provenance: { source_node_set: dataset.name } };
      nodes.push({ ...nodeOf(`file:${id}`, NODE_TYPES.document, name), nodeSets: [dataset.name], properties: source });
      edges.push(edgeOf(`dataset:${dataset.id}`, 'contains', `file:${id}`));
    }
  }
  const known = new Set(nodes.map(({ id }) => id));
  for (const session of await sessionsOf(dependencies, principal, access)) {
    const id = `session:${session.user === principal.id ? '' : `${session.user}/`}${session.session}`;
    nodes.push(nodeOf(id, 'Session', session.session));
    if (session.dataset !== null) edges.push(edgeOf(id, 'recorded_in', `dataset:${session.dataset}`));
    if (known.has(`agent:${session.user}`)) edges.push(edgeOf(`agent:${session.user}`, 'wrote', id));
  }
  if (withMemory) {
    const readable = new Set<string>(access.readableIds);
    const memory = await memoryOf(
      dependencies,
      access.datasets.filter(({ id }) => readable.has(id)),
    );
    append(nodes, memory.nodes);
    append(edges, memory.edges);
  }
  const ids = new Set(nodes.map(({ id }) => id));
  const unique = new Map(edges.map((edge) => [JSON.stringify([edge.source, edge.relation, edge.target]), edge]));
  return {
    nodes: [...new Map(nodes.map((node) => [node.id, node])).values()],
    edges: [...unique.values()].filter(({ source, target }) => ids.has(source) && ids.has(target)),
    times: new Map(),
    totalNodes: null,
    seeds: [],
    seedSource: 'full',
  };
}

function itemsOf(messenger: Messenger, dataset: DatasetRef, asking: CallContext) {
  return entriesOf((after) => {
    const request = { dataset, limit: FILES_OF_PAGE, ...(after === null ? {} : { after }) };
    return messenger.call('ingest.DatasetItems', request, asking);
  });
}

/** Sessions of the caller and its agents, and those on datasets that the caller may read; those used last. */
async function sessionsOf(
  { sessions }: ProvenanceDependencies,
  { id, tenant }: Principal,
  access: AnswerOf<'auth.DescribeAccess'>,
) {
  const readable = new Set(access.readableIds);
  const datasets = access.datasets.filter((dataset) => readable.has(dataset.id)).map((dataset) => dataset.id);
  const query = { order: 'lastActivityAt', descending: true, limit: MOST_SESSIONS, offset: 0 } as const;
  const agents = access.edges
    .filter(({ source, relation }) => relation === 'operates' && source === `user:${id}`)
    .map(({ target }) => asId<UserId>(target.slice('agent:'.length)));
  const viewer = { users: [id, ...agents], datasets };
  return (await sessions.visible.page({ tenant }, viewer, { ...query, from: null, before: null })).sessions;
}

/** Reads the graphs of datasets, up to a size, with the files that mention each node. */
async function memoryOf(dependencies: ViewDependencies, datasets: readonly DatasetRef[]) {
  const nodes: MergedNode<NodeEvidence>[] = [];
  const edges: MergedEdge<EdgeEvidence>[] = [];
  for (const dataset of datasets) {
    const maxNodes = MEMORY_NODES - nodes.length;
    if (maxNodes <= 0) break;
    const request = { full: false, seedIds: [], query: null, depth: 10, maxSeeds: maxNodes, maxNodes };
    const view = await viewGraph(dependencies, dataset, request);
    for (const node of view.nodes) {
      nodes.push(node);
      for (const item of new Set(node.evidence.map((row) => row.item))) {
        edges.push(edgeOf(`file:${item}`, 'mentions', node.id));
      }
    }
    append(edges, view.edges);
  }
  return { nodes, edges: edges.slice(0, MEMORY_EDGES) };
}

function nodeOf(id: string, type: string, name: string): MergedNode<NodeEvidence> {
  return { id, type, name, description: '', aliases: [], nodeSets: [], mentions: 1, properties: {}, evidence: [] };
}

function edgeOf(source: string, relation: string, target: string): MergedEdge<EdgeEvidence> {
  return { source, relation, target, weight: 1, properties: {}, evidence: [] };
}
