import type { JsonObject } from '../../../kernel/json.ts';
import { type CollectionRules, fieldValue } from '../rules/collection-rules.ts';
import { COMPOSITE, DATASET, type IndexValue, indexValue, TENANT } from '../rules/ordering.ts';

export type SqlValue = null | number | string | Uint8Array;

/**
 * How a collection lies in SQLite: one table with the document as JSON text and a column per indexed field, which holds
 * the field's value under the type it has (STRICT type ANY). Only the owner columns of the collection's level exist.
 */
export interface TableLayout {
  readonly rules: CollectionRules;
  readonly table: string;
  /** The integer primary key; in sequenced collections it is the sequence and never used twice. */
  readonly rowKey: '"sequence"' | '"row"';
  readonly owners: readonly ('tenant' | 'dataset')[];
  /** Columns of `rules.fields`, in the same order. */
  readonly fieldColumns: readonly string[];
}

export function layoutOf(rules: CollectionRules): TableLayout {
  return {
    rules,
    table: `"c_${rules.name}"`,
    rowKey: rules.sequenced ? '"sequence"' : '"row"',
    owners: rules.level === 'system' ? [] : rules.level === 'tenant' ? ['tenant'] : ['tenant', 'dataset'],
    fieldColumns: rules.fields.map(fieldColumn),
  };
}

/** Field names are checked by `rulesOf`: quoting them is enough. */
export function fieldColumn(field: string): string {
  return `"f_${field.replaceAll('.', '$')}"`;
}

export function columnOf(field: string): string {
  if (field === 'id' || field === 'sequence') return `"${field}"`;
  if (field === TENANT) return '"tenant"';
  if (field === DATASET) return '"dataset"';
  return fieldColumn(field);
}

/** SQLite orders NULL, numbers, text (BINARY: UTF-8 bytes), blobs: the order of `compareIndexValues`. */
export function sqlValue(value: IndexValue): SqlValue {
  if (value === COMPOSITE) return Uint8Array.of(2);
  return typeof value === 'boolean' ? Uint8Array.of(value ? 1 : 0) : value;
}

export function fieldValues(rules: Pick<CollectionRules, 'fields'>, document: JsonObject): readonly SqlValue[] {
  return rules.fields.map((field) => sqlValue(indexValue(fieldValue(document, field))));
}

/** The collections that were declared in this process. */
export type Layouts = ReturnType<typeof createLayouts>;

export function createLayouts() {
  const layouts = new Map<string, TableLayout>();
  return {
    declare: (rules: CollectionRules): void => void layouts.set(rules.name, layoutOf(rules)),
    /** Throws for a collection that was not prepared. */
    of(collection: string) {
      const layout = layouts.get(collection);
      if (layout === undefined) throw new Error(`collection ${collection} was not prepared`);
      return layout;
    },
  };
}
