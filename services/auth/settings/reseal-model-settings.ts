import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { keyPlace, type SealedKey } from '../repositories/model-settings.ts';

/**
 * Seals stored keys anew that an earlier root key sealed, so that this one can be given up. They stay what they are: nobody
 * need open a model again.
 */
export async function resealModelSettings(deps: AuthDependencies): Promise<void> {
  const stored = await deps.modelSettings.get();
  if (stored === null) return;
  const languageModel = await resealed(deps, 'languageModel', stored.languageModel);
  const vectorDatabase = await resealed(deps, 'vectorDatabase', stored.vectorDatabase);
  if (languageModel === stored.languageModel && vectorDatabase === stored.vectorDatabase) return;
  const write = deps.modelSettings.replaceWrite({ ...stored, languageModel, vectorDatabase });
  try {
    await deps.store.commit({ tenant: PERSONAL_TENANT }, [write]);
  } catch (error) {
    // Another replica was first, or they were set anew: sealed now either way.
    if (!(error instanceof VersionConflictError)) throw error;
  }
}

async function resealed<Part extends { readonly key: SealedKey | null }>(
  { secretBox }: AuthDependencies,
  name: 'languageModel' | 'vectorDatabase',
  part: Part | null,
): Promise<Part | null> {
  if (part === null || part.key === null || (await secretBox.isCurrent(part.key.sealed))) return part;
  const place = keyPlace(name);
  const sealed = await secretBox.seal(await secretBox.open(part.key.sealed, place), place);
  return { ...part, key: { ...part.key, sealed } };
}
