import type { UpdateOutcome } from '../items/update-item.ts';

/** UpdateResult of the wire (ingest.md §2). */
export function presentUpdateResult(outcome: UpdateOutcome): Readonly<Record<string, unknown>> {
  const { chunks, run, rebuild, error } = outcome;
  return {
    status: outcome.status,
    regions: chunks?.regions ?? null,
    deleted_chunks: chunks?.deleted ?? null,
    added_chunks: chunks?.added ?? null,
    reused_chunks: chunks?.reused ?? null,
    // Passages keep no context of dates that could change around them.
    redated_chunks: null,
    kept_chunks: chunks?.kept ?? null,
    reindexed_chunks: chunks?.reindexed ?? null,
    total_chunks: chunks?.total ?? null,
    data_id: outcome.itemId,
    dataset_id: outcome.dataset.id,
    duration_seconds: Math.round(outcome.elapsedSeconds * 1000) / 1000,
    pipeline_run_id: run?.id ?? null,
    fallback: rebuild,
    error: error === undefined ? null : { error_class: error.wireName, message: error.message },
  };
}
