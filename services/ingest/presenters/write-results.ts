import { md5Of } from '../../common/domain/data-item.ts';
import { warningsOfRun } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { AddOutcome } from '../items/add-data.ts';
import { refusedField } from '../items/refused-input.ts';
import type { ImportedArchive, ImportMode } from '../items/remember-archive.ts';
import type { RememberOutcome } from '../items/remember-data.ts';
import type { UpdateOutcome } from '../items/update-item.ts';
import type { RememberedEntry } from '../sessions/remember-entry.ts';
import type { RememberedInSession } from '../sessions/remember-in-session.ts';

const ITEM_STATUS = { completed: 'PipelineRunCompleted', already_completed: 'PipelineRunAlreadyCompleted' } as const;

/** PipelineRunInfo of an add (ingest.md §0.6, §1); `outcome` is null while it goes on in the background. */
export function presentAddResult(
  runId: string,
  dataset: DatasetRef,
  outcome: AddOutcome | null,
): Readonly<Record<string, unknown>> {
  const info = (status: string, payload: unknown, items: unknown) => ({
    status,
    pipeline_run_id: runId,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    payload,
    data_ingestion_info: items,
  });
  if (outcome === null) return info('PipelineRunStarted', [], null);
  const items = outcome.added.map(({ item, status }) => ({
    run_info: info(ITEM_STATUS[status], null, null),
    data_id: item.id,
  }));
  return { ...info('PipelineRunCompleted', null, items), ...refusedField(outcome.refused) };
}

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

/** RememberResult of the wire (ingest.md §3.1). */
export function presentRememberResult(outcome: RememberOutcome): Readonly<Record<string, unknown>> {
  const { dataset, run, items, improved, failed, isErrored } = outcome;
  const common = { dataset_name: dataset.name, dataset_id: dataset.id };
  const warnings = warningsOfRun(run);
  return {
    status: isErrored ? 'errored' : 'completed',
    ...common,
    pipeline_run_id: run.id,
    items_processed: items.length,
    elapsed_seconds: outcome.elapsedSeconds,
    ...(items.length === 0
      ? {}
      : {
          items: items.map((item) => ({
            id: item.id,
            name: item.name,
            content_hash: md5Of(item),
            data_size: item.sizeBytes,
            ...(failed.has(item.id) ? { status: 'errored', error: failed.get(item.id) } : {}),
          })),
        }),
    ...refusedField(outcome.refused),
    ...(warnings.length === 0 ? {} : { warnings }),
    // Their own reason first: that of the run may name items of others.
    ...(isErrored ? { error: [...failed.values()][0] ?? run.errorMessage ?? 'the run failed' } : {}),
    ...(improved?.result ? { improve: improved.result } : {}),
    ...(improved?.error ? { improve_error: improved.error } : {}),
  };
}

/** RememberResult of an archive (ingest.md §3.1): its first item says what was made of the whole. */
export function presentImported(
  { runId, outcome, archive, refused, dataset }: ImportedArchive,
  mode: ImportMode,
): Readonly<Record<string, unknown>> {
  const { entity = 0, fact = 0 } = archive.counts;
  const { items = [], ...rest } = outcome === null ? startedResult(dataset) : presentRememberResult(outcome);
  const { warnings = [] } = rest as { warnings?: readonly string[] };
  const left = `The graph is built anew from the texts: ${entity} entities and ${fact} facts of the archive are not carried over.`;
  const entry = {
    kind: 'migration_import',
    source_system: archive.sourceSystem,
    mode: 're-derive',
    record_counts: archive.counts,
    graph_nodes: outcome?.run.counts?.['entities'] ?? 0,
    graph_edges: outcome?.run.counts?.['relationships'] ?? 0,
    skipped_facts: fact,
    deduped_edges: 0,
    pipeline_run_id: runId,
  };
  return {
    ...rest,
    pipeline_run_id: runId,
    items: [entry, ...(items as readonly { status?: string }[]).filter(({ status }) => status === 'errored')],
    ...refusedField(refused),
    ...(mode !== 're-derive' && entity + fact > 0 ? { warnings: [...warnings, left] } : {}),
  };
}

function startedResult(dataset: DatasetRef): Readonly<Record<string, unknown>> {
  return { ...presentRememberStarted(dataset), status: 'started' };
}

/** While it goes on in the background. */
export function presentRememberStarted({ id, name }: DatasetRef): Readonly<Record<string, unknown>> {
  const common = { dataset_name: name, dataset_id: id };
  return { status: 'running', ...common, pipeline_run_id: null, items_processed: 0, elapsed_seconds: null };
}

export function presentRememberedInSession(
  { dataset, elapsedSeconds, refused }: RememberedInSession,
  session: string,
): Readonly<Record<string, unknown>> {
  return {
    status: 'session_stored',
    dataset_name: dataset.name,
    dataset_id: dataset.id,
    pipeline_run_id: null,
    items_processed: 0,
    elapsed_seconds: elapsedSeconds,
    session_ids: [session],
    ...refusedField(refused),
  };
}
