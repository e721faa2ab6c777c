import type { UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { EmbeddingState } from '../../common/platform/messaging/messages.ts';
import type { EmbeddingChoice } from '../../common/ports/embedders.ts';
import { ownedByAnother } from '../../common/records/auth/require-managed.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { followRequest, isSameChoice } from './migrate-embedding.ts';
import { type MigrationQueue, queueMigration } from './migration-jobs.ts';
import type { MigrationDependencies } from './migration-step.ts';

type Dependencies = MigrationDependencies & MigrationQueue & Pick<CognifyDependencies, 'managedResources' | 'audit'>;

/** Needs no account, so it is always available. */
const BUILTIN: EmbeddingChoice = { model: 'builtin/hashing-v1', dimensions: 384 };

/**
 * Requests one of the configured embedding models for a dataset, null: the one of new datasets. Works on the migration for a few
 * seconds, then it continues as a job; search uses the former vectors meanwhile. Errors: `OwnedByAnother` when a resource sets
 * the model, `EmbeddingException` for a model that is not configured.
 */
export async function chooseEmbedding(
  deps: Dependencies,
  { dataset, model, by }: { readonly dataset: DatasetRef; readonly model: string | null; readonly by: UserId },
  signal: AbortSignal,
): Promise<EmbeddingState> {
  const { tenant, id } = dataset;
  const scope = scopeOf(dataset);
  if ((await deps.managedResources.of({ tenant, dataset: id })) !== null)
    throw ownedByAnother({ tenant, dataset: id }, 'is managed by a resource, which says its embedding model');
  const chosen = await choiceOf(deps, dataset, model);
  const isNew = !isSameChoice((await deps.vectorVersions.state(scope)).wish, chosen);
  await deps.vectorVersions.update(scope, ({ wish }) => (isSameChoice(wish, chosen) ? null : { wish: chosen }));
  if (isNew) {
    const details = { model: chosen?.model ?? 'configured' };
    await deps.audit.record({ tenant, action: 'dataset.reembedded', actor: by, subject: id, details });
  }
  const state = await followRequest(deps, scope, { signal });
  if (state.migration !== null) await queueMigration(deps, scope);
  return state;
}

async function choiceOf(
  { embedders }: Dependencies,
  { tenant }: DatasetRef,
  model: string | null,
): Promise<EmbeddingChoice | null> {
  const { space } = await embedders.wanted(tenant, null);
  if (model === null || [space.model, withoutProvider(space.model)].includes(model)) return null;
  if ([BUILTIN.model, withoutProvider(BUILTIN.model)].includes(model)) return BUILTIN;
  throw engramError(
    'EmbeddingException',
    `No embedding model ${JSON.stringify(model)} is configured; there are ${space.model} and ${BUILTIN.model}.`,
  );
}

function withoutProvider(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}
