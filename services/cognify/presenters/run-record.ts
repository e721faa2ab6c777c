import type { RunRecordPage } from '../runs/read-runs.ts';

/** A row of `/activity/pipeline-runs` (ingest.md §8.3). Name and owner only of datasets the caller may read. */
export function presentRunRecords({ rows, datasets, owners }: RunRecordPage): readonly object[] {
  return rows.map(({ id, record }) => {
    const dataset = datasets.get(record.datasetId ?? '');
    return {
      id,
      kind: record.pipeline === null ? 'operation' : 'pipeline',
      pipeline_name: record.pipeline,
      status: record.status,
      dataset_id: record.datasetId,
      dataset_name: dataset?.name ?? null,
      owner_id: dataset?.ownerId ?? null,
      owner_email: owners.get(dataset?.ownerId ?? '') ?? null,
      created_at: record.createdAt,
      pipeline_run_id: record.runId,
      operation_name: record.operation,
      origin: record.origin,
      outcome: record.outcome,
      background: record.background,
      error_class: record.errorClass,
      error_message: record.errorMessage,
      tokens_in: record.tokensIn,
      tokens_out: record.tokensOut,
      embedding_tokens: record.embeddingTokens,
      started_at: record.startedAt,
      ended_at: record.endedAt,
      user_id: record.userId,
      session_id: record.sessionId ?? null,
      parent_operation_id: null,
    };
  });
}
