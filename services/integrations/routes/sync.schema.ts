import { z } from 'zod';
import { uuidList } from '../../common/platform/http/schema.ts';

/** auth-integrations.md §5.3; null and an empty list are every dataset that the caller may write. */
export const syncBody = z.object({ datasetIds: uuidList().nullish() }).meta({ id: 'SyncRequest' });

const run = z.object({
  run_id: z.uuid(),
  dataset_ids: z.array(z.uuid()),
  dataset_names: z.array(z.string()),
});

export const syncAnswer = run
  .extend({
    status: z.literal('started'),
    message: z.string(),
    timestamp: z.string(),
    user_id: z.uuid(),
  })
  .meta({ id: 'SyncResponse' });

export const syncStatusAnswer = z
  .object({
    has_running_sync: z.boolean(),
    running_sync_count: z.int(),
    latest_running_sync: run.extend({ progress_percentage: z.int(), created_at: z.string() }).optional(),
  })
  .meta({ id: 'SyncStatus' });
