import { Readable } from 'node:stream';
import { createContentDigest } from '../../../services/common/kernel/hashes.ts';
import type { Scope } from '../../../services/common/kernel/scope.ts';
import { requireBlobKey } from '../../../services/common/storage/blobs/rules/blob-key.ts';
import { contentChunks } from '../../../services/common/storage/blobs/rules/incoming-content.ts';
import { compareCodePoints } from '../../../services/common/storage/documents/rules/ordering.ts';
import type { BlobStore } from '../../../services/common/storage/ports/blob-store.ts';

/** Blobs in the memory of the process, gone with it. */
export function createMemoryBlobStore(): BlobStore {
  const places = new Map<string, Map<string, Uint8Array>>();
  const placeOf = (scope: Scope): Map<string, Uint8Array> => {
    const name = placeName(scope);
    const place = places.get(name) ?? new Map<string, Uint8Array>();
    places.set(name, place);
    return place;
  };
  return {
    async put(scope, key, content, signal) {
      requireBlobKey(key);
      const digest = createContentDigest();
      const chunks: Uint8Array[] = [];
      for await (const chunk of contentChunks(content, signal)) {
        digest.add(chunk);
        chunks.push(chunk);
      }
      placeOf(scope).set(key, Buffer.concat(chunks));
      return { key, ...digest.result() };
    },
    async get(scope, key) {
      const bytes = placeOf(scope).get(key);
      return bytes === undefined ? null : Readable.from([Buffer.from(bytes)]);
    },
    async stat(scope, key) {
      const bytes = placeOf(scope).get(key);
      return bytes === undefined ? null : { sizeBytes: bytes.byteLength };
    },
    async remove(scope, keys) {
      const place = placeOf(scope);
      return keys.filter((key) => place.delete(key)).length;
    },
    async removeAll(scope, prefix = '') {
      const wide = scope.dataset === undefined && prefix === '';
      const names = wide ? [...places.keys()].filter((name) => isOfTenant(name, scope)) : [placeName(scope)];
      let removed = 0;
      for (const name of names) {
        const place = places.get(name);
        for (const key of [...(place?.keys() ?? [])]) {
          if (key.startsWith(prefix) && place?.delete(key)) removed += 1;
        }
      }
      return removed;
    },
    async list(scope, { prefix = '', limit }) {
      const keys = [...placeOf(scope).keys()].filter((key) => key.startsWith(prefix)).sort(compareCodePoints);
      return keys.slice(0, limit).map((key) => ({ key, sizeBytes: placeOf(scope).get(key)?.byteLength ?? 0 }));
    },
  };
}

function placeName(scope: Scope): string {
  return JSON.stringify([scope.tenant, scope.dataset ?? null]);
}

function isOfTenant(name: string, scope: Scope): boolean {
  return (JSON.parse(name) as readonly unknown[])[0] === scope.tenant;
}
