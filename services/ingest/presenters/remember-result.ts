import { md5Of } from '../../common/domain/data-item.ts';
import { warningsOfRun } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { refusedField } from '../items/refused-input.ts';
import type { RememberOutcome } from '../items/remember-data.ts';
import type { RememberedInSession } from '../sessions/remember-in-session.ts';

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
