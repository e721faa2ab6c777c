import type { DatasetId } from '../../common/domain/brand.ts';
import { notAllPermitted } from '../../common/domain/permissions.ts';
import type { Permission } from '../../common/domain/principal.ts';
import type { Scope } from '../../common/domain/scope.ts';
import type { SessionKey } from '../../common/domain/session.ts';
import type { IngestDependencies } from './dependencies.ts';

/**
 * After an append to a session of the dataset: one that was forgotten between the check of the request and the commit must
 * not come back as a session that nobody removes. Forgetting looks for sessions once more behind the dataset's end, so that
 * one of the two finds the other. `PermissionDeniedError`, as for every dataset that is not there; then nothing is left.
 */
export async function requireDatasetStillThere(
  { datasets, sessionRemoval }: Pick<IngestDependencies, 'datasets' | 'sessionRemoval'>,
  place: { readonly scope: Scope; readonly key: SessionKey; readonly dataset: DatasetId },
  permission: Permission,
): Promise<void> {
  if ((await datasets.get(place.scope, place.dataset)) !== null) return;
  await sessionRemoval.session(place.scope, place.key);
  throw notAllPermitted(permission);
}
