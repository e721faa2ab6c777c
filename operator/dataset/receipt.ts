import { keepReceipt, type Receipt } from '../keep-receipt.ts';
import { boundedName } from '../tenant/names.ts';
import type { DatasetContext, DatasetDependencies } from './dependencies.ts';

/** Writes what is left of a dataset. Answers the name. */
export async function writeReceipt(
  deps: Pick<DatasetDependencies, 'client' | 'options'>,
  context: DatasetContext,
  receipt: Receipt,
): Promise<string> {
  const { name, uid = '' } = context.object.metadata;
  const named = boundedName('dataset', name, receipt.kind.toLowerCase(), uid.slice(0, 8));
  return keepReceipt(deps, context, { ...receipt, name: named, of: 'Dataset' });
}
