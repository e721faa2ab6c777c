import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import { TENANT_KIND, type Tenant } from '../../api/tenant.ts';
import { findFormerSigners, findPlace } from '../../erasure/snapshots.ts';
import { done, progressing, retrying, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import { type DatasetContext, type DatasetParts, type DatasetStep, readTenant, uidOf, wireName } from '../model.ts';
import { askService } from '../service-failure.ts';

const SOON_MS = 500;
/** The other Tenant or the snapshot may be created meanwhile. */
const LATER_MS = 60_000;

/** Errors that only a person can solve: another snapshot, another name, another installation. */
const FINAL = ['EntityNotFoundError', 'EntityAlreadyExistsError', 'ConflictError', 'PayloadTooLargeError'];

/** Restores the dataset from `source`, before the next step would create an empty one. */
export function restoreDataset(parts: DatasetParts): DatasetStep {
  return {
    name: 'restore-dataset',
    async run(context): Promise<StepOutcome<DatasetStatus>> {
      const { object, status } = context;
      const { source } = object.spec;
      if (source === undefined || status.datasetId !== undefined || status.tenantId === undefined) return done();
      const tenant = await readTenant(parts.client, object, context.signal);
      const secret = source.destinationRef?.name ?? tenant?.spec.backup?.destinationRef?.name;
      const found = await findPlace(parts.client, tenant, secret, context.signal);
      if ('fault' in found) return notMade(retrying('SecretMissing', found.fault));
      if (!(await maySee(parts, context, { tenant, isInstalled: found.place === null }))) {
        const message =
          'The snapshot is of another tenant: this Dataset and both Tenants must be in one namespace, or the snapshot in a bucket of the namespace of this Dataset and its Tenant';
        return notMade(stalled('SnapshotNotAllowed', message, { requeueAfterMs: LATER_MS }));
      }
      return ask(parts, context, { tenantId: asId<TenantId>(status.tenantId), place: found.place });
    },
  };
}

/**
 * Whether the Dataset may use a snapshot of another tenant: only users who could read that data anyway may, because they can
 * create resources in the namespace of its Tenant, or have the credentials of the bucket. A Dataset from another namespace
 * than its Tenant may not.
 */
async function maySee(
  { client }: DatasetParts,
  { object, status, signal }: DatasetContext,
  { tenant, isInstalled }: { readonly tenant: Tenant | null; readonly isInstalled: boolean },
): Promise<boolean> {
  const from = object.spec.source?.snapshotRef.tenantId;
  if (from === undefined || from === status.tenantId) return true;
  const { namespace = '' } = object.metadata;
  if (namespace === '' || tenant?.metadata.namespace !== namespace) return false;
  if (!isInstalled) return true;
  const { items } = await client.list<Tenant>(TENANT_KIND, { namespace, signal });
  return items.some((other) => other.status?.tenantId === from);
}

async function ask(
  { services, client, options }: DatasetParts,
  { object, signal }: DatasetContext,
  { tenantId, place }: Pick<RequestOf<'ingest.RestoreDataset'>, 'tenantId' | 'place'>,
): Promise<StepOutcome<DatasetStatus>> {
  const { name, tenantId: from } = object.spec.source?.snapshotRef ?? { name: '' };
  const snapshot = { name, tenantId: from === undefined ? tenantId : asId<TenantId>(from) };
  const { namespace = '' } = object.metadata;
  const signers =
    from === undefined ? [] : await findFormerSigners(from, namespace, { client, home: options.home, signal });
  const request = { tenantId, crUid: uidOf(object), name: wireName(object), snapshot, place, signers };
  const answer = await askService(services, 'ingest.RestoreDataset', { request, signal });
  const { datasetId, failure, step, done: parts, total } = answer;
  if (datasetId !== null) return done({ status: { datasetId } });
  if (failure !== null) {
    const said = failure.message.replace(/\.$/, '');
    const isMissing = failure.name === 'EntityNotFoundError';
    const message = isMissing ? `${said}: create this resource again with one of status.backup` : said;
    const isFinal = FINAL.includes(failure.name);
    // A damaged snapshot stays damaged, and checking it again is expensive.
    const again = failure.name === 'ConflictError' ? {} : { requeueAfterMs: LATER_MS };
    return notMade(isFinal ? stalled('RestoreFailed', message, again) : retrying('RestoreFailed', message));
  }
  const message = step === '' ? 'The dataset is being restored' : `The dataset is being restored: ${step}`;
  const isCounted = total > 0 && parts < total;
  return notMade(
    progressing('Restoring', isCounted ? message : 'The dataset is being restored', { requeueAfterMs: SOON_MS }),
  );
}

function notMade(outcome: StepOutcome<DatasetStatus>): StepOutcome<DatasetStatus> {
  const { reason = '', message = '' } = outcome;
  return { ...outcome, conditions: [{ type: 'StoresProvisioned', status: 'False', reason, message }] };
}
