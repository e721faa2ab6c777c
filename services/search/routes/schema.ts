import { Readable } from 'node:stream';
import { z } from 'zod';
import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets, own } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import type { SessionReaders } from '../conversation/conversation.ts';
import { presentPageData, presentVisualisation } from '../presenters/visualisation/document.ts';
import { presentLinks } from '../presenters/visualisation/links.ts';
import { presentNodes } from '../presenters/visualisation/nodes.ts';
import { summariseTypes } from '../presenters/visualisation/schema-graph.ts';
import { type DatasetResolution, seenDataset } from '../search-datasets.ts';
import { provenanceView } from '../views/provenance.ts';
import { type ViewDependencies, viewGraph } from '../views/view-graph.ts';
import { createPage, jsonPieces, visualisation } from './view-replies.ts';

const inventory = z
  .array(
    z.object({
      type: z.string(),
      count: z.int(),
      samples: z.array(z.string()),
      sample_size: z.int(),
      relationships: z.array(z.object({ to_type: z.string(), relation: z.string(), count: z.int() })),
    }),
  )
  .meta({ id: 'SchemaInventory' });

interface SchemaDependencies extends ViewDependencies, DatasetResolution {
  readonly sessions: SessionReaders;
}

const provenance = {
  method: 'GET',
  tag: 'schema',
  auth: 'user',
  permission: own('provenance; of the whole tenant for its administrators'),
  query: z.object({ include_memory: lenientBoolean().default(false) }),
} as const;

/** Kinds of things that a graph holds (search-recall.md §9). */
export function schemaRoutes(dependencies: SchemaDependencies): readonly Route[] {
  const page = createPage();
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/schema/inventory',
      tag: 'schema',
      operationId: 'getSchemaInventory',
      summary: 'The types of the nodes of a dataset, how many there are, and what they are related to',
      auth: 'user',
      permission: onDatasets('read'),
      query: z.object({
        dataset_id: uuid(),
        samples_per_type: lenientInteger({ min: 0 }).default(5),
        sort: z.string().default('count').describe('`count` or `none`'),
      }),
      responses: {
        200: { description: 'Most frequent first; `← ` marks relations that arrive', schema: inventory },
        409: { description: 'Unknown sort' },
      },
      async handle({ principal, query, context }) {
        const dataset = await seenDataset(dependencies, query.dataset_id, { ...context, principal });
        if (query.sort !== 'count' && query.sort !== 'none')
          return json({ error: 'Failed to build schema inventory' }, 409);
        const request = { full: true, seedIds: [], query: null, depth: 1, maxSeeds: 0, maxNodes: 0 };
        const view = await viewGraph(dependencies, dataset, request);
        const nodes = presentNodes(view).filter(({ stage }) => stage !== 'type');
        const types = summariseTypes(nodes, presentLinks(view), { samples: query.samples_per_type });
        const rows = types.map(({ type, members, samples, relationships }) => ({
          type,
          count: members.length,
          samples,
          sample_size: samples.length,
          relationships,
        }));
        if (query.sort === 'count') rows.sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
        return json(rows);
      },
    }),
    defineRoute({
      ...provenance,
      path: '/api/v1/schema/provenance',
      operationId: 'getProvenancePage',
      summary: 'A page that draws who has to do with which datasets, files and sessions',
      responses: { 200: { description: 'The page', schema: textAnswer, mediaType: 'text/html' } },
      async handle({ principal, query, context }) {
        const request = { principal, context, withMemory: query.include_memory };
        return page(await presentPageData(await provenanceView(dependencies, request), 'Provenance'));
      },
    }),
    defineRoute({
      ...provenance,
      path: '/api/v1/schema/provenance/json',
      operationId: 'getProvenance',
      summary: 'Who has to do with which datasets, files and sessions, as a graph view',
      responses: { 200: { description: 'With the keys of `/visualize/json`', schema: visualisation } },
      async handle({ principal, query, context }) {
        const request = { principal, context, withMemory: query.include_memory };
        const view = await provenanceView(dependencies, request);
        return {
          stream: Readable.from(jsonPieces(presentVisualisation(view, null))),
          headers: { 'content-type': 'application/json; charset=utf-8' },
        };
      },
    }),
  ];
}
