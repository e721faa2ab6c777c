import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isUuid } from '../../common/kernel/ids.ts';
import type { StoredSkill } from '../../common/records/ingest/skills.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** An active skill of the dataset by its id; null when there is none. */
export async function findSkill(
  { skills }: IngestDependencies,
  dataset: DatasetRef,
  id: string,
): Promise<StoredSkill | null> {
  if (!isUuid(id)) return null;
  const stored = await skills.get(scopeOf(dataset), id.toLowerCase());
  return stored?.skill.isActive ? stored : null;
}

/** By id or by name. `InvalidRequestError` when there is none, or when a name fits several. */
export async function namedSkill(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  idOrName: string,
): Promise<StoredSkill> {
  const byId = await findSkill(dependencies, dataset, idOrName);
  if (byId !== null) return byId;
  const [found, ...others] = await dependencies.skills.named(scopeOf(dataset), idOrName);
  if (found === undefined) throw engramError('InvalidRequestError', 'There is no such skill in the dataset.');
  if (others.length > 0) throw engramError('InvalidRequestError', 'Several skills have that name; give the id.');
  return found;
}
