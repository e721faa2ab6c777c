import { homeOf } from '../../common/domain/budget.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { StoredDataset } from '../../common/records/auth/datasets.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { type Departure, heirOfDataset } from './heirs.ts';

/** Datasets in one commit: few enough for the locks of a transaction, many enough for accounts with thousands. */
const BATCH = 100;

/**
 * Gives every dataset of an account that goes another owner with all four grants. Ids stay, so content and shares stay as
 * they are. A name that the new owner has already gets the head of the dataset's id behind it: names resolve among own
 * datasets, and two of one name could not be told apart. Each commit stands for itself: what was cut short goes on when it
 * is repeated.
 */
export async function handOverDatasets(
  deps: AuthDependencies,
  owner: Pick<User, 'id' | 'parentId'>,
  departure: Departure,
): Promise<void> {
  const handOverBatch = async () => {
    const owned = await deps.datasets.ofOwner(owner.id, BATCH);
    for (const [tenant, datasets] of byTenant(owned)) {
      const heir = await heirOfDataset(deps, owner, { tenant, departure });
      await handOver(deps, datasets, { tenant, heir, by: departure.by });
    }
    return owned.length > 0;
  };
  while (await retryOnConflict(handOverBatch)) {
    // Until it owns none.
  }
}

interface HandOver {
  readonly tenant: TenantId;
  readonly heir: UserId;
  readonly by: UserId | null;
}

async function handOver(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, heir, by }: HandOver,
): Promise<void> {
  const { datasets, grants, users, clock } = deps;
  const scope = { tenant };
  const at = clock.now().toISOString();
  const names = await freeNames(deps, owned, { tenant, heir });
  const writes: Write[] = [users.touchWrite(heir)];
  const entries: AuditEntry[] = [];
  for (const dataset of owned) {
    const name = names.get(dataset) ?? dataset.name;
    const event = { type: 'dataset.reassigned', subjectId: dataset.id, data: { ownerId: heir } };
    writes.push(
      datasets.passOnWrite(dataset, { ownerId: heir, name, at }),
      ...deps.eventLog.appendWrites({ tenant, dataset: dataset.id }, [event]),
    );
    const details = { from: dataset.ownerId, to: heir, name };
    entries.push({ tenant, action: 'dataset.reassigned', actor: by, subject: dataset.id, details });
  }
  const ids = owned.map(({ id }) => id);
  writes.push(...(await grants.giveAllWrites(scope, ids, heir)));
  const homes = [...owned, { tenant, ownerId: heir }].map(homeOf);
  if (tenant === PERSONAL_TENANT) writes.push(...deps.budgets.recountWrites([...new Set(homes)]));
  const [first, ...rest] = entries;
  if (first === undefined) return;
  await deps.audit.commit(scope, writes, [first, ...rest]);
  deps.news.accessChanged(tenant, [heir]);
}

async function freeNames(
  deps: AuthDependencies,
  owned: readonly StoredDataset[],
  { tenant, heir }: Pick<HandOver, 'tenant' | 'heir'>,
): Promise<ReadonlyMap<StoredDataset, string>> {
  const spellings = new Map(owned.map((dataset) => [dataset, spellingsOf(dataset)]));
  const taken = await deps.datasets.ownedByName({ tenant }, heir, [...spellings.values()].flat());
  const unusable = new Set(taken.map(({ name }) => name));
  const chosen = new Map<StoredDataset, string>();
  for (const [dataset, candidates] of spellings) {
    const name = candidates.find((candidate) => !unusable.has(candidate));
    // The last one holds the whole id: nobody else has it.
    const free = name ?? candidates.at(-1) ?? dataset.name;
    unusable.add(free);
    chosen.set(dataset, free);
  }
  return chosen;
}

/** In the order they are tried. */
function spellingsOf({ name, id }: StoredDataset): readonly string[] {
  return [name, `${name}_${id.slice(0, 8)}`, `${name}_${id}`];
}

function byTenant(owned: readonly StoredDataset[]): ReadonlyMap<TenantId, readonly StoredDataset[]> {
  return Map.groupBy(owned, ({ tenant }) => tenant);
}
