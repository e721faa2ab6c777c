import type { Document, ObjectId } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Stored } from '../../ports/document-store.ts';
import { decodeDocument, encodeDocument } from '../rules/change.ts';
import { type CollectionRules, fieldValue } from '../rules/collection-rules.ts';
import { COMPOSITE, DATASET, type IndexValue, indexValue, TENANT } from '../rules/ordering.ts';

export type BsonValue = number | string | boolean | Date;

/**
 * How a document lies in MongoDB: the document itself as JSON text (BSON knows no lone surrogates and has ideas of its own
 * about keys), and beside it the values of its indexed fields.
 */
export interface DocumentRow {
  readonly _id: ObjectId;
  readonly tenant?: string;
  readonly dataset?: string;
  readonly id: string;
  readonly version: number;
  readonly sequence?: number;
  /** Values of indexed fields that are not null. `a.b` is the key `a/b`. */
  readonly fields: Readonly<Record<string, BsonValue>>;
  /**
   * Unique index → the document's id when one of the index's fields is null. It ends the index, so that null counts as
   * absent, and the index still serves every query over its fields, which a partial index would not.
   */
  readonly exempt?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IndexLayout {
  readonly name: string;
  readonly key: Readonly<Record<string, 1>>;
  readonly unique: boolean;
  /** Declared fields, by which a violated unique index is reported. */
  readonly fields: readonly string[];
}

export interface CollectionLayout {
  readonly rules: CollectionRules;
  readonly owners: readonly ('tenant' | 'dataset')[];
  readonly indexes: readonly IndexLayout[];
}

/** Room for the fields beside the body in the 16 MB of a BSON document. */
const MAX_BODY_BYTES = 15 * 1024 * 1024;
/** Value of a list or an object in an index: a type that BSON orders after booleans. */
const COMPOSITE_VALUE = new Date(0);

export function layoutOf(rules: CollectionRules): CollectionLayout {
  const owners = rules.level === 'system' ? [] : rules.level === 'tenant' ? ['tenant' as const] : OWNERS;
  return { rules, owners, indexes: indexesOf(rules, owners) };
}

const OWNERS = ['tenant', 'dataset'] as const;

/**
 * Every index but the wide ones is led by the owner, and a plain one ends in the id, so that it gives the total order of
 * `find`. Those on id and sequence alone, and the wide ones, serve scopes that do not know whose document they look for:
 * their order ends in the owner.
 */
function indexesOf(rules: CollectionRules, owners: readonly string[]): readonly IndexLayout[] {
  const indexes: IndexLayout[] = [];
  const add = (name: string, paths: readonly string[], fields: readonly string[], unique = false) => {
    const key = Object.fromEntries(paths.map((path) => [path, 1 as const]));
    indexes.push({ name, key, unique, fields });
  };
  add('unique.id', [...owners, 'id'], ['id'], true);
  if (owners.length > 0) add('by.id', ['id', ...owners], ['id']);
  if (rules.sequenced) add('unique.sequence', ['sequence'], ['sequence'], true);
  if (rules.sequenced && owners.length > 0) add('by.sequence', [...owners, 'sequence'], ['sequence']);
  for (const { fields, unique, wide } of rules.indexes) {
    const paths = [...owners, ...fields.map(pathOf)];
    const name = fields.join('+');
    if (wide) add(`wide.${name}`, [...fields.map(pathOf), 'id', ...owners], fields);
    else if (unique) add(`unique.${name}`, [...paths, exemptPath(fields)], fields, true);
    else if (fields.includes('id') || fields.includes('sequence')) add(`by.${name}`, paths, fields);
    else add(`by.${name}`, [...paths, 'id'], fields);
  }
  return indexes;
}

export function pathOf(field: string): string {
  if (field === 'id' || field === 'sequence') return field;
  if (field === TENANT) return 'tenant';
  return field === DATASET ? 'dataset' : `fields.${keyOf(field)}`;
}

export function exemptPath(fields: readonly string[]): string {
  return `exempt.${exemptKey(fields)}`;
}

/** Field names are checked by `rulesOf`: neither `/` nor `+` can stand in one. */
function keyOf(field: string): string {
  return field.replaceAll('.', '/');
}

function exemptKey(fields: readonly string[]): string {
  return fields.map(keyOf).join('+');
}

/** BSON orders numbers, strings (UTF-8 bytes), booleans, dates: as `compareIndexValues` does; null is a missing value. */
export function bsonValue(value: Exclude<IndexValue, null>): BsonValue {
  return value === COMPOSITE ? COMPOSITE_VALUE : value;
}

/** A document as it is stored, and its row. Throws `PayloadTooLargeError`. */
export function encodeRow(layout: CollectionLayout, key: ObjectId, document: Stored<JsonObject>) {
  const { id, version, sequence, tenant, dataset } = document;
  const body = encodeDocument(document.value);
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    const text = `A document of ${layout.rules.name} is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB`;
    throw engramError('PayloadTooLargeError', text);
  }
  const row: DocumentRow = {
    _id: key,
    ...(tenant === null ? {} : { tenant }),
    ...(dataset === null ? {} : { dataset }),
    id,
    version,
    ...(sequence === undefined ? {} : { sequence }),
    ...indexedValues(layout, id, document.value),
    body,
  };
  return { row, stored: { ...document, value: decodeDocument(body) } };
}

export function indexedValues(
  { rules }: CollectionLayout,
  id: string,
  value: JsonObject,
): Pick<DocumentRow, 'fields' | 'exempt'> {
  const fields: [string, BsonValue][] = [];
  for (const field of rules.fields) {
    const indexed = indexValue(fieldValue(value, field));
    if (indexed !== null) fields.push([keyOf(field), bsonValue(indexed)]);
  }
  const present = new Set(fields.map(([key]) => key));
  const exempt = rules.indexes
    .filter((index) => index.unique && index.fields.some((field) => !present.has(keyOf(field)) && isValue(field)))
    .map((index): [string, string] => [exemptKey(index.fields), id]);
  return { fields: Object.fromEntries(fields), ...(exempt.length === 0 ? {} : { exempt: Object.fromEntries(exempt) }) };
}

/** Whether a field is one of the document's value. */
function isValue(field: string): boolean {
  return field !== 'id' && field !== 'sequence';
}

/** Fields of a row that `toStored` needs. */
export const STORED_PARTS: Document = { fields: 0, exempt: 0 };

export function toStored<T>(row: Omit<DocumentRow, 'fields' | 'exempt'>): Stored<T> {
  return {
    id: row.id,
    version: row.version,
    value: decodeDocument(row.body) as T,
    tenant: row.tenant ?? null,
    dataset: row.dataset ?? null,
    ...(row.sequence === undefined ? {} : { sequence: row.sequence }),
  };
}
