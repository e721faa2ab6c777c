import type { Stored } from '../../ports/document-store.ts';
import { decodeDocument } from '../rules/change.ts';
import type { SqlRow } from './statement-cache.ts';
import type { TableLayout } from './table-layout.ts';

/** Columns of every query that gives documents; `toStored` reads them by position. */
export function selectColumns(layout: TableLayout): string {
  const owner = (name: 'tenant' | 'dataset') => (layout.owners.includes(name) ? `"${name}"` : 'NULL');
  const sequence = layout.rules.sequenced ? '"sequence"' : 'NULL';
  return `"id", "version", "body", ${owner('tenant')}, ${owner('dataset')}, ${sequence}`;
}

export function toStored<T>(layout: TableLayout, row: SqlRow): Stored<T> {
  const [id, version, body, tenant, dataset, sequence] = row;
  return {
    id: id as string,
    version: version as number,
    value: decodeDocument(body as string) as T,
    tenant: tenant as string | null,
    dataset: dataset as string | null,
    ...(layout.rules.sequenced ? { sequence: sequence as number } : {}),
  };
}
