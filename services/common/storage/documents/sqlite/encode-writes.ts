import type { AnyScope } from '../../../kernel/scope.ts';
import type { Write, WriteResult } from '../../ports/document-store.ts';
import { decodeDocument, encodeDocument } from '../rules/change.ts';
import { requireDocumentId } from '../rules/collection-rules.ts';
import { placeOf, reachOf } from '../rules/reach.ts';
import { whereTerm } from './filter-sql.ts';
import { fieldValues, type TableLayout } from './table-layout.ts';
import type { EncodedDocument, EncodedResult, EncodedWrite } from './write-protocol.ts';

/** SQLite would read a lone surrogate as U+FFFD and find another id; an empty id is not allowed. */
export function storableId(id: string): string {
  return id.isWellFormed() ? id : '';
}

/** Checks a write against its collection and the scope, and makes it what the storage worker understands. */
export function encodeWrite(layout: TableLayout, scope: AnyScope, write: Write): EncodedWrite {
  const { rules } = layout;
  const collection = rules.name;
  if (write.kind === 'insert') {
    requireDocumentId(collection, write.id);
    const values = fieldValues(rules, write.value);
    const place = placeOf(scope, rules);
    return { kind: 'insert', collection, id: write.id, place, body: encodeDocument(write.value), values };
  }
  const reach = reachOf(scope, rules);
  if (write.kind === 'removeWhere') {
    return { kind: 'removeWhere', collection, where: whereTerm(layout, reach, write.where) };
  }
  const target = { collection, id: storableId(write.id), reach };
  switch (write.kind) {
    case 'replace': {
      const { value, expectedVersion } = write;
      return {
        kind: 'replace',
        ...target,
        body: encodeDocument(value),
        values: fieldValues(rules, value),
        expectedVersion,
      };
    }
    case 'update': {
      const { where, increment, required } = write;
      const set = encodeDocument(write.set);
      return { kind: 'update', ...target, where, set, required, ...(increment === undefined ? {} : { increment }) };
    }
    case 'remove': {
      const { expectedVersion } = write;
      return { kind: 'remove', ...target, ...(expectedVersion === undefined ? {} : { expectedVersion }) };
    }
  }
}

/** The document is parsed when it is first read, which few callers do. */
export function decodeResult(encoded: EncodedWrite, result: EncodedResult): WriteResult {
  const changed = typeof result === 'number' ? result : 1;
  const isNew = typeof result === 'number' && encoded.kind === 'insert';
  const document = isNew ? { version: 1, sequence: null, ...encoded.place, body: null } : result;
  if (typeof document === 'number') return { stored: null, changed };
  let stored: WriteResult['stored'] | undefined;
  return {
    get stored() {
      stored ??= toStored(encoded, document);
      return stored;
    },
    changed,
  };
}

function toStored(encoded: EncodedWrite, document: EncodedDocument): WriteResult['stored'] {
  const { version, tenant, dataset, sequence } = document;
  const known = encoded.kind === 'insert' || encoded.kind === 'replace' ? encoded.body : '{}';
  return {
    id: 'id' in encoded ? encoded.id : '',
    version,
    value: decodeDocument(document.body ?? known),
    tenant,
    dataset,
    ...(sequence === null ? {} : { sequence }),
  };
}
