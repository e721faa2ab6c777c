import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Page } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Supersession } from '../../common/records/cognify/supersessions.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Newest first; those of which one side is not in the memory (any more) are left out. */
export async function listSupersessions(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Page<Supersession>> {
  const scope = scopeOf(dataset);
  const found = await dependencies.supersessions.list(scope, page);
  return { items: await visibleAmong(dependencies, scope, found.items), next: found.next };
}

/** The older statement stands again, for good; repeating it changes nothing. `DataNotFoundError` for an unknown id. */
export async function revertSupersession(
  dependencies: IngestDependencies,
  { principal, dataset, id }: { readonly principal: Principal; readonly dataset: DatasetRef; readonly id: string },
): Promise<Supersession> {
  const { supersessions, audit, clock } = dependencies;
  const scope = scopeOf(dataset);
  const stored = await supersessions.get(scope, id);
  const [supersession] = stored === null ? [] : await visibleAmong(dependencies, scope, [stored]);
  if (supersession === undefined) throw engramError('DataNotFoundError', `There is no supersession ${id}.`);
  if (supersession.reverted !== null) return supersession;
  const at = clock.now().toISOString();
  const entry = { tenant: dataset.tenant, action: 'supersession.reverted', actor: principal.id, subject: id };
  try {
    const write = supersessions.revertWrite(supersession, principal.id, at);
    await audit.commit(scope, [write], [{ ...entry, details: { dataset: dataset.id } }]);
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) throw error;
    return (await supersessions.get(scope, id)) ?? supersession;
  }
  return { ...supersession, reverted: { by: principal.id, at } };
}

async function visibleAmong(
  { ledger }: IngestDependencies,
  scope: DatasetScope,
  found: readonly Supersession[],
): Promise<readonly Supersession[]> {
  const entries = await ledger.entries(scope, [
    ...new Set(found.flatMap(({ older, newer }) => [older.item, newer.item])),
  ]);
  const isShown = ({ item, generation }: Supersession['older']): boolean => {
    const entry = entries.get(item);
    return entry !== undefined && !entry.erased && entry.generation === generation;
  };
  return found.filter(({ older, newer }) => isShown(older) && isShown(newer));
}
