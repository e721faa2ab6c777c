import type { KubeObject, ResourceKind } from './kube-object.ts';

export interface Desired {
  readonly kind: ResourceKind;
  /** Built from the owner's spec only. Labels of ownership and the owner reference are added. */
  readonly object: KubeObject;
}

export interface ApplyResult {
  /** `Kind namespace/name`, sorted. */
  readonly created: readonly string[];
  /** Differed from what was wanted although the owner's generation did not change: somebody changed them. */
  readonly corrected: readonly string[];
  readonly updated: readonly string[];
  readonly pruned: readonly string[];
}

/** An object of the wanted name is there, and is not ours. */
export class ForeignObjectError extends Error {
  /** `Kind namespace/name` */
  readonly object: string;
  constructor(object: string) {
    super(`${object} exists and is not managed by this operator for this owner.`);
    this.name = 'ForeignObjectError';
    this.object = object;
  }
}

/** Server-side apply of all that an owner wants, and removal of what it wanted before. */
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
      /** Where to look for what is to be pruned; default: the owner's namespace. */
      readonly namespaces?: readonly string[];
      readonly signal?: AbortSignal;
    },
  ): Promise<ApplyResult>;
}

/** Names of labels. */
export interface OwnershipLabels {
  /** `app.kubernetes.io/managed-by` */
  readonly managedBy: string;
  /** `<group>/owner-uid`: index children by it. */
  readonly ownerUid: string;
  /** `<group>/owner`: `kind.namespace.name` would be too long for a label: an annotation, `Kind/namespace/name`. */
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
