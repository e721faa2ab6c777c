import type { EncodedError } from '../../documents/sqlite/write-protocol.ts';
import type { IndexKind } from '../../ports/index-entry.ts';
import type { OpeningLock } from './opening-lock.ts';

/** The methods of a worker: all take the path of the dataset's file and one argument. */
// biome-ignore lint/suspicious/noExplicitAny: a constraint that every method map fits
export type MethodMap = { readonly [method: string]: (path: string, argument: any) => unknown };

export interface WorkerRequest {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly argument: unknown;
}

/** The file at the path is another one than before, or none; sent before the answer that was read from it. */
export interface WorkerNews {
  readonly changed: string;
}

export type WorkerAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: EncodedError };

/** A notice to a worker; it acts at once, before waiting requests. */
export type WorkerNotice =
  | { readonly notice: 'cancel'; readonly id: number }
  /** The file was removed: close it. */
  | { readonly notice: 'forget'; readonly path: string }
  | {
      readonly notice: 'vectors-changed';
      readonly path: string;
      readonly removed: readonly { readonly kind: IndexKind; readonly row: number }[];
    }
  | { readonly notice: 'close' };

/** Requests made in one turn of the event loop are sent, carried out and answered together. */
export type WorkerMessage = readonly WorkerRequest[] | WorkerNotice;

/** Given to each worker at its start. */
export interface WorkerSettings {
  readonly openFiles: number;
  readonly autoMigrate: boolean;
  readonly vectorMemoryBytes: number;
  readonly quantiseAbove: number;
  /** The same for all workers. */
  readonly openingLock: OpeningLock;
}
