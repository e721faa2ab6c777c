import { z } from 'zod';
import { dataItemId } from '../../common/kernel/ids.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import { missingField } from '../../common/platform/http/validation-error.ts';
import { isModelRefusal, runError } from '../../common/platform/jobs/run-error.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { parseNodeSets } from '../items/item-annotations.ts';
import { updateItem } from '../items/update-item.ts';
import { presentUpdateResult } from '../presenters/write-results.ts';
import { updateResult } from './answers.schema.ts';
import { inputsOf, textOrTexts } from './data-fields.ts';

const bodySchema = z
  .object({ data: textOrTexts, rawData: textOrTexts, nodeSet: textOrTexts })
  .meta({ id: 'Body_update_api_v1_update_patch', examples: [{ raw_data: 'Grace leads the project.' }] });
const querySchema = z.object({
  data_id: uuid(),
  dataset_id: optionalOrBlank(uuid()),
  chunk_level_diff: lenientBoolean().default(true),
});

/** Fields of the request, in the names of the wire. */
function echoOf({ data, rawData, nodeSet }: z.output<typeof bodySchema>): Readonly<Record<string, unknown>> {
  const fields = Object.entries({ data, raw_data: rawData, node_set: nodeSet });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

const { routes, patch } = routesOf<IngestDependencies>({ tag: 'update' });

export const updateRoutes = routes(
  patch('/api/v1/update', 'update', {
    idempotent: true,
    summary: 'Replace the content of an item and build the graph from it',
    permission: onDatasets('write', 'and delete, on the dataset of the item'),
    query: querySchema,
    body: { kind: 'any', schema: bodySchema, files: ['data'], required: false },
    responses: {
      200: { description: 'What became of the passages of the document', schema: updateResult },
      404: { description: 'No such item' },
      409: { description: 'The id is in several datasets, or another item holds the same content' },
      415: { description: 'Not exactly one document, or one that cannot be read' },
      500: {
        description: 'UpdateResult with status `failed`: the content is replaced, the graph still tells the old one',
      },
    },
    async handle({ principal, query, body, files, context, signal }, dependencies) {
      const inputs = inputsOf(body ?? {}, files);
      if (inputs.length === 0) throw missingField('data', echoOf(body ?? {}));
      const outcome = await updateItem(dependencies, {
        principal,
        inputs,
        context,
        signal,
        itemId: dataItemId(query.data_id),
        datasetId: query.dataset_id ?? null,
        nodeSets: parseNodeSets(body?.nodeSet),
        chunkLevelDiff: query.chunk_level_diff,
      });
      const isFailed = outcome.status === 'failed';
      if (isFailed && outcome.run !== null && isModelRefusal(outcome.run)) throw runError(outcome.run);
      return json(presentUpdateResult(outcome), isFailed ? 500 : 200);
    },
  }),
);
