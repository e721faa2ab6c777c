import type { DatasetRef } from '../../common/domain/dataset.ts';
import { engramError } from '../../common/domain/errors.ts';
import { datasetId } from '../../common/domain/ids.ts';
import { creatorHolders } from '../../common/domain/permissions.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { datasetScope, wireTenant } from '../../common/domain/scope.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/ports/document-store.ts';
import { datasetRef } from '../../common/repositories/datasets.ts';
import type { AuthDependencies } from '../dependencies.ts';

type Dependencies = Pick<AuthDependencies, 'store' | 'eventLog' | 'clock' | 'datasets' | 'grants' | 'users'>;

/** How often a name may vanish under a creation that found it taken. */
const ATTEMPTS = 5;

/**
 * Makes the dataset with its grants, or answers the one that the principal owns under the name. Takes any
 * Unicode text as name: stores write a lone surrogate as another character, so two names would become one.
 */
export async function createDataset(deps: Dependencies, principal: Principal, name: string): Promise<DatasetRef> {
  if (!name.isWellFormed()) throw engramError('InvalidDatasetNameError', 'Dataset name cannot be broken Unicode.');
  const id = datasetId(name, principal.id, wireTenant(principal.tenant));
  const scope = datasetScope(principal.tenant, id);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const existing = await deps.datasets.get(scope, id);
    if (existing !== null) return datasetRef(existing);
    const dataset: DatasetRef = {
      id,
      name,
      ownerId: principal.id,
      tenant: principal.tenant,
      createdAt: deps.clock.now().toISOString(),
      updatedAt: null,
    };
    try {
      await deps.store.commit(scope, [
        // A deletion of the account that has begun hands over what it saw: nothing may come after.
        deps.users.touchWrite(principal.id, { isActive: true }),
        deps.datasets.insertWrite(dataset),
        ...deps.grants.insertAllWrites(id, creatorHolders(principal)),
        ...deps.eventLog.appendWrites(scope, [
          { type: 'dataset.created', subjectId: id, data: { ownerId: principal.id } },
        ]),
      ]);
      return dataset;
    } catch (error) {
      if (error instanceof VersionConflictError) throw accountEnded(error);
      if (!(error instanceof DuplicateKeyError)) throw error;
      // The name may be one of a dataset that came from a deleted account: its id follows from that one's.
      const [own] = await deps.datasets.ownedByName({ tenant: principal.tenant }, principal.id, [name]);
      if (own !== undefined) return datasetRef(own);
    }
  }
  throw engramError('ConflictError', 'The dataset is being created and removed at the same time.', { retryable: true });
}

function accountEnded(cause: unknown) {
  return engramError('PermissionDeniedError', 'The account was deleted or deactivated.', { cause });
}
