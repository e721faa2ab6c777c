import type { TenantId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import type { AnswerOf, CanaryLeak, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { readItemText } from '../items/read-items.ts';
import { findItemDataset } from '../items/target-dataset.ts';
import { type Canary, canaryOf, ensureCanary, isOutdated, removeCanary } from './canary.ts';

type SearchOf = Omit<RequestOf<'search.LookFor'>, 'text'>;

/** See `ingest.CheckIsolation` in proto/. */
export async function checkIsolation(
  deps: IngestDependencies,
  request: RequestOf<'ingest.CheckIsolation'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.CheckIsolation'>> {
  const { isBuilt, ...own } = await ensureCanary(deps, request, context);
  const unproven = isBuilt ? await whyUnproven(deps, own, request, context) : 'The canary is being added to the memory';
  if (unproven !== null) return { unproven, comparedTenantIds: [], leaks: [] };
  const compared: TenantId[] = [];
  const leaks: CanaryLeak[] = [];
  // Sequentially: no request waits for it.
  for (const id of new Set(request.otherTenantIds)) {
    const other = id === own.tenant ? null : await canaryOf(deps, id, context);
    const found = other === null ? null : await compare(deps, own, other);
    if (found === null) continue;
    compared.push(id);
    leaks.push(...found);
  }
  return { unproven: null, comparedTenantIds: compared, leaks };
}

/** See `unfoundBy`. A canary of another embedder is made again. */
async function whyUnproven(
  deps: IngestDependencies,
  own: Canary,
  request: RequestOf<'ingest.CheckIsolation'>,
  context: CallContext,
): Promise<string | null> {
  try {
    return await unfoundBy(deps, own);
  } catch (error) {
    if (!isOutdated(error)) throw error;
    await removeCanary(deps, request, context);
    return 'The canary was made with another embedder and is made again';
  }
}

/**
 * Compares two tenants in both directions. Null: the other tenant's canary is not in its memory, or of another
 * embedder; or nothing is found, and the other tenant does not find its own canary either, which proves nothing.
 */
async function compare(deps: IngestDependencies, own: Canary, other: Canary): Promise<readonly CanaryLeak[] | null> {
  if (other.item === null) return null;
  const isProof = await findsOwn(deps, other);
  if (isProof === null) return null;
  const leaks: CanaryLeak[] = [];
  try {
    for (const [canary, seenBy] of [
      [own, other],
      [other, own],
    ] as const) {
      const ways = await waysIn(deps, canary, seenBy);
      leaks.push(...ways.map((way) => ({ tenantId: canary.tenant, seenByTenantId: seenBy.tenant, way })));
    }
    return isProof || leaks.length > 0 ? leaks : null;
  } catch (error) {
    if (isOutdated(error)) return null;
    throw error;
  }
}

/** Null: unknown. A failure of the other tenant is reported by its own check. */
async function findsOwn(deps: IngestDependencies, own: Canary): Promise<boolean | null> {
  const isFound = async () => (await unfoundBy(deps, own)) === null;
  return nullIf(isEngramError, isFound());
}

/**
 * Returns why a canary that is not found would prove nothing; null: the tenant finds its own by words and by vector.
 */
async function unfoundBy(deps: IngestDependencies, own: Canary): Promise<string | null> {
  const { foundBy, refusal } = await search(deps, own, own, {});
  if (refusal !== null) return 'The tenant may not read its own canary';
  if (!foundBy.includes('lexical')) return 'The tenant does not find its own canary by words';
  return foundBy.includes('vector') ? null : 'The tenant does not find its own canary by vector';
}

/** Returns the ways by which another tenant reaches a canary; none in an isolated installation. */
async function waysIn(deps: IngestDependencies, canary: Canary, seenBy: Canary): Promise<readonly string[]> {
  const { id, name } = canary.dataset;
  const anywhere = await search(deps, canary, seenBy, {});
  const byId = await search(deps, canary, seenBy, { datasetId: id });
  const byName = await search(deps, canary, seenBy, { datasetName: name });
  return [
    ...(anywhere.foundBy.length > 0 ? ['search'] : []),
    ...(byId.refusal === null ? ['dataset id'] : []),
    ...(byName.refusal === null ? ['dataset name'] : []),
    ...((await isItemSeen(deps, canary, seenBy)) ? ['item'] : []),
  ];
}

/** Searches like any request of the tenant. */
function search({ messenger }: IngestDependencies, canary: Canary, seenBy: Canary, where: SearchOf) {
  return messenger.call('search.LookFor', { text: canary.dataset.name, ...where }, seenBy.context);
}

/** Reads it by its id alone, and as if it were in a dataset of the other tenant. */
async function isItemSeen(deps: IngestDependencies, { item }: Canary, seenBy: Canary): Promise<boolean> {
  if (item === null) return false;
  const { context, dataset } = seenBy;
  const found = await isFound(() => findItemDataset(deps, context.principal, item.id, { permission: 'read', context }));
  return found || (await isFound(() => readItemText(deps, dataset, item.id)));
}

async function isFound(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'DataNotFoundError') return false;
    // Several items have the id, and the caller may see them.
    if (isEngramError(error) && error.wireName === 'AmbiguousDataIdError') return true;
    throw error;
  }
}
