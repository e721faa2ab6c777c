import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** Ids of one condition. */
const SLICE = 500;

/** Removes what is kept of having shown, repeated and taken back what the items say. */
export async function forgetMarks(
  { store, echoes, repetitions, supersessions }: IngestDependencies,
  scope: DatasetScope,
  items: readonly DataItemId[],
): Promise<void> {
  const owners = [echoes.removeWrite, repetitions.removeWrite, supersessions.removeRevertsWrite];
  for (const slice of slices(items, SLICE)) {
    await store.commit(
      scope,
      owners.map((removeWrite) => removeWrite(slice)),
    );
  }
}
