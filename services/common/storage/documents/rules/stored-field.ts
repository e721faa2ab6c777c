import type { JsonObject } from '../../../kernel/json.ts';
import type { Stored } from '../../ports/document-store.ts';
import { fieldValue } from './collection-rules.ts';
import { DATASET, type IndexValue, indexValue, type SortKey, TENANT } from './ordering.ts';

/** Path of an indexed field: a field of the value, `id`, `sequence`, or a pseudo field of the order. */
export function storedField(stored: Stored<JsonObject>, field: string): IndexValue {
  if (field === 'id') return stored.id;
  if (field === 'sequence' && stored.sequence !== undefined) return stored.sequence;
  if (field === TENANT) return stored.tenant;
  return field === DATASET ? stored.dataset : indexValue(fieldValue(stored.value, field));
}

/** The place of a document in an order, as a cursor holds it. */
export function placeInOrder(order: readonly SortKey[], stored: Stored<JsonObject>): readonly IndexValue[] {
  return order.map(({ field }) => storedField(stored, field));
}
