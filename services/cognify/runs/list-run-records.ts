import type { UserId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { getPrincipal } from '../../common/platform/messaging/methods/auth.ts';
import type { RunRecordRow } from '../../common/records/cognify/run-records.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { isRefusal, readableDataset, readableDatasets } from './permitted-datasets.ts';

export interface RunRecordPage {
  readonly rows: readonly RunRecordRow[];
  /** The readable ones among the datasets of the rows. */
  readonly datasets: ReadonlyMap<string, DatasetRef>;
  /** E-mail by user, of the owners of those. */
  readonly owners: ReadonlyMap<string, string>;
}

/**
 * History rows, newest first: of one dataset, or those the caller ran and those on datasets the caller may read.
 * `PermissionDeniedError` for a dataset that is named and not readable.
 */
export async function listRunRecords(
  { messenger, records }: Pick<CognifyDependencies, 'messenger' | 'records'>,
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
  const readable =
    datasetId === undefined
      ? await readableDatasets(messenger, principal, [], context).catch((error: unknown) => {
          if (isRefusal(error)) return [];
          throw error;
        })
      : [await readableDataset(messenger, principal, datasetId, context)];
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
    // An open page asks for this again and again.
    const account = { userId, tenant: principal.tenant, unattended: true };
    const answer = await messenger.call(getPrincipal, account, context);
    if (answer.principal !== null) owners.set(userId, answer.principal.email);
  }
  return { rows, datasets, owners };
}
