import { z } from 'zod';
import type { JsonObject } from '../../common/kernel/json.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { presentEntryResult } from '../presenters/write-results.ts';
import { DEFAULT_DATASET, entrySchema, rememberEntry } from '../sessions/remember-entry.ts';
import { rememberResult } from './answers.schema.ts';

const bodySchema = z
  .object({
    entry: entrySchema,
    dataset_name: z.string().nullish(),
    dataset_id: optionalOrBlank(uuid()),
    session_id: z.string().nullish(),
    /** Entries start no improvement; clients of the other routes send it here too. */
    self_improvement: lenientBoolean().nullish(),
    skill_improvement: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'RememberEntryRequest' });

const { routes, post } = routesOf<IngestDependencies>({ tag: 'remember' });

export const entryRoutes = routes(
  post('/api/v1/remember/entry', 'rememberEntry', {
    summary: 'Remember what an agent lived through: a question with its answer, a step, feedback, a skill run',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'json', schema: bodySchema, carriesDocument: true },
    responses: {
      200: {
        description: 'With `entry_type` and `entry_id`; `errored` for an unknown answer',
        schema: rememberResult,
      },
      409: { description: 'Another node set than the session’s' },
      422: { description: 'A score outside 1 to 5' },
      503: { description: 'Session memory is off; nothing was written' },
    },
    async handle({ principal, body, context }, dependencies) {
      const { entry, session_id: session = null } = body;
      const remembered = await rememberEntry(dependencies, {
        entry,
        principal,
        session,
        context,
        datasetId: body.dataset_id ?? null,
        datasetName: body.dataset_name ?? DEFAULT_DATASET,
        skillImprovement: (body.skill_improvement ?? null) as JsonObject | null,
      });
      return json(presentEntryResult(remembered, { type: entry.type, session }));
    },
  }),
);
