import { isDeepStrictEqual } from 'node:util';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { datasetScope, type Scope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { ManagedResources, ManagedThing } from '../../common/records/auth/managed-resources.ts';
import { requireManaged } from '../../common/records/auth/require-managed.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { RetentionRecords, Retentions, StoredRetention } from '../repositories/retention.ts';

type SetRetentionDependencies = IngestDependencies & {
  readonly retentions: Retentions;
  readonly managedResources: ManagedResources;
};

/** See `ingest.SetRetention` in proto/: rules and errors. */
export async function setRetention(deps: SetRetentionDependencies, request: RequestOf<'ingest.SetRetention'>) {
  const { tenantId: tenant, datasetId: dataset = null, crUid, sessionsMs, eventsMs, itemsMs } = request;
  const target = { thing: { tenant, dataset }, crUid };
  if (dataset === null) {
    const wanted = { sessionsMs: sessionsMs ?? null, eventsMs: eventsMs ?? null };
    const isNothing = wanted.sessionsMs === null && wanted.eventsMs === null;
    return put(deps, { ...target, owner: { tenant }, records: deps.retentions.ofTenants }, isNothing ? null : wanted);
  }
  if ((await deps.datasets.get({ tenant }, dataset)) === null) {
    throw engramError('DatasetNotFoundError', `Dataset ${dataset} not found.`);
  }
  const wanted = itemsMs === undefined ? null : { itemsMs };
  await put(deps, { ...target, owner: datasetScope(tenant, dataset), records: deps.retentions.ofDatasets }, wanted);
}

interface Target<Owner extends Scope, Retention> {
  readonly thing: ManagedThing;
  readonly crUid: string;
  readonly owner: Owner;
  readonly records: RetentionRecords<Owner, Retention>;
}

async function put<Owner extends Scope, Retention extends JsonObject>(
  deps: SetRetentionDependencies,
  { thing, crUid, owner, records }: Target<Owner, Retention>,
  wanted: Retention | null,
): Promise<void> {
  await retryOnConflict(async () => {
    const managed = await requireManaged(deps, thing, crUid);
    const before = await records.get(owner);
    const write = writeOf(records, before, wanted);
    if (write === null) return;
    const subject = thing.dataset ?? thing.tenant;
    const details = { retention: wanted };
    const entry = { tenant: thing.tenant, action: 'settings.changed', actor: null, subject, details };
    await deps.audit.commit(owner, [deps.managedResources.keepWrite(managed), write], [entry]);
  });
}

/** Null: nothing changes. */
function writeOf<Owner extends Scope, Retention extends JsonObject>(
  records: RetentionRecords<Owner, Retention>,
  before: StoredRetention<Retention> | null,
  wanted: Retention | null,
): Write | null {
  if (before === null) return wanted === null ? null : records.putWrite(wanted, null);
  if (wanted === null) return records.removeWrite(before);
  const { version, ...held } = before;
  return isDeepStrictEqual(held, wanted) ? null : records.putWrite(wanted, before);
}
