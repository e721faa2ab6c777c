import { canaryAccount, canaryDatasetId, canaryText } from '../../common/domain/canary.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { COGNIFY_PIPELINE, isTerminal } from '../../common/domain/run.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { fixedProof } from '../../common/platform/messaging/principal-proof.ts';
import { builtAmong } from '../../common/records/cognify/ledger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { forgetDataset } from '../forgetting/forget.ts';
import { addData } from '../items/add-data.ts';
import { permittedDatasets } from '../items/target-dataset.ts';

/** The canary of a tenant, and the context that looks for it. */
export interface Canary {
  readonly tenant: TenantId;
  readonly dataset: DatasetRef;
  /** Null: it has not been added yet. */
  readonly item: DataItem | null;
  /** For calls on behalf of its tenant. */
  readonly context: CallContext & { readonly principal: NonNullable<CallContext['principal']> };
}

interface ManagedTenant {
  readonly tenantId: TenantId;
  readonly crUid: string;
}

/**
 * Returns the canary of a tenant, which is made when there is none: added and built like any item, without a charge.
 * `isBuilt`: it can be found; otherwise a run is in progress.
 */
export async function ensureCanary(
  deps: IngestDependencies,
  { tenantId, crUid }: ManagedTenant,
  context: CallContext,
): Promise<Canary & { readonly isBuilt: boolean }> {
  const { dataset, principal, token } = await deps.messenger.call('auth.OpenCanary', { tenantId, crUid }, context);
  const own = { ...context, principal, proof: fixedProof(token) };
  const scope = scopeOf(dataset);
  const item = (await firstItem(deps, dataset)) ?? (await add(deps, dataset, own));
  const canary = { tenant: tenantId, dataset, item, context: own };
  if ((await builtAmong(deps.ledger, scope, [item])).length > 0) return { ...canary, isBuilt: true };
  const pipelines = [COGNIFY_PIPELINE];
  const { runs } = await deps.messenger.call('cognify.RunStatuses', { datasets: [dataset], pipelines }, own);
  const isUnderWay = runs.some(({ status }) => !isTerminal(status));
  if (!isUnderWay) await deps.messenger.call('cognify.StartRun', { dataset, options: {}, background: true }, own);
  return { ...canary, isBuilt: false };
}

/** Returns the canary of another tenant, with that tenant's context; null: it has none, or is not active. */
export async function canaryOf(
  deps: IngestDependencies,
  tenant: TenantId,
  context: CallContext,
): Promise<Canary | null> {
  const account = { userId: canaryAccount(tenant), tenant };
  const { principal, token } = await deps.messenger.call('auth.GetPrincipal', account, context);
  if (principal === null || token === null) return null;
  const own = { ...context, principal, proof: fixedProof(token) };
  const dataset = await ownCanary(deps.messenger, tenant, own);
  return dataset === null ? null : { tenant, dataset, item: await firstItem(deps, dataset), context: own };
}

/** Removes the canary. Returns whether there was one. */
export async function removeCanary(
  deps: IngestDependencies,
  thing: ManagedTenant,
  context: CallContext,
): Promise<boolean> {
  const { tenantId: tenant } = thing;
  // On behalf of the operator: a disabled tenant keeps no canary either.
  if ((await deps.datasets.get({ tenant }, canaryDatasetId(tenant))) === null) return false;
  // The resource must be the one that manages the tenant.
  const { dataset, context: own } = await reopened(deps, thing, context);
  await forgetDataset(deps, dataset, own);
  return true;
}

async function reopened({ messenger }: IngestDependencies, thing: ManagedTenant, context: CallContext) {
  const { dataset, principal, token } = await messenger.call('auth.OpenCanary', thing, context);
  return { dataset, context: { ...context, principal, proof: fixedProof(token) } };
}

async function ownCanary(messenger: Messenger, tenant: TenantId, context: Canary['context']) {
  const permitted = await permittedDatasets(messenger, context.principal, 'read', context);
  return permitted.find((dataset) => dataset.tenant === tenant && dataset.ownerId === context.principal.id) ?? null;
}

async function firstItem({ items }: IngestDependencies, dataset: DatasetRef): Promise<DataItem | null> {
  return (await items.oldestFirst(scopeOf(dataset), { after: null, limit: 1 })).items[0] ?? null;
}

async function add(deps: IngestDependencies, dataset: DatasetRef, context: Canary['context']): Promise<DataItem> {
  const { principal } = context;
  const text = canaryText(dataset.name);
  const input = { kind: 'document', id: dataItemId(deps.ids.uuid()), fileName: 'canary.txt', text } as const;
  const annotations = { labels: [], externalMetadata: [], nodeSets: [] };
  const signal = context.signal ?? new AbortController().signal;
  const {
    added: [added],
  } = await addData(deps, { principal, dataset, inputs: [input], annotations, context, signal });
  if (added === undefined) throw new Error('a canary was added and is not there');
  return added.item;
}

/** Whether the vectors are of another model than the current embedder's: it cannot be found then, and is made again. */
export function isOutdated(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'EmbeddingDimensionMismatchError';
}
