import { nullIf } from '../../services/common/platform/async/null-if.ts';
import {
  isKubeError,
  type KubeClient,
  KubeError,
  type ListOptions,
  type ObjectList,
  type WatchEvent,
  type WatchOptions,
} from './kube-client.ts';
import type { KubeObject, ObjectName, ResourceKind } from './kube-object.ts';
import type { KubeTransport } from './kube-transport.ts';

const PAGE_SIZE = 500;

export function createKubeClient(options: {
  readonly transport: KubeTransport;
  /** Field manager of the writes: the name of the operator. */
  readonly fieldManager: string;
}): KubeClient {
  const { transport, fieldManager } = options;
  const patchAs = async <T>(contentType: string, path: string, body: object, query: Query, signal?: AbortSignal) =>
    (await transport.call({ method: 'PATCH', path, query, body, contentType, signal })) as T;

  return {
    get: async <T extends KubeObject>(kind: ResourceKind, name: ObjectName, { signal }: Signal = {}) =>
      (await nullIf(isMissing, transport.call({ method: 'GET', path: pathOf(kind, name), signal }))) as T | null,
    list: (kind, listOptions = {}) => listAll(transport, kind, listOptions),
    watch: (kind, watchOptions) => watchEvents(transport, kind, watchOptions),
    create: async <T extends KubeObject>(kind: ResourceKind, object: T, { signal }: Signal = {}) =>
      (await transport.call({
        method: 'POST',
        path: collectionOf(kind, object.metadata.namespace),
        query: { fieldManager },
        body: object,
        signal,
      })) as T,
    replace: async <T extends KubeObject>(kind: ResourceKind, object: T, { signal }: Signal = {}) =>
      (await transport.call({
        method: 'PUT',
        path: pathOf(kind, object.metadata),
        query: { fieldManager },
        body: object,
        signal,
      })) as T,
    apply: (kind, object, { force = false, signal } = {}) =>
      patchAs(
        'application/apply-patch+yaml', // JSON is YAML
        pathOf(kind, object.metadata),
        object,
        { fieldManager, force: String(force) },
        signal,
      ),
    patch: (kind, name, patch, { signal } = {}) =>
      patchAs('application/merge-patch+json', pathOf(kind, name), patch, { fieldManager }, signal),
    patchStatus: (kind, name, status, { signal } = {}) =>
      patchAs(
        'application/merge-patch+json',
        `${pathOf(kind, name)}/status`,
        { status },
        { fieldManager: `${fieldManager}-status` },
        signal,
      ),
    async delete(kind, name, { uid, propagation, signal } = {}) {
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
      };
      const deleting = transport.call({ method: 'DELETE', path: pathOf(kind, name), body, signal });
      return (await nullIf(isMissing, deleting)) !== null;
    },
  };
}

const isMissing = (error: unknown) => isKubeError(error, 404);

type Query = Readonly<Record<string, string | undefined>>;
interface Signal {
  readonly signal?: AbortSignal;
}

function collectionOf({ apiVersion, plural, namespaced }: ResourceKind, namespace: string | undefined): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}`;
}

function pathOf(kind: ResourceKind, { namespace, name }: ObjectName): string {
  if (kind.namespaced && namespace === undefined) throw new TypeError(`${kind.kind} ${name} has no namespace.`);
  return `${collectionOf(kind, namespace)}/${encodeURIComponent(name)}`;
}

interface RawList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubeObject[] | null;
}

async function listAll<T extends KubeObject>(
  transport: KubeTransport,
  kind: ResourceKind,
  { namespace, labelSelector, fieldSelector, signal }: ListOptions,
): Promise<ObjectList<T>> {
  const path = collectionOf(kind, namespace);
  const page = async (token: string | undefined, limit: number | undefined) =>
    (await transport.call({
      method: 'GET',
      path,
      query: { labelSelector, fieldSelector, limit: limit?.toString(), continue: token },
      signal,
    })) as RawList;
  const items: T[] = [];
  // Items of a list have no apiVersion and kind.
  const take = (list: RawList) => {
    for (const item of list.items ?? []) items.push({ ...item, apiVersion: kind.apiVersion, kind: kind.kind } as T);
  };
  let list = await page(undefined, PAGE_SIZE);
  take(list);
  while (list.metadata.continue) {
    try {
      list = await page(list.metadata.continue, PAGE_SIZE);
      take(list);
    } catch (error) {
      if (!isKubeError(error, 410)) throw error;
      // The state that the pages belong to has expired: list again without pages.
      items.length = 0;
      list = await page(undefined, undefined);
      take(list);
    }
  }
  return { items, resourceVersion: list.metadata.resourceVersion };
}

async function* watchEvents<T extends KubeObject>(transport: KubeTransport, kind: ResourceKind, options: WatchOptions) {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = options;
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  };
  try {
    for await (const line of transport.stream({ method: 'GET', path: collectionOf(kind, namespace), query, signal })) {
      yield parsedEvent<T>(line);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function parsedEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  let event: { readonly type: string; readonly object: unknown };
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new KubeError({ code: 0, reason: 'BrokenWatch', message: 'A line of the watch is not JSON', cause });
  }
  if (event.type === 'ERROR') {
    const status = event.object as { code?: number; reason?: string; message?: string };
    throw new KubeError({
      code: status.code ?? 500,
      reason: status.reason ?? 'InternalError',
      message: status.message ?? 'The watch ended with an error',
    });
  }
  return event as WatchEvent<T>;
}
