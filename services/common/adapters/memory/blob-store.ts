import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Scope } from '../../domain/scope.ts';
import type { BlobStore } from '../../ports/blob-store.ts';
import { requireBlobKey } from '../blob-rules/blob-key.ts';
import { compareCodePoints } from '../document-rules/ordering.ts';

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
      const bytes = await readAll(content, signal);
      placeOf(scope).set(key, bytes);
      const hash = (name: string) => createHash(name).update(bytes).digest('hex');
      return { key, sizeBytes: bytes.byteLength, md5: hash('md5'), sha256: hash('sha256') };
    },
    async get(scope, key, range = { start: 0 }) {
      const bytes = placeOf(scope).get(key);
      return bytes === undefined ? null : Readable.from([Buffer.from(bytes.subarray(range.start, range.end))]);
    },
    async stat(scope, key) {
      const bytes = placeOf(scope).get(key);
      return bytes === undefined ? null : { sizeBytes: bytes.byteLength };
    },
    async move(scope, from, to) {
      requireBlobKey(to);
      const place = placeOf(scope);
      const bytes = place.get(from);
      if (bytes === undefined) return false;
      place.delete(from);
      place.set(to, bytes);
      return true;
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
    async list(scope, { prefix = '', after, limit }) {
      const keys = [...placeOf(scope).keys()]
        .filter((key) => key.startsWith(prefix) && (after == null || compareCodePoints(key, after) > 0))
        .sort(compareCodePoints);
      const items = keys.slice(0, limit).map((key) => ({ key, sizeBytes: placeOf(scope).get(key)?.byteLength ?? 0 }));
      return { items, next: keys.length > limit ? (items.at(-1)?.key ?? null) : null };
    },
  };
}

function placeName(scope: Scope): string {
  return JSON.stringify([scope.tenant, scope.dataset ?? null]);
}

function isOfTenant(name: string, scope: Scope): boolean {
  return (JSON.parse(name) as readonly unknown[])[0] === scope.tenant;
}

async function readAll(content: Readable | Uint8Array, signal: AbortSignal | undefined): Promise<Uint8Array> {
  signal?.throwIfAborted();
  if (content instanceof Uint8Array) return Uint8Array.from(content);
  const chunks: Uint8Array[] = [];
  const abort = () => content.destroy(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const chunk of content) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  return Buffer.concat(chunks);
}
