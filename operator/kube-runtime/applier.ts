import type { KubeClient } from './kube-client.ts';
import { type KubeObject, keyOf, type ResourceKind } from './kube-object.ts';

export interface Desired {
  readonly kind: ResourceKind;
  /** Made from the spec of the owner alone. The applier adds the labels of ownership and the owner reference. */
  readonly object: KubeObject;
}

interface ApplyResult {
  /** `Kind namespace/name`, sorted. */
  readonly created: readonly string[];
  /** Objects that another writer changed: they differed although the owner's generation did not change. */
  readonly corrected: readonly string[];
  readonly updated: readonly string[];
  readonly pruned: readonly string[];
}

/** An object of the wanted name exists and has another owner. */
export class ForeignObjectError extends Error {
  /** `Kind namespace/name` */
  readonly object: string;
  constructor(object: string) {
    super(`${object} exists and is not managed by this operator for this owner.`);
    this.name = 'ForeignObjectError';
    this.object = object;
  }
}

/** Applies the objects that an owner wants by server-side apply, and deletes those that it wanted before. */
export interface Applier {
  /**
   * Applies in the order given (a Secret before what mounts it), then deletes objects of `prune` kinds that carry this
   * owner's uid and were not applied. Throws `ForeignObjectError` for a namesake that is not this owner's.
   */
  apply(
    owner: KubeObject,
    desired: readonly Desired[],
    options: {
      readonly prune: readonly ResourceKind[];
      /** Namespaces to prune in. Default: that of the owner. */
      readonly namespaces?: readonly string[];
      readonly signal?: AbortSignal;
    },
  ): Promise<ApplyResult>;
}

/** Names of labels. */
export interface OwnershipLabels {
  /** `app.kubernetes.io/managed-by` */
  readonly managedBy: string;
  /** `<group>/owner-uid`: children are found by it. */
  readonly ownerUid: string;
  /** `<group>/owner`: an annotation with `Kind/namespace/name`, which may be too long for a label. */
  readonly ownerAnnotation: string;
  /** `<group>/owner-generation` */
  readonly ownerGeneration: string;
}

/** The names under one API group. */
export function ownershipLabels(group: string): OwnershipLabels {
  return {
    managedBy: 'app.kubernetes.io/managed-by',
    ownerUid: `${group}/owner-uid`,
    ownerAnnotation: `${group}/owner`,
    ownerGeneration: `${group}/owner-generation`,
  };
}

interface ApplierOptions {
  readonly client: KubeClient;
  readonly labels: OwnershipLabels;
  /** Value of the managed-by label. */
  readonly manager: string;
}

export function createApplier({ client, labels, manager }: ApplierOptions): Applier {
  return {
    async apply(owner, desired, { prune, namespaces, signal }) {
      const call = signal === undefined ? {} : { signal };
      const uid = uidOf(owner);
      const result: Lists = { created: [], corrected: [], updated: [], pruned: [] };
      for (const { kind, object } of desired) {
        const held = await client.get<KubeObject>(kind, object.metadata, call);
        if (held !== null && !isOwned(held, labels, manager, uid)) throw new ForeignObjectError(printed(kind, object));
        const wanted = owned(owner, object, labels, manager);
        const after = await client.apply(kind, wanted, { ...call, force: true });
        note(result, printed(kind, object), { held, after, wanted, labels });
      }
      const kept = new Set(desired.map(({ kind, object }) => printed(kind, object)));
      for (const kind of prune) {
        for (const object of await ownedObjects(kind, uid, namespaces ?? [owner.metadata.namespace], call)) {
          const name = printed(kind, object);
          if (kept.has(name) || object.metadata.deletionTimestamp !== undefined) continue;
          await client.delete(kind, object.metadata, { ...call, uid: uidOf(object), propagation: 'Background' });
          result.pruned.push(name);
        }
      }
      return sorted(result);
    },
  };

  async function ownedObjects(
    kind: ResourceKind,
    uid: string,
    namespaces: readonly (string | undefined)[],
    call: { readonly signal?: AbortSignal },
  ): Promise<KubeObject[]> {
    const labelSelector = `${labels.managedBy}=${manager},${labels.ownerUid}=${uid}`;
    const lists = await Promise.all(
      namespaces.map((namespace) =>
        client.list<KubeObject>(kind, {
          ...call,
          labelSelector,
          ...(namespace === undefined || !kind.namespaced ? {} : { namespace }),
        }),
      ),
    );
    return lists.flatMap(({ items }) => items);
  }
}

type Lists = Record<keyof ApplyResult, string[]>;

function uidOf({ kind, metadata }: KubeObject): string {
  if (metadata.uid === undefined) throw new TypeError(`${kind} ${metadata.name} has no uid: it was not read.`);
  return metadata.uid;
}

function isOwned({ metadata }: KubeObject, labels: OwnershipLabels, manager: string, uid: string): boolean {
  return metadata.labels?.[labels.managedBy] === manager && metadata.labels[labels.ownerUid] === uid;
}

/** Adds the labels of ownership, and the owner reference by which the cluster garbage-collects the object. */
function owned(owner: KubeObject, object: KubeObject, labels: OwnershipLabels, manager: string): KubeObject {
  const { name, namespace, uid = '', generation } = owner.metadata;
  const sameNamespace = namespace === object.metadata.namespace;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: {
        ...object.metadata.labels,
        [labels.managedBy]: manager,
        [labels.ownerUid]: uid,
        [labels.ownerGeneration]: String(generation ?? 0),
      },
      annotations: {
        ...object.metadata.annotations,
        [labels.ownerAnnotation]: `${owner.kind}/${keyOf({ name, ...(namespace === undefined ? {} : { namespace }) })}`,
      },
      // An owner in another namespace is unknown to the garbage collector, which would delete the object at once.
      ...(sameNamespace
        ? {
            ownerReferences: [
              {
                apiVersion: owner.apiVersion,
                kind: owner.kind,
                name,
                uid,
                controller: true,
                blockOwnerDeletion: false,
              },
            ],
          }
        : {}),
    },
  };
}

function note(
  result: Lists,
  name: string,
  change: { held: KubeObject | null; after: KubeObject; wanted: KubeObject; labels: OwnershipLabels },
): void {
  const { held, after, wanted, labels } = change;
  if (held === null) result.created.push(name);
  else if (held.metadata.resourceVersion === after.metadata.resourceVersion) return;
  else {
    const generation = labels.ownerGeneration;
    const sameGeneration = held.metadata.labels?.[generation] === wanted.metadata.labels?.[generation];
    result[sameGeneration ? 'corrected' : 'updated'].push(name);
  }
}

function printed({ kind }: ResourceKind, { metadata }: KubeObject): string {
  return `${kind} ${keyOf(metadata)}`;
}

function sorted(result: Lists): ApplyResult {
  return {
    created: result.created.sort(),
    corrected: result.corrected.sort(),
    updated: result.updated.sort(),
    pruned: result.pruned.sort(),
  };
}
