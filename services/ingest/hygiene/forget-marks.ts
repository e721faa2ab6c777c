import type { DataItemId } from '../../common/domain/brand.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { IngestDependencies } from '../usecases/dependencies.ts';

/** Ids of one condition. */
const SLICE = 500;

/** What is kept of having shown, repeated and taken back what the items say; null: all of the dataset. */
export async function forgetMarks(
  {
    store,
    echoes,
    repetitions,
    supersessions,
  }: Pick<IngestDependencies, 'store' | 'echoes' | 'repetitions' | 'supersessions'>,
  scope: DatasetScope,
  items: readonly DataItemId[] | null,
): Promise<void> {
  const owners = [echoes.removeWrite, repetitions.removeWrite, supersessions.removeRevertsWrite];
  if (items === null) {
    // One commit each: great numbers go in parts.
    for (const removeWrite of owners) await store.commit(scope, [removeWrite(null)]);
    return;
  }
  for (let start = 0; start < items.length; start += SLICE) {
    const slice = items.slice(start, start + SLICE);
    await store.commit(
      scope,
      owners.map((removeWrite) => removeWrite(slice)),
    );
  }
}
