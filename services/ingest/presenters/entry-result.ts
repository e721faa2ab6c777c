import type { RememberedEntry } from '../sessions/remember-entry.ts';

/** RememberResult of an entry (ingest.md §3.2). */
export function presentEntryResult(
  { dataset, stored, elapsedSeconds }: RememberedEntry,
  { type, session }: { readonly type: string; readonly session: string | null },
): Readonly<Record<string, unknown>> {
  const { status, entryId, items, error } = stored;
  return {
    status,
    dataset_name: dataset.name,
    dataset_id: dataset.id,
    pipeline_run_id: null,
    items_processed: status === 'completed' ? 1 : 0,
    elapsed_seconds: elapsedSeconds,
    ...(session ? { session_ids: [session] } : {}),
    ...(items === undefined || items.length === 0 ? {} : { items }),
    entry_type: type,
    entry_id: entryId,
    ...(error === undefined ? {} : { error }),
  };
}
