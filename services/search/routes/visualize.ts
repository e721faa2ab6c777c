import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { defineRoute, json, type Route, type RouteRequest } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { VectorIndex } from '../../common/storage/ports/vector-index.ts';
import type { SessionReaders } from '../conversation/conversation.ts';
import { presentPageData, presentVisualisation } from '../presenters/visualisation/document.ts';
import { presentDrawing } from '../presenters/visualisation/drawing.ts';
import { viewEvents } from '../presenters/visualisation/stream.ts';
import { type DatasetResolution, seenDataset } from '../search-datasets.ts';
import { searchEvents } from '../views/search-events.ts';
import { semanticMap } from '../views/semantic-map.ts';
import { readDetails } from '../views/view-details.ts';
import { type GraphView, viewGraph } from '../views/view-graph.ts';
import { type BrainDependencies, brainRoutes } from './brains.ts';
import { createPlaces, placedStream } from './open-streams.ts';
import { createPage, type GraphPage, jsonPieces, visualisation } from './view-replies.ts';

const viewQuery = z.object({
  dataset_id: uuid(),
  full: lenientBoolean().default(false),
  query: optionalOrBlank(z.string()),
  seed_node_ids: z.union([z.string(), z.array(z.string())]).nullish(),
  neighborhood_depth: lenientInteger({ min: 1, max: 10 }).default(2),
  neighborhood_seed_top_k: lenientInteger({ min: 1, max: 100 }).default(10),
});
/**
 * The page of 55,000 nodes and 135,000 edges has 19 MB, takes the server 5 s of processor time and is drawn in about as
 * much. Of a larger graph the page shows the best connected part, and says of how many nodes it is.
 */
const MOST_ON_PAGE = 60_000;
const pageQuery = viewQuery.extend({
  max_nodes: lenientInteger({ min: 1, max: MOST_ON_PAGE }).default(MOST_ON_PAGE),
});
const jsonQuery = viewQuery.extend({
  max_nodes: lenientInteger({ min: 1, max: 20_000 }).default(500),
  stream: optionalOrBlank(lenientBoolean()),
  include_session_events: lenientBoolean().default(true),
});
type ViewQuery = z.output<typeof viewQuery> & { readonly max_nodes: number };

interface VisualizeDependencies extends BrainDependencies, DatasetResolution {
  readonly vectors: Pick<VectorIndex, 'fetch'>;
  readonly sessions: SessionReaders;
}

export function visualizeRoutes(dependencies: VisualizeDependencies): readonly Route[] {
  const page = createPage();
  return [
    pageRoute(dependencies, page),
    jsonRoute(dependencies),
    drawingRoute(dependencies),
    semanticRoute(dependencies),
    ...brainRoutes(dependencies, page),
  ];
}

function pageRoute(dependencies: VisualizeDependencies, page: GraphPage): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/visualize',
    tag: 'visualize',
    operationId: 'visualize',
    summary: 'A self-contained page that draws the graph of a dataset',
    auth: 'user',
    permission: onDatasets('read'),
    query: pageQuery,
    responses: { 200: { description: 'The page', schema: textAnswer, mediaType: 'text/html' } },
    async handle(request) {
      const { query } = request;
      // Without seeds or a query the page shows the whole graph, or of a larger one the most connected part.
      const asked = query.query !== undefined || listOf(query.seed_node_ids).length > 0;
      const overrides = asked ? {} : { seeds: query.max_nodes, depth: 10 };
      const { view, dataset } = await loadView(dependencies, request, overrides);
      return page(await presentPageData(view, dataset.name));
    },
  });
}

function jsonRoute(dependencies: VisualizeDependencies): Route {
  const places = createPlaces();
  return defineRoute({
    method: 'GET',
    path: '/api/v1/visualize/json',
    tag: 'visualize',
    operationId: 'getGraphView',
    summary: 'The graph view as JSON, sent in chunks; as events with stream=true',
    auth: 'user',
    permission: onDatasets('read'),
    query: jsonQuery,
    responses: {
      200: {
        description: 'The view; with `stream` events, the last of which is `done`',
        schema: visualisation,
        events: '`meta`, `chunk` (nodes and links), `summary`, `done`; `error`: {message, status} after 300 s',
      },
      400: { description: 'full and stream exclude each other' },
      503: { description: 'GraphStreamCapacityError: the caller has eight streams open' },
    },
    async handle(request) {
      const { query, headers } = request;
      const asEvents = query.stream ?? (headers['accept'] ?? '').startsWith('text/event-stream');
      if (asEvents && query.full)
        return { status: 400, json: { detail: "'full' cannot be streamed; leave one of the two out." } };
      const { principal, context } = request;
      if (asEvents) {
        const load = async () => viewEvents((await loadView(dependencies, request, {})).view, query);
        return {
          stream: await placedStream(places, principal.id, load),
          headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
        };
      }
      const { view, dataset } = await loadView(dependencies, request, {});
      const [details, events] = await Promise.all([
        readDetails(dependencies, dataset, view, { ...context, principal }),
        query.include_session_events
          ? searchEvents(dependencies.sessions, { user: principal.id, dataset, since: null })
          : [],
      ]);
      return {
        stream: Readable.from(jsonPieces(presentVisualisation(view, details, events))),
        headers: { 'content-type': 'application/json; charset=utf-8' },
      };
    },
  });
}

