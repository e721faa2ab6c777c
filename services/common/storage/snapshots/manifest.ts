import { text as textOf } from 'node:stream/consumers';
import {
  MANIFEST_NAME,
  parseManifest,
  parseSignedManifest,
  type SignedManifest,
  type SnapshotManifest,
  snapshotFolder,
  unreadable,
} from '../../domain/snapshot.ts';
import type { TenantId } from '../../kernel/brand.ts';
import { sha256 } from '../../kernel/hashes.ts';
import { asId } from '../../kernel/ids.ts';
import type { Scope } from '../../kernel/scope.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { PartPlace } from './part-stream.ts';

/** Snapshots outlive tenants: no tenant's scope holds them. */
export const SNAPSHOT_SCOPE: Scope = { tenant: asId<TenantId>('snapshots') };

export function partPlace(blobs: BlobStore, tenant: string, name: string): PartPlace {
  return { blobs, scope: SNAPSHOT_SCOPE, folder: snapshotFolder(tenant, name) };
}

export function manifestHash(text: string): string {
  return sha256(text);
}

/** Asks auth whether it signed a manifest. */
export type CheckSignature = (signed: {
  readonly sha256: string;
  readonly keyId: string;
  readonly signature: string;
}) => Promise<boolean>;

export async function writeManifest({ blobs, scope, folder }: PartPlace, signed: SignedManifest): Promise<void> {
  await blobs.put(scope, `${folder}${MANIFEST_NAME}`, Buffer.from(JSON.stringify(signed)));
}

/** Null: there is no such snapshot. `ConflictError` with the reason when it cannot be trusted or read. */
export async function readManifest(
  { blobs, scope, folder }: PartPlace,
  check: CheckSignature,
): Promise<SnapshotManifest | null> {
  const stored = await blobs.get(scope, `${folder}${MANIFEST_NAME}`);
  if (stored === null) return null;
  const { manifest, keyId, signature } = parseSignedManifest(await textOf(stored));
  const isOurs = await check({ sha256: manifestHash(manifest), keyId, signature });
  if (!isOurs) throw unreadable('it was not signed by this installation, or was changed since');
  return parseManifest(manifest);
}
