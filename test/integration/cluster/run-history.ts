import type { BenchClient } from '../../bench/speed/client.ts';

const PAGE_ROWS = 500;

/** Statuses of cognify's runs, by run and newest first. */
export async function historyOf(client: Pick<BenchClient, 'get'>): Promise<ReadonlyMap<string, readonly string[]>> {
  const statuses = new Map<string, string[]>();
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = `limit=${PAGE_ROWS}&offset=${offset}`;
    const rows = (await client.get(
      `/api/v1/activity/pipeline-runs?pipeline_name=cognify_pipeline&${page}`,
    )) as readonly { readonly pipeline_run_id: string; readonly status: string }[];
    for (const { pipeline_run_id: run, status } of rows) statuses.set(run, [...(statuses.get(run) ?? []), status]);
    if (rows.length < PAGE_ROWS) return statuses;
  }
}
