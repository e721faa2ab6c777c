import { z } from 'zod';
import { mergeEdges, mergeNodes } from '../../common/domain/graph/merge.ts';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { beginStream } from '../../common/platform/http/begin-stream.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets, SUPERUSER } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, listUpTo, uuid } from '../../common/platform/http/schema.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Users } from '../../common/records/auth/users.ts';
import { countGraph, createGraphCountCache } from '../../common/records/cognify/graph-counts.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import { nodeSetColours, presentPageData } from '../presenters/visualisation/document.ts';
import { presentLinks } from '../presenters/visualisation/links.ts';
import { presentNodes } from '../presenters/visualisation/nodes.ts';
import { readableDataset, wholeDatasets } from '../search-datasets.ts';
import { type DetailDependencies, readDetails } from '../views/view-details.ts';
import { type GraphView, type ViewDependencies, viewGraph } from '../views/view-graph.ts';
import { type GraphPage, jsonPieces } from './view-replies.ts';

export interface BrainDependencies extends ViewDependencies, DetailDependencies {
  readonly users: Pick<Users, 'get' | 'getMany'>;
  readonly clock: Clock;
}

const colours = z.record(z.string(), z.string());
const brain = z.object({
  name: z.string(),
  nodes: z.array(z.looseObject({ id: z.string(), name: z.string(), type: z.string() })),
  links: z.array(z.looseObject({ source: z.string(), target: z.string(), relation: z.string() })),
  node_set_colors: colours,
});
const summary = z.object({
  name: z.string(),
  source_names: z.array(z.string()).describe('Node sets'),
  node_count: z.int(),
  node_set_colors: colours,
});
const tag = 'visualize';
const get = { tag, method: 'GET', auth: 'user', permission: onDatasets('read', 'per dataset') } as const;

