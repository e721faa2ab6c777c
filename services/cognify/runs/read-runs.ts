import { isTerminal, type RunState } from '../../common/domain/run.ts';
import type { RunId, UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { RunRecordRow, RunRecords } from '../../common/records/cognify/run-records.ts';
import type { Runs } from '../../common/records/cognify/runs.ts';
import { readableDatasets } from './permitted-datasets.ts';

export interface RecordDependencies {
  readonly messenger: Messenger;
  readonly records: RunRecords;
}

export interface RunRecordPage {
  readonly rows: readonly RunRecordRow[];
  /** The datasets of the rows that the caller may read. */
  readonly datasets: ReadonlyMap<string, DatasetRef>;
  /** E-mail addresses of their owners, by user id. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * Lists the history of runs, newest first: of one dataset, or those that the caller started and those on datasets that the
 * caller may read. `PermissionDeniedError` when the dataset is not readable.
 */
export async function listRunRecords(
  { messenger, records }: RecordDependencies,
  query: {
    readonly principal: Principal;
    readonly datasetId?: string | undefined;
    readonly pipeline?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  },
  context: CallContext,
): Promise<RunRecordPage> {
  const { principal, datasetId, pipeline, limit, offset } = query;
  const ids = datasetId === undefined ? [] : [datasetId];
  const readable = await readableDatasets(messenger, principal, ids, context);
  const datasets = new Map<string, DatasetRef>(readable.map((dataset) => [dataset.id, dataset]));
  const rows = await records.newest(
    { tenant: principal.tenant },
    {
      datasets: [...datasets.keys()],
      ...(datasetId === undefined ? { users: [principal.id] } : {}),
      ...(pipeline === undefined ? {} : { pipeline }),
      limit,
      offset,
    },
  );
  const owners = new Map<string, string>([[principal.id, principal.email]]);
  const shown = rows.map(({ record }) => datasets.get(record.datasetId ?? '')).filter((found) => found !== undefined);
  for (const userId of new Set<UserId>(shown.map(({ ownerId }) => asId(ownerId)))) {
    if (owners.has(userId)) continue;
    // Unattended, because an open page repeats this request.
    const account = { userId, tenant: principal.tenant, unattended: true };
    const answer = await messenger.call('auth.GetPrincipal', account, context);
    if (answer.principal !== null) owners.set(userId, answer.principal.email);
  }
  return { rows, datasets, owners };
}

export interface FoundRun {
  readonly run: RunState;
  readonly tenant: string;
}

/** Reads a run by its id, with its items once it has ended. Permissions are checked by the caller. */
export async function readRun({ runs }: { readonly runs: Runs }, runId: string): Promise<FoundRun | null> {
  if (!isUuid(runId)) return null;
  const stored = await runs.get(SYSTEM_SCOPE, asId<RunId>(runId));
  if (stored === null) return null;
  const { state, scope } = stored;
  const items = isTerminal(state.status) ? await runs.items(stored) : [];
  return { run: { ...state, items }, tenant: scope.tenant };
}
