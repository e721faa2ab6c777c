import { engramError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { parseJson } from '../kernel/json.ts';
import { isRecord } from '../kernel/objects.ts';

/** Format of a snapshot; a reader refuses unknown formats. */
export const SNAPSHOT_FORMAT = 'engram snapshot';
/** 2: with triplets, and the weights that ratings gave. */
export const SNAPSHOT_VERSION = 2;
const READ_VERSIONS: readonly unknown[] = [1, 2];

/** `documents`: records of the dataset; `rows`: what was built of some items; `blobs`: the content of some items. */
export const SNAPSHOT_PART_KINDS = ['documents', 'rows', 'blobs'] as const;
export type SnapshotPartKind = (typeof SNAPSHOT_PART_KINDS)[number];

export interface SnapshotPart {
  readonly kind: SnapshotPartKind;
  /** Beside the manifest. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Lower-case hex, of the bytes as they lie there. */
  readonly sha256: string;
}

/** Number of rows by store. */
export type RowCounts = Record<'text' | 'vectors' | 'nodes' | 'edges' | 'blobs', number>;

/** Rows by store, and records by collection. */
type SnapshotCounts = Readonly<RowCounts> & { readonly items: number; readonly documents: JsonObject };

/** A dataset as it was at one moment. Written last: without it there is no snapshot. */
export interface SnapshotManifest {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly version: number;
  readonly name: string;
  readonly tenant: string;
  readonly dataset: {
    readonly id: string;
    readonly name: string;
    readonly ownerId: string;
    readonly createdAt: string;
  };
  /** The moment: ISO-8601, and the number of the last event before it, null without one. */
  readonly watermark: { readonly at: string; readonly event: number | null };
  /** Embedding space of the vectors; null without any. */
  readonly space: { readonly model: string; readonly dimensions: number } | null;
  readonly counts: SnapshotCounts;
  readonly parts: readonly SnapshotPart[];
}

export interface SignedManifest {
  /** JSON text of a `SnapshotManifest`, as it was signed. */
  readonly manifest: string;
  readonly keyId: string;
  /** Ed25519 over `manifestSignedText`, base64url. */
  readonly signature: string;
}

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,118}[a-z0-9])?$/;

export function isSnapshotName(text: string): boolean {
  return NAME.test(text);
}

/** `sha256`: of the manifest's text in UTF-8, lower-case hex. */
export function manifestSignedText(sha256: string): string {
  return JSON.stringify(['engram snapshot manifest', sha256]);
}

/** Prefix of the objects of a snapshot in its place. */
export function snapshotFolder(tenant: string, name: string): string {
  return `${tenant}/${name}/`;
}

export const MANIFEST_NAME = 'manifest.json';

/** `ConflictError` with the reason for what cannot be read here. */
export function parseSignedManifest(text: string): SignedManifest {
  const parsed = parseDescription(text);
  const { manifest, keyId, signature } = isRecord(parsed) ? parsed : {};
  if (typeof manifest !== 'string' || typeof keyId !== 'string' || typeof signature !== 'string')
    throw unreadable('its manifest is damaged');
  return { manifest, keyId, signature };
}

export function parseManifest(text: string): SnapshotManifest {
  const parsed = parseDescription(text);
  if (!isRecord(parsed) || parsed['format'] !== SNAPSHOT_FORMAT) throw unreadable('it is no snapshot of Engram');
  const { version } = parsed;
  if (!READ_VERSIONS.includes(version)) {
    throw unreadable(
      `it has format ${String(version)} and this server reads ${SNAPSHOT_VERSION}; restore it by the release that wrote it`,
    );
  }
  // The signer wrote all of it.
  return parsed as unknown as SnapshotManifest;
}

export function unreadable(reason: string) {
  return engramError('ConflictError', `The snapshot cannot be restored: ${reason}.`);
}

function parseDescription(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw unreadable('its manifest is damaged');
  return value;
}
