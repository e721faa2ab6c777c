import type { DatasetScope } from '../../kernel/scope.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import { ledgerCollection } from './ledger.ts';
import { supersessionsCollection } from './supersessions.ts';
import { vectorVersionsCollection } from './vector-index-versions.ts';

/** Says whether what was read of a dataset has to be read again. */
export interface DatasetChanges {
  /** Another number with each change of an entry of the ledger, of which none is removed as long as the dataset can be read. */
  readonly ledger: number;
  /** The same of the index versions of its vectors, which are removed with the whole dataset only. */
  readonly vectorVersions: number;
  /** Whether there is any supersession, reverted ones included. */
  readonly hasSupersessions: boolean;
}

/** In one read, the ledger first: what was committed with its entries is seen with them. */
export async function datasetChanges(
  store: Pick<DocumentStore, 'countChanges'>,
  scope: DatasetScope,
): Promise<DatasetChanges> {
  const collections = [ledgerCollection, vectorVersionsCollection, supersessionsCollection];
  const [ledger = 0, vectorVersions = 0, supersessions = 0] = await store.countChanges(scope, collections);
  return { ledger, vectorVersions, hasSupersessions: supersessions > 0 };
}
