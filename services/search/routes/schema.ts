import { z } from 'zod';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { presentLinks } from '../presenters/visualisation/links.ts';
import { presentNodes } from '../presenters/visualisation/nodes.ts';
import { summariseTypes } from '../presenters/visualisation/schema-graph.ts';
import { readableDataset } from '../search-datasets.ts';
import { type ViewDependencies, viewGraph } from '../views/view-graph.ts';

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

interface SchemaDependencies extends ViewDependencies {
  readonly messenger: Messenger;
}

/** What kinds of things a graph holds (search-recall.md §9). */
export function schemaRoutes(dependencies: SchemaDependencies): readonly Route[] {
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
        const dataset = await readableDataset(dependencies.messenger, query.dataset_id, { ...context, principal });
        if (query.sort !== 'count' && query.sort !== 'none')
          return json({ error: 'Failed to build schema inventory' }, 409);
        const request = { full: true, seedIds: [], query: null, depth: 1, maxSeeds: 0, maxNodes: 0 };
        const view = await viewGraph(dependencies, dataset, request);
        const nodes = presentNodes(view).filter(({ stage }) => stage !== 'type');
        const types = summariseTypes(nodes, presentLinks(view), { samples: query.samples_per_type });
        const rows = types.map(({ type, members, samples, relationships }) => ({
          ...{ type, count: members.length, samples, sample_size: samples.length, relationships },
        }));
        if (query.sort === 'count') rows.sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
        return json(rows);
      },
    }),
  ];
}
