import { notAllPermitted } from '../../common/domain/permissions.ts';
import type { SessionKey } from '../../common/domain/session.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Permission } from '../../common/kernel/principal.ts';
import type { Scope } from '../../common/kernel/scope.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { isBeingDeleted } from '../forgetting/deletion-job.ts';

/**
 * After an append to a session of the dataset: one that was forgotten between the check of the request and the commit must
 * not come back as a session that is never removed. Forgetting looks for sessions once more behind the dataset's end, so that
 * one of the two finds the other. `PermissionDeniedError`, as for every dataset that is not there; then nothing is left.
 */
export async function requireDatasetStillThere(
  { datasets, workQueue, sessionRemoval }: IngestDependencies,
  place: { readonly scope: Scope; readonly key: SessionKey; readonly dataset: DatasetId },
  permission: Permission,
): Promise<void> {
  const dataset = await datasets.get(place.scope, place.dataset);
  if (dataset !== null && !(await isBeingDeleted(workQueue, dataset))) return;
  await sessionRemoval.session(place.scope, place.key);
  throw notAllPermitted(permission);
}

/**
 * Before anything is taken into the dataset: its deletion may have been cut off, and goes on by itself. What was there before
 * that began goes with it. `ConflictError`.
 */
export async function requireDatasetKept({ workQueue }: IngestDependencies, dataset: DatasetRef): Promise<void> {
  if (!(await isBeingDeleted(workQueue, dataset))) return;
  throw engramError('ConflictError', 'The dataset is being deleted; repeat it in a moment.', { retryable: true });
}
