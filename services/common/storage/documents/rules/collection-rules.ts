import { engramError } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { AnyCollection } from '../../ports/document-store.ts';

/**
 * The form in which every document store uses a declared collection: checked names, the distinct fields that may be queried, and
 * the indexes with their fields. Shared by all adapters, so that they accept and refuse the same declarations.
 */
export interface CollectionRules {
  readonly name: string;
  readonly level: 'system' | 'tenant' | 'dataset';
  readonly sequenced: boolean;
  /** Distinct document fields of all indexes, without `id` and `sequence`, in order of first mention. */
  readonly fields: readonly string[];
  readonly indexes: readonly IndexRules[];
}

interface IndexRules {
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** Left out unless true, so that declarations of earlier releases stay the same. */
  readonly wide?: true;
}

/** Ids longer than this are refused: an index entry should stay small beside its page. */
const MAX_ID_LENGTH = 1024;
const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Throws a plain `Error` for a declaration that no store can hold: that is a fault of the code, not of a caller. */
export function rulesOf(collection: AnyCollection): CollectionRules {
  const { name, level } = collection;
  if (!NAME.test(name)) throw new Error(`collection name ${JSON.stringify(name)} is not lower-case words joined by _`);
  const sequenced = collection.sequenced ?? false;
  const fields = new Map<string, string>();
  const indexes = collection.indexes.map(({ fields: names, unique = false, wide = false }): IndexRules => {
    if (unique && wide) throw new Error(`collection ${name}: a wide index cannot be unique`);
    return { fields: [...names], unique, ...(wide ? { wide } : {}) };
  });
  for (const field of indexes.flatMap((index) => index.fields)) {
    if (field === 'id') continue;
    if (field === 'sequence') {
      if (!sequenced) throw new Error(`collection ${name} indexes sequence but is not sequenced`);
      continue;
    }
    if (!FIELD.test(field)) throw new Error(`collection ${name}: ${JSON.stringify(field)} is not a field name`);
    const other = fields.get(field.toLowerCase());
    if (other !== undefined && other !== field) {
      throw new Error(`collection ${name}: fields ${other} and ${field} differ in case only`);
    }
    fields.set(field.toLowerCase(), field);
  }
  return { name, level, sequenced, fields: [...fields.values()], indexes };
}

/** Queries may use `id`, indexed fields and, in sequenced collections, `sequence`. */
export function requireQueryable(rules: CollectionRules, field: string): void {
  if (field === 'id' || (field === 'sequence' && rules.sequenced) || rules.fields.includes(field)) return;
  throw new Error(`collection ${rules.name} has no index on ${field}`);
}

/** An id is 1 to 1024 characters of well-formed Unicode; nothing else can be inserted. */
export function isDocumentId(id: string): boolean {
  return id.length > 0 && id.length <= MAX_ID_LENGTH && id.isWellFormed();
}

export function requireDocumentId(collection: string, id: string): void {
  if (isDocumentId(id)) return;
  throw engramError(
    'InvalidRequestError',
    `An id in ${collection} must have 1 to ${MAX_ID_LENGTH} characters of well-formed Unicode`,
  );
}

/** Value at a dotted path; `undefined` where a step is missing or not an object. Own properties only. */
export function fieldValue(document: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = document;
  for (const step of path.split('.')) {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, step)) {
      return undefined;
    }
    value = (value as JsonObject)[step];
  }
  return value;
}
