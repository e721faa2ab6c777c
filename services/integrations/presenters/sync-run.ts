import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';

export function presentStarted(run: SyncRun) {
  const { id, userId, createdAt, datasetIds } = run;
  return {
    run_id: id,
    status: 'started',
    ...datasetsOf(run),
    message:
      `Sync operation started in background for ${datasetIds.length} datasets. ` +
      `Use run_id '${id}' to track progress.`,
    timestamp: createdAt,
    user_id: userId,
  };
}

export function presentAlreadyRunning(run: SyncRun) {
  const { id, createdAt, progress } = run;
  return {
    error: 'Sync operation already in progress',
    details: {
      run_id: id,
      status: 'already_running',
      ...datasetsOf(run),
      message:
        `You have a sync operation already in progress with run_id '${id}'. Use the status endpoint to monitor ` +
        'progress, or wait for it to complete before starting a new sync.',
      timestamp: createdAt,
      progress_percentage: progress,
    },
  };
}

export function presentStatus(run: SyncRun | null) {
  if (run === null) return { has_running_sync: false, running_sync_count: 0 };
  const { id, progress, createdAt } = run;
  return {
    has_running_sync: true,
    running_sync_count: 1,
    latest_running_sync: {
      run_id: id,
      ...datasetsOf(run),
      progress_percentage: progress,
      created_at: createdAt,
    },
  };
}

function datasetsOf({ datasetIds, datasetNames }: SyncRun) {
  return { dataset_ids: datasetIds, dataset_names: datasetNames };
}
