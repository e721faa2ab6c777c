import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import {
  MANIFEST_NAME,
  parseManifest,
  parseSignedManifest,
  type SnapshotManifest,
  unreadable,
} from '../../common/domain/snapshot.ts';
import { type CheckSignature, manifestHash, readManifest } from '../../common/storage/snapshots/manifest.ts';
import type { PartPlace } from '../../common/storage/snapshots/part-stream.ts';
import { blobHead } from './item-parts.ts';
import { splitBlobs } from './split-blobs.ts';

/** A snapshot as one file: its manifest and then its parts, each behind its head, as blobs stand in a part. */
export interface SnapshotFile {
  readonly sizeBytes: number;
  readonly manifest: SnapshotManifest;
  content(): Readable;
}

/** Maximum size of a manifest, which has some hundred bytes a part. */
const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;

/**
 * Opens a snapshot as a file. Null: there is none. `ConflictError` with the reason when it cannot be trusted or read.
 */
export async function snapshotFile(place: PartPlace, check: CheckSignature): Promise<SnapshotFile | null> {
  const manifest = await readManifest(place, check);
  if (manifest === null) return null;
  const named = [{ name: MANIFEST_NAME, sizeBytes: await sizeOf(place, MANIFEST_NAME) }, ...manifest.parts];
  const objects = named.map(({ name, sizeBytes }) => ({
    name,
    head: blobHead({ key: name, size: sizeBytes }),
    sizeBytes,
  }));
  return {
    manifest,
    sizeBytes: objects.reduce((sum, { head, sizeBytes }) => sum + head.length + sizeBytes, 0),
    content: () => Readable.from(contentOf(place, objects), { objectMode: false }),
  };
}

async function* contentOf(
  { blobs, scope, folder }: PartPlace,
  objects: readonly { readonly name: string; readonly head: Buffer; readonly sizeBytes: number }[],
): AsyncGenerator<Buffer> {
  for (const { name, head, sizeBytes } of objects) {
    // A reader that stops at a yield must leave nothing open.
    yield head;
    const stored = await blobs.get(scope, `${folder}${name}`);
    if (stored === null) throw unreadable(`its part ${name} is missing`);
    let size = 0;
    try {
      for await (const bytes of stored) {
        size += (bytes as Buffer).length;
        yield bytes as Buffer;
      }
    } finally {
      stored.destroy();
    }
    if (size !== sizeBytes) throw unreadable(`its part ${name} was changed or damaged`);
  }
}

async function sizeOf({ blobs, scope, folder }: PartPlace, name: string): Promise<number> {
  const stat = await blobs.stat(scope, `${folder}${name}`);
  if (stat === null) throw unreadable(`its part ${name} is missing`);
  return stat.sizeBytes;
}

/**
 * Returns the manifest of a file before anything of it is stored. `ConflictError` with the reason when this
 * installation has not signed it.
 */
export async function manifestOfFile(content: Readable, check: CheckSignature): Promise<SnapshotManifest> {
  try {
    for await (const blob of splitBlobs(content)) return (await signedManifest(blob, check)).manifest;
  } finally {
    content.destroy();
  }
  throw noSnapshot();
}

/** Stores the file as a snapshot in its place, the manifest last. Everything is streamed. */
export async function keepSnapshotFile(
  content: Readable,
  place: PartPlace,
  { check, signal }: { readonly check: CheckSignature; readonly signal: AbortSignal },
): Promise<SnapshotManifest> {
  const { blobs, scope, folder } = place;
  let first: { readonly text: string; readonly manifest: SnapshotManifest } | null = null;
  let kept = 0;
  for await (const blob of splitBlobs(content)) {
    if (first === null) {
      first = await signedManifest(blob, check);
      continue;
    }
    const part = first.manifest.parts[kept];
    if (part?.name !== blob.key) throw unreadable('its parts are not those that its manifest names');
    const { sizeBytes, sha256 } = await blobs.put(scope, `${folder}${part.name}`, blob.content, signal);
    if (sizeBytes !== part.sizeBytes || sha256 !== part.sha256)
      throw unreadable(`the hash of its part ${part.name} differs, it was changed or damaged`);
    kept += 1;
  }
  if (first === null) throw noSnapshot();
  if (kept < first.manifest.parts.length) throw unreadable('a part of it is cut off');
  await blobs.put(scope, `${folder}${MANIFEST_NAME}`, Buffer.from(first.text), signal);
  return first.manifest;
}

async function signedManifest(
  { key, size, content }: { readonly key: string; readonly size: number; readonly content: Readable },
  check: CheckSignature,
) {
  if (key !== MANIFEST_NAME || size > MAX_MANIFEST_BYTES) throw noSnapshot();
  const text = await textOf(content);
  const { manifest, keyId, signature } = parseSignedManifest(text);
  if (!(await check({ sha256: manifestHash(manifest), keyId, signature })))
    throw unreadable('it was not signed by this installation, or was changed since');
  return { text, manifest: parseManifest(manifest) };
}

function noSnapshot() {
  return unreadable('it is no snapshot of Engram');
}
