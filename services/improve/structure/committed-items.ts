import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { PassReads } from '../engine/pass-reads.ts';

/** Generations that readers of the dataset see, of all its items; with `reads` as a stage before may have read them. */
export function committedItems(
  { ledger }: { readonly ledger: Pick<Ledger, 'allCommitted'> },
  scope: DatasetScope,
  reads?: PassReads,
): Promise<ReadonlyMap<DataItemId, number>> {
  const read = () => ledger.allCommitted(scope);
  return reads === undefined ? read() : reads.once('committed', read);
}