const semantic = z
  .object({
    semantic_positions: z.record(z.string(), z.object({ x: z.number(), y: z.number() })).nullable(),
    semantic_clusters: z
      .object({
        clusters: z.array(z.object({ id: z.int(), label: z.string(), node_ids: z.array(z.string()), size: z.int() })),
        node_cluster: z.record(z.string(), z.int()),
        neighbors: z.record(z.string(), z.array(z.string())),
      })
      .nullable(),
  })
  .meta({ id: 'SemanticMap' });

function semanticRoute(dependencies: VisualizeDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/visualize/semantic',
    tag: 'visualize',
    operationId: 'getSemanticMap',
    summary: 'Nodes on a plane by their meaning, at most 2000, in groups',
    auth: 'user',
    permission: onDatasets('read'),
    query: viewQuery.extend({ max_nodes: lenientInteger({ min: 1, max: 5000 }).default(500) }),
    responses: { 200: { description: 'Both null when no node has a vector', schema: semantic } },
    async handle(request) {
      const { view, dataset } = await loadView(dependencies, request, {});
      const map = await semanticMap(dependencies.vectors, scopeOf(dataset), view);
      if (map === null) return json({ semantic_positions: null, semantic_clusters: null });
      const { positions, clusters, neighbours } = map;
      return json({
        semantic_positions: Object.fromEntries(positions),
        semantic_clusters: {
          clusters: clusters.map(({ label, nodes }, id) => ({ id, label, node_ids: nodes, size: nodes.length })),
          node_cluster: Object.fromEntries(clusters.flatMap(({ nodes }, id) => nodes.map((node) => [node, id]))),
          neighbors: Object.fromEntries(neighbours),
        },
      });
    },
  });
}

const drawing = z
  .object({
    nodes: z.array(
      z.object({ id: z.string(), name: z.string(), type: z.string(), entity_type: z.string().optional() }),
    ),
    relations: z.array(z.object({ name: z.string(), edge_class: z.enum(['structural', 'semantic']) })),
    links: z.array(z.array(z.union([z.int(), z.array(z.string())]))),
  })
  .meta({ id: 'Drawing' });

function drawingRoute(dependencies: VisualizeDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/visualize/drawing',
    tag: 'visualize',
    operationId: 'getDrawing',
    summary: 'The whole graph without its texts, to draw it',
    auth: 'user',
    permission: onDatasets('read'),
    query: z.object({ dataset_id: uuid() }),
    responses: {
      200: {
        description:
          'Each link is `[source, target, relation, dates]`: indexes into `nodes` and `relations`, and the ISO dates of the fact, where it has some. Texts and evidence of a node: `/visualize/json` with `seed_node_ids`.',
        schema: drawing,
      },
    },
    async handle(request) {
      const { principal, query, context } = request;
      const scope = scopeOf(await seenDataset(dependencies, query.dataset_id, { ...context, principal }));
      const etag = etagOf(await dependencies.ledger.allCommitted(scope));
      const headers = { etag, 'cache-control': 'private, no-cache' };
      if (request.headers['if-none-match'] === etag) return { status: 304, headers };
      const graph = await openGraph(dependencies, scope);
      return {
        stream: Readable.from(jsonPieces({ ...(await presentDrawing(graph)) })),
        headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      };
    },
  });
}

/** Change it with what drawings hold: browsers keep them. */
const DRAWING_VERSION = 1;

/** A drawing depends on nothing but the committed generation of each item. */
function etagOf(committed: ReadonlyMap<string, number>): string {
  const hash = createHash('sha256').update(`${DRAWING_VERSION}\n`);
  for (const entry of [...committed].map(([item, generation]) => `${item} ${generation}\n`).sort()) hash.update(entry);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

async function loadView(
  dependencies: VisualizeDependencies,
  request: Pick<RouteRequest<unknown, ViewQuery, unknown>, 'principal' | 'query' | 'context'>,
  overrides: { readonly seeds?: number; readonly depth?: number },
): Promise<{ readonly view: GraphView; readonly dataset: DatasetRef }> {
  const { query } = request;
  const asking = { ...request.context, principal: request.principal };
  const dataset = await seenDataset(dependencies, query.dataset_id, asking);
  const view = await viewGraph(dependencies, dataset, {
    full: query.full,
    seedIds: listOf(query.seed_node_ids),
    query: query.query ?? null,
    depth: overrides.depth ?? query.neighborhood_depth,
    maxSeeds: overrides.seeds ?? query.neighborhood_seed_top_k,
    maxNodes: query.max_nodes,
  });
  return { view, dataset };
}

function listOf(value: string | readonly string[] | null | undefined): readonly string[] {
  return value === null || value === undefined ? [] : typeof value === 'string' ? [value] : value;
}
