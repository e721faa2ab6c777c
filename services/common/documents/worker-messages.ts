import type { ParsedDocument } from '../ports/documents.ts';
import type { DocumentLimits } from './limits.ts';

export interface WorkerSettings {
  readonly limits: DocumentLimits;
  /** Directory of Node's compile cache, when the process uses one. */
  readonly compileCacheDirectory: string | null;
}

/** Errors cross the thread as plain data and become errors again on the other side. */
export type WorkerReply =
  | { readonly document: ParsedDocument }
  | { readonly error: { readonly wireName: string; readonly status: number; readonly message: string } };