/** Graphs of several datasets at once (search-recall.md §8). */
export function brainRoutes(dependencies: BrainDependencies, page: GraphPage): readonly Route[] {
  const { messenger, clock } = dependencies;
  const counts = createGraphCountCache();
  return [
    defineRoute({
      ...get,
      path: '/api/v1/visualize/brains',
      operationId: 'getBrains',
      summary: 'The best connected part of the graph of each dataset that the caller may read',
      query: z.object({ max_nodes: lenientInteger({ min: 1, max: 5000 }).default(500) }),
      responses: { 200: { description: 'By dataset id', schema: z.record(z.string(), brain) } },
      async handle({ principal, query, context, signal }) {
        const datasets = await wholeDatasets(messenger, { principal, context });
        const asking = { ...context, principal, signal };
        return {
          stream: await beginStream(brains(dependencies, datasets, query.max_nodes, asking)),
          headers: { 'content-type': 'application/json; charset=utf-8' },
        };
      },
    }),
    defineRoute({
      ...get,
      path: '/api/v1/visualize/brains-summary',
      operationId: 'getBrainsSummary',
      summary: 'Size and node sets of the graph of each dataset that the caller may read',
      responses: { 200: { description: 'By dataset id', schema: z.record(z.string(), summary) } },
      async handle({ principal, context }) {
        const datasets = await wholeDatasets(messenger, { principal, context });
        const summaries: Record<string, unknown> = {};
        for (const dataset of datasets) {
          const names = await nodeSetsOf(dependencies, dataset);
          const count = await countGraph({ ...dependencies, clock, counts }, dataset);
          const sizes = { node_count: count?.nodes ?? 0, node_set_colors: nodeSetColours(names) };
          summaries[dataset.id] = { name: dataset.name, source_names: names, ...sizes };
        }
        return json(summaries);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/visualize/multi',
      tag,
      operationId: 'visualizeMulti',
      summary: 'A page that draws the graphs of datasets of several users as one',
      auth: 'superuser',
      permission: SUPERUSER,
      body: {
        kind: 'json',
        schema: listUpTo(
          MOST_GRAPHS,
          z.array(z.object({ user_id: uuid(), dataset_id: uuid() }).meta({ id: 'UserDatasetPair' })),
        ),
      },
      responses: {
        200: { description: 'The page', schema: textAnswer, mediaType: 'text/html' },
        403: { description: 'The caller is not a superuser, or a user may not read the dataset' },
        404: { description: 'No such user' },
      },
      async handle({ principal, body, context }) {
        const views: { readonly view: GraphView; readonly email: string; readonly name: string }[] = [];
        for (const { user_id: id, dataset_id: dataset } of body) {
          views.push(await viewOfUser(dependencies, { user: id, dataset }, { ...context, principal }));
        }
        const { view, users } = merged(views);
        const title = views.map(({ name }) => name).join(', ');
        return page(await presentPageData(view, title, users));
      },
    }),
  ];
}

/** Graphs on one page, and nodes of each. */
const MOST_GRAPHS = 100;
const MOST_NODES = 5000;
const WHOLE = { full: false, seedIds: [], query: null } as const;

/** Presents one dataset after the other: only one graph is in memory. */
async function* brains(
  dependencies: BrainDependencies,
  datasets: readonly DatasetRef[],
  maxNodes: number,
  asking: CallContext & { readonly signal: AbortSignal },
): AsyncGenerator<string> {
  yield '{';
  for (const [index, dataset] of datasets.entries()) {
    asking.signal.throwIfAborted();
    const view = await viewGraph(dependencies, dataset, { ...WHOLE, depth: 2, maxSeeds: 10, maxNodes });
    const details = await readDetails(dependencies, dataset, view, asking);
    const nodes = presentNodes(view, details);
    yield `${index === 0 ? '' : ','}${JSON.stringify(dataset.id)}:`;
    yield* jsonPieces({
      name: dataset.name,
      nodes,
      links: presentLinks(view, details),
      node_set_colors: nodeSetColours(nodes.flatMap((node) => node['belongs_to_set'] as readonly string[])),
    });
  }
  yield '}';
}

async function nodeSetsOf({ graph, ledger }: ViewDependencies, dataset: DatasetRef): Promise<readonly string[]> {
  const scope = scopeOf(dataset);
  const names = new Set<string>();
  const types = [NODE_TYPES.nodeSet];
  for await (const page of pagesOf((after) => graph.scanNodes(scope, { after, limit: 5000, types }))) {
    const items = [...new Set(page.map(({ item }) => item))];
    for (const { name } of visible(page, await ledger.committed(scope, items))) names.add(name);
  }
  return [...names].sort();
}

/** Reads the graph of a dataset as its user may see it. */
async function viewOfUser(
  dependencies: BrainDependencies,
  { user: id, dataset: datasetId }: { readonly user: string; readonly dataset: string },
  asking: CallContext,
): Promise<{ readonly view: GraphView; readonly email: string; readonly name: string }> {
  const user = await dependencies.users.get(asId(id));
  if (user === null) throw engramError('EntityNotFoundError', `Could not find user: ${id}`);
  const dataset = await readableDataset(dependencies.messenger, datasetId, asking, id);
  const request = { ...WHOLE, depth: 10, maxSeeds: MOST_NODES, maxNodes: MOST_NODES };
  return { view: await viewGraph(dependencies, dataset, request), email: user.email, name: dataset.name };
}

/** Merges graphs into one: a node that several hold is of all their users. */
function merged(views: readonly { readonly view: GraphView; readonly email: string }[]) {
  const users = new Map<string, Set<string>>();
  for (const { view, email } of views) {
    for (const { id } of view.nodes) users.set(id, (users.get(id) ?? new Set()).add(email));
  }
  const view: GraphView = {
    nodes: mergeNodes(views.flatMap((each) => each.view.nodes.flatMap(({ evidence }) => evidence))),
    edges: mergeEdges(views.flatMap((each) => each.view.edges.flatMap(({ evidence }) => evidence))),
    times: new Map(),
    totalNodes: null,
    seeds: [],
    seedSource: 'degree',
  };
  return { view, users };
}
