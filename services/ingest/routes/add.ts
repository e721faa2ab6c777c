import { z } from 'zod';
import { runInfo } from '../../common/platform/http/answer-schemas.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { addData } from '../items/add-data.ts';
import { acceptAddition } from '../items/background-additions.ts';
import { checkCounts } from '../items/item-annotations.ts';
import { addTarget, isSelected } from '../items/target-dataset.ts';
import { trackedRun } from '../items/tracked-run.ts';
import { presentAddResult } from '../presenters/write-results.ts';
import { annotationsOf, dataFields, inputsOf } from './data-fields.ts';

const bodySchema = z.object(dataFields).meta({
  id: 'Body_add_api_v1_add_post',
  examples: [{ raw_data: ['Ada leads the project.'], datasetName: 'notes' }],
});

const { routes, post } = routesOf<IngestDependencies>({ tag: 'add' });

export const addRoutes = routes(
  post('/api/v1/add', 'add', {
    idempotent: true,
    summary: 'Add text, files and web pages to a dataset',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'any', schema: bodySchema, files: ['data'], required: false },
    responses: { 200: { description: 'Run information with one entry per item', schema: runInfo } },
    async handle({ principal, body, files, context, signal }, dependencies) {
      const selection = { id: body?.datasetId ?? null, name: body?.datasetName ?? null };
      if (!isSelected(selection)) {
        throw new HttpError(400, { error: 'Either datasetId or datasetName must be provided.', detail: null });
      }
      const inputs = inputsOf(body, files);
      if (inputs.length === 0) {
        throw new HttpError(400, {
          error: "Provide at least one file in 'data' or one entry in 'raw_data'.",
          detail: null,
        });
      }
      const annotations = annotationsOf(body);
      const target = await addTarget(dependencies.messenger, principal, selection, context);
      const runId = dependencies.ids.uuid();
      if (body.runInBackground) {
        checkCounts(annotations, inputs.length);
        const addition = { inputs, annotations, build: null };
        // Where the run of what is refused later is recorded.
        const dataset = await target.create();
        await acceptAddition(dependencies, { runId, principal, dataset, addition, context, signal });
        return json(presentAddResult(runId, dataset, null));
      }
      const run = { ...target, id: runId, pipeline: 'add_pipeline', principal, context };
      const outcome = await trackedRun(dependencies.messenger, run, async () => {
        const result = await addData(dependencies, { ...target, principal, inputs, annotations, context, signal });
        return { result, items: result.added.map(({ item }) => item.id) };
      });
      return json(presentAddResult(runId, target.dataset, outcome));
    },
  }),
);
