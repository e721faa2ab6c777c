import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

export type Json = Record<string, unknown>;

export interface StoredObject extends Json {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Json & {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly labels?: Record<string, string>;
  };
}

interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: StoredObject;
  readonly version: number;
}

export class StoreError extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** Store of an API server: versions, generations, finalizers, patches. `collection`: `/api/v1/secrets`. */
export interface FakeStore {
  get(collection: string, namespace: string | undefined, name: string): StoredObject | undefined;
  list(collection: string, namespace: string | undefined): StoredObject[];
  create(collection: string, object: Json): StoredObject;
  /** `change` returns the new object; versions, uid and deletion are kept. */
  update(
    collection: string,
    place: { readonly namespace: string | undefined; readonly name: string },
    change: (held: StoredObject) => Json,
    subresource?: string,
  ): StoredObject;
  apply(
    collection: string,
    object: Json,
    by: { readonly manager: string; readonly force: boolean },
  ): { readonly object: StoredObject; readonly created: boolean };
  delete(
    collection: string,
    place: { readonly namespace: string | undefined; readonly name: string },
    uid?: string,
  ): void;
  /** While true, events are lost. */
  silent: boolean;
  /** Expires all earlier versions. */
  compact(): void;
  version(): number;
  eventsSince(version: number): readonly StoreEvent[] | 'expired';
  onEvent(listener: (event: StoreEvent) => void): () => void;
}

export function createFakeStore(): FakeStore {
  const objects = new Map<string, StoredObject>();
  /** Last applied object of each manager. */
  const applied = new Map<string, Map<string, Json>>();
  let history: StoreEvent[] = [];
  let oldest = 0;
  let version = 1;
  const listeners = new Set<(event: StoreEvent) => void>();
  const place = (collection: string, namespace: string | undefined, name: string) =>
    `${collection} ${namespace ?? ''}/${name}`;

  function tell(type: StoreEvent['type'], collection: string, object: StoredObject): void {
    if (store.silent) return;
    const event = { type, collection, object, version };
    history.push(event);
    for (const listener of [...listeners]) listener(event);
  }

  function put(collection: string, object: Json, type: 'ADDED' | 'MODIFIED'): StoredObject {
    version += 1;
    const metadata = { ...(object['metadata'] as Json), resourceVersion: String(version) };
    const stored = { ...object, metadata } as StoredObject;
    const { namespace, name, finalizers = [], deletionTimestamp } = stored.metadata;
    const key = place(collection, namespace, name);
    if (deletionTimestamp !== undefined && finalizers.length === 0) {
      objects.delete(key);
      applied.delete(key);
      tell('DELETED', collection, stored);
    } else {
      objects.set(key, stored);
      tell(type, collection, stored);
    }
    return stored;
  }

  const store: FakeStore = {
    silent: false,
    get: (collection, namespace, name) => objects.get(place(collection, namespace, name)),
    list: (collection, namespace) =>
      [...objects]
        .filter(([key]) => key.startsWith(`${collection} ${namespace === undefined ? '' : `${namespace}/`}`))
        .map(([, object]) => object),
    create(collection, object) {
      const metadata = object['metadata'] as Json & { name: string; namespace?: string };
      if (objects.has(place(collection, metadata.namespace, metadata.name))) {
        throw new StoreError(409, 'AlreadyExists', `${metadata.name} already exists`);
      }
      const made = { uid: randomUUID(), generation: 1, creationTimestamp: '2026-08-01T00:00:00Z', ...metadata };
      return put(collection, { ...object, metadata: made }, 'ADDED');
    },
    update(collection, { namespace, name }, change, subresource) {
      const held = objects.get(place(collection, namespace, name));
      if (held === undefined) throw new StoreError(404, 'NotFound', `${name} not found`);
      const wanted = change(held) as StoredObject;
      const asked = wanted.metadata.resourceVersion;
      if (asked !== undefined && asked !== held.metadata.resourceVersion) {
        throw new StoreError(409, 'Conflict', 'the object has been modified');
      }
      // The status is written by its subresource only.
      const next =
        subresource === 'status'
          ? { ...held, status: wanted['status'] }
          : { ...wanted, ...(held['status'] === undefined ? {} : { status: held['status'] }) };
      const { uid, generation = 1, deletionTimestamp, resourceVersion } = held.metadata;
      const sameSpec = isDeepStrictEqual((next as Json)['spec'], held['spec']);
      const metadata = {
        ...(next.metadata as Json),
        uid,
        resourceVersion,
        generation: sameSpec ? generation : generation + 1,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      };
      const complete = { ...next, metadata };
      return isDeepStrictEqual(complete, held) ? held : put(collection, complete, 'MODIFIED');
    },
    apply(collection, object, { manager, force }) {
      const metadata = object['metadata'] as Json & { name: string; namespace?: string };
      const key = place(collection, metadata.namespace, metadata.name);
      const held = objects.get(key);
      const managers = applied.get(key) ?? new Map<string, Json>();
      if (!force) refuseConflicts(managers, manager, object);
      const before = managers.get(manager) ?? {};
      managers.set(manager, object);
      if (held === undefined) {
        const made = store.create(collection, object);
        applied.set(key, managers);
        return { object: made, created: true };
      }
      applied.set(key, managers);
      const change = () => mergeApplied(held, before, object) as Json;
      return { object: store.update(collection, metadata as never, change), created: false };
    },
    delete(collection, { namespace, name }, uid) {
      const held = objects.get(place(collection, namespace, name));
      if (held === undefined) throw new StoreError(404, 'NotFound', `${name} not found`);
      if (uid !== undefined && uid !== held.metadata.uid) throw new StoreError(409, 'Conflict', 'the uid differs');
      const deletionTimestamp = held.metadata.deletionTimestamp ?? '2026-08-01T00:00:01Z';
      put(collection, { ...held, metadata: { ...held.metadata, deletionTimestamp } }, 'MODIFIED');
    },
    compact() {
      history = [];
      oldest = version;
    },
    version: () => version,
    eventsSince: (since) => (since < oldest ? 'expired' : history.filter((event) => event.version > since)),
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return store;
}

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Json = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** Server-side apply with atomic lists: removes fields that the manager no longer sets. */
function mergeApplied(held: unknown, before: unknown, wanted: unknown): unknown {
  if (!isRecord(wanted) || !isRecord(held)) return wanted;
  const result: Json = { ...held };
  if (isRecord(before)) for (const key of Object.keys(before)) if (!(key in wanted)) delete result[key];
  for (const [key, value] of Object.entries(wanted)) {
    result[key] = mergeApplied(held[key], isRecord(before) ? before[key] : undefined, value);
  }
  return result;
}

function refuseConflicts(managers: Map<string, Json>, manager: string, wanted: Json): void {
  for (const [other, theirs] of managers) {
    if (other === manager) continue;
    const fields = conflictsOf(theirs['spec'] ?? theirs['data'], wanted['spec'] ?? wanted['data'], '');
    if (fields.length > 0) throw new StoreError(409, 'Conflict', `conflict with ${other}: ${fields.join(', ')}`);
  }
}

function conflictsOf(theirs: unknown, wanted: unknown, path: string): string[] {
  if (!isRecord(theirs) || !isRecord(wanted)) return isDeepStrictEqual(theirs, wanted) ? [] : [path];
  return Object.keys(wanted)
    .filter((key) => key in theirs)
    .flatMap((key) => conflictsOf(theirs[key], wanted[key], `${path}.${key}`));
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
