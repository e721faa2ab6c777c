import type { Readable } from 'node:stream';
import type { DatasetRef } from '../kernel/dataset.ts';

/**
 * Another memory service that datasets are kept in step with (auth-integrations.md §5.3). Its address and key are the
 * operator's configuration, never a caller's, so it may well be on a private network.
 *
 * Content is named by the MD5 of its bytes, lower-case hex. Every method throws `CloudConnnectionError` when the remote
 * cannot be reached, answers with another status than it should, stops sending, or sends an answer that cannot be read;
 * neither its address nor the key is in the message. Nothing is repeated here.
 */
export interface RemoteMemory {
  /** The `hashes` that the remote lacks, and others that it has: well-formed, each once. */
  diff(dataset: RemoteDataset, hashes: readonly string[], signal?: AbortSignal): Promise<RemoteDifference>;
  /** Null: it has no such file any more. The caller must read or destroy a body. */
  download(dataset: RemoteDataset, hash: string, signal?: AbortSignal): Promise<RemoteFile | null>;
  /** False: the remote refuses the file for good, as too large (413) or of no form that it reads (415, 422). */
  upload(dataset: RemoteDataset, file: OutgoingFile, signal?: AbortSignal): Promise<boolean>;
  /** Removes from the remote dataset whatever has none of the `hashes`. */
  prune(dataset: RemoteDataset, hashes: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Has it build what was uploaded, in the background. */
  cognify(datasets: readonly string[], signal?: AbortSignal): Promise<void>;
}

type RemoteDataset = Pick<DatasetRef, 'id' | 'name'>;

export interface RemoteDifference {
  readonly missingOnRemote: readonly string[];
  readonly missingOnLocal: readonly string[];
}

export interface RemoteFile {
  /** Name at the remote; null: unknown. Never use it as a path. */
  readonly fileName: string | null;
  readonly mimeType: string | null;
  /** Ends with `CloudConnnectionError` when the remote dies in the middle of it. */
  readonly body: Readable;
}

export interface OutgoingFile {
  /** Id of the data item. */
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly extension: string;
  readonly hash: string;
  /** Exactly as many bytes as `body` has. */
  readonly sizeBytes: number;
  readonly body: Readable;
}
