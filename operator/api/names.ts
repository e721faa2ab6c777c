import { sha256 } from '../../services/common/kernel/hashes.ts';
import type { KubeObject } from '../kube-runtime/kube-object.ts';
import type { FrameAnnotations } from '../kube-runtime/reconcile-frame.ts';

export const GROUP = 'engram.dev';

export const FINALIZER = `${GROUP}/tenant`;

export const FRAME_ANNOTATIONS: FrameAnnotations = {
  reconcileAt: `${GROUP}/reconcile-at`,
  abandon: `${GROUP}/abandon`,
};

/** Annotation of a Tenant: any new value rotates its API keys now. */
export const ROTATE_AT = `${GROUP}/rotate-at`;

/** Annotation of a Dedicated Tenant: any new value rotates its logins at the stores now. */
export const ROTATE_STORES_AT = `${GROUP}/rotate-stores-at`;

/** Annotation of a Tenant: any new value wakes it when it is hibernated because it was unused. */
export const WAKE_AT = `${GROUP}/wake-at`;

/** Label of a Secret: its entry of `spec.apiKeys`. */
export const API_KEY_LABEL = `${GROUP}/api-key`;

/** Annotations of a Secret about the key in it. Hashes, never values. */
export const KEY_ANNOTATIONS = {
  sha256: `${GROUP}/api-key-sha256`,
  previousSha256: `${GROUP}/previous-api-key-sha256`,
  issuedAt: `${GROUP}/issued-at`,
  previousValidUntil: `${GROUP}/previous-valid-until`,
  rotatedAt: `${GROUP}/rotated-at`,
} as const;

/** Label of pods and Services: uid of their Tenant. */
export const TENANT_LABEL = `${GROUP}/tenant-uid`;

/** Label of the Secret with the keys of a Dedicated tenant: name of its realm. */
export const REALM_LABEL = `${GROUP}/realm`;

const NAME_LIMIT = 63;

/** Joins parts to a name of at most 63 characters; a longer name ends in a hash of the whole, so it stays unique. */
export function boundedName(...parts: readonly string[]): string {
  const name = parts.join('-');
  if (name.length <= NAME_LIMIT && !parts.some((part) => part.includes('.'))) return name;
  const hash = sha256(name).slice(0, 8);
  const start = name.replaceAll('.', '-').slice(0, NAME_LIMIT - hash.length - 1);
  return `${start.replace(/-+$/, '')}-${hash}`;
}

/** Whether a Secret belongs to the installation of a Dedicated tenant: its keys, or the settings of its stores. */
export function isOfInstallation({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels[REALM_LABEL] !== undefined || labels[TENANT_LABEL] !== undefined;
}
