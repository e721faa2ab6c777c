import { engramError } from '../../../kernel/errors.ts';
import { parseJson } from '../../../kernel/json.ts';
import { COMPOSITE, type IndexValue, type SortKey } from './ordering.ts';

/**
 * `Page.next`: the place of the last document in the order of its query. It names the order, so that a cursor of another
 * query is refused instead of giving a wrong page; it holds values, so that the document itself may be gone.
 */
export function encodeCursor(order: readonly SortKey[], values: readonly IndexValue[]): string {
  const plain = values.map((value) => (value === COMPOSITE ? {} : value));
  return Buffer.from(JSON.stringify([signature(order), ...plain])).toString('base64url');
}

/** Throws `InvalidRequestError` for anything that `encodeCursor` did not make for the same order. */
export function decodeCursor(order: readonly SortKey[], cursor: string): readonly IndexValue[] {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!Array.isArray(parsed) || parsed.length !== order.length + 1 || parsed[0] !== signature(order)) {
    throw engramError('InvalidRequestError', 'The page cursor does not belong to this query');
  }
  return parsed.slice(1).map((value: unknown) => {
    if (value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') {
      return value;
    }
    return COMPOSITE;
  });
}

function signature(order: readonly SortKey[]): string {
  return order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(',');
}
