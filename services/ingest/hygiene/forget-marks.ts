import type { DataItemId } from '../../common/domain/brand.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import { slices } from '../../common/domain/slices.ts';
import type { AnyCollection } from '../../common/ports/document-store.ts';
import { echoMarksCollection } from '../../common/repositories/echo-marks.ts';
import { repetitionsCollection } from '../../common/repositories/repetitions.ts';
import { supersessionRevertsCollection } from '../../common/repositories/supersessions.ts';
import type { IngestDependencies } from '../usecases/dependencies.ts';

/** Ids of one condition. */
const SLICE = 500;

/** What is kept of having shown, repeated and taken back what the items of a dataset say. */
export const markCollections: readonly AnyCollection[] = [
  echoMarksCollection,
  repetitionsCollection,
  supersessionRevertsCollection,
];

/** The part of it that is about the items. */
export async function forgetMarks(
  {
    store,
    echoes,
    repetitions,
    supersessions,
  }: Pick<IngestDependencies, 'store' | 'echoes' | 'repetitions' | 'supersessions'>,
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
