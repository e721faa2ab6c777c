import type { Readable } from 'node:stream';
import type { Scope } from '../../kernel/scope.ts';

/**
 * Bytes under keys, inside a scope. Adapters: files, memory, GridFS, S3.
 *
 * Keys are `/`-joined segments of any Unicode text without control characters, up to 400 bytes of UTF-8 in segments of up
 * to 200; adapters encode what their medium cannot hold (a segment `../..` or an absolute path never leaves the scope's place). A `put` is atomic: readers see the old bytes,
 * the new ones, or nothing; a broken or aborted stream leaves nothing. When it resolves the bytes survive `kill -9`.
 */
export interface BlobStore {
  /** Streams to the store while hashing; never holds the whole content in memory. */
  put(scope: Scope, key: string, content: Readable | Uint8Array, signal?: AbortSignal): Promise<BlobInfo>;
  /** Unknown key → null. */
  get(scope: Scope, key: string): Promise<Readable | null>;
  stat(scope: Scope, key: string): Promise<{ readonly sizeBytes: number } | null>;
  /** Removing what is not there is no error. Returns how many were removed. */
  remove(scope: Scope, keys: readonly string[]): Promise<number>;
  /** Removes everything of the scope, or below `prefix`. Returns how many blobs were removed. */
  removeAll(scope: Scope, prefix?: string): Promise<number>;
  /** The first blobs by code point of their keys. */
  list(scope: Scope, query: { readonly prefix?: string; readonly limit: number }): Promise<readonly FoundBlob[]>;
}

export interface FoundBlob {
  readonly key: string;
  readonly sizeBytes: number;
}

export interface BlobInfo extends FoundBlob {
  /** Lower-case hex. MD5 is the wire's content hash, SHA-256 is ours. */
  readonly md5: string;
  readonly sha256: string;
}
