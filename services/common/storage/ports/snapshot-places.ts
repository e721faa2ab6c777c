import type { BlobStore } from './blob-store.ts';

/** A bucket of a client with its credentials: passed with each call, stored nowhere. */
interface SnapshotBucket {
  /** Null: AWS. */
  readonly endpoint: string | null;
  readonly bucket: string;
  /** Start of the names of all objects. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Null: the blob store of the installation. */
export type SnapshotPlace = SnapshotBucket | null;

interface OpenSnapshotPlace {
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

export interface SnapshotPlaces {
  /** `ServiceUnavailableError` when the bucket is not there, cannot be reached, or the credentials are refused. */
  open(place: SnapshotPlace): Promise<OpenSnapshotPlace>;
}

/** Shown to people: no credential in it. */
export function placeText(place: SnapshotBucket | null): string {
  return place === null ? 'the installation' : `s3://${place.bucket}/${place.prefix}`;
}
