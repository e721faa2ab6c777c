import type { ErrorName } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Filter } from '../../ports/document-store.ts';
import type { CollectionRules } from '../rules/collection-rules.ts';
import type { Place, Reach } from '../rules/reach.ts';
import type { SqlTerm } from './filter-sql.ts';
import type { SqlValue } from './table-layout.ts';

/**
 * Messages between the store's thread and the storage worker. Documents travel as the JSON text that is stored;
 * filters of bulk removals as SQL. Everything is plain data that a structured clone carries.
 */
export type WorkerRequest =
  | { readonly kind: 'prepare'; readonly collections: readonly CollectionRules[] }
  | { readonly kind: 'commits'; readonly commits: readonly EncodedCommit[] }
  | { readonly kind: 'close' }
  | UnansweredRequest;

/** Writes of a large commit ahead of it, and the word that it will not come. */
export type UnansweredRequest =
  | { readonly kind: 'part'; readonly large: number; readonly writes: readonly EncodedWrite[] }
  | { readonly kind: 'drop'; readonly large: number };

/** The parts that were sent under the number of a large commit come before `writes`. */
export interface EncodedCommit {
  readonly writes: readonly EncodedWrite[];
  readonly large?: number;
}

export type WorkerReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'commits'; readonly outcomes: readonly CommitOutcome[] }
  | { readonly kind: 'failed'; readonly error: EncodedError };

export type EncodedWrite =
  | {
      readonly kind: 'insert';
      readonly collection: string;
      readonly id: string;
      readonly place: Place;
      readonly body: string;
      readonly values: readonly SqlValue[];
    }
  | {
      readonly kind: 'replace';
      readonly collection: string;
      readonly id: string;
      readonly reach: Reach;
      readonly body: string;
      readonly values: readonly SqlValue[];
      readonly expectedVersion: number;
    }
  | {
      readonly kind: 'update';
      readonly collection: string;
      readonly id: string;
      readonly reach: Reach;
      readonly where: Filter<JsonObject>;
      /** JSON text: it is cheaper to send than the object. */
      readonly set: string;
      readonly increment?: Readonly<Record<string, number>>;
      readonly required: boolean;
    }
  | {
      readonly kind: 'remove';
      readonly collection: string;
      readonly id: string;
      readonly reach: Reach;
      readonly expectedVersion?: number;
    }
  | { readonly kind: 'removeWhere'; readonly collection: string; readonly where: SqlTerm };

/**
 * A bare number says how many documents changed where the sender knows the rest: an insert (version 1, its own place,
 * no sequence), or a write that shows no document. `body` is given only where the sender does not know it.
 */
export type EncodedResult = number | EncodedDocument;

export interface EncodedDocument {
  readonly version: number;
  readonly sequence: number | null;
  readonly tenant: string | null;
  readonly dataset: string | null;
  readonly body: string | null;
}

export type CommitOutcome = { readonly results: readonly EncodedResult[] } | { readonly error: EncodedError };

export type EncodedError =
  | { readonly kind: 'duplicate'; readonly collection: string; readonly index: readonly string[] }
  | { readonly kind: 'conflict'; readonly collection: string; readonly id: string }
  | { readonly kind: 'engram'; readonly name: ErrorName; readonly message: string; readonly retryable: boolean }
  /** A fault of the code. */
  | { readonly kind: 'fault'; readonly message: string };
