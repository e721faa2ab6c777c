import { randomBytes } from 'node:crypto';
import { KEY_ANNOTATIONS } from '../api/names.ts';
import { toSeconds } from '../kube-runtime/conditions.ts';
import { type Secret, secretText } from '../kube-runtime/kube-object.ts';
import type { CredentialSlot } from '../stores/realm.ts';
import { type RealmCredentials, STORE_DRIVERS, type StoreDriver } from '../stores/store-administrator.ts';

/** Key of the Secret: which of two alternating users is in use. Absent: `a`. */
const SLOT = 'store-slot';

/** State of a Dedicated tenant's logins at its stores, which are all rotated together. */
export interface StoreLogins {
  readonly issuedAt: Date;
  /** Value of the rotate-stores-at annotation that was handled last; empty for none. */
  readonly rotatedAt: string;
  /** The former logins are still valid, until no pod has them any more. */
  readonly isRotating: boolean;
}

/** Change of the Secret; null removes a value. */
export interface LoginsPatch {
  readonly data: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function newPassword(): string {
  return randomBytes(36).toString('base64url');
}

export function passwordKey(driver: StoreDriver): string {
  return `${driver}-password`;
}

function formerKey(driver: StoreDriver): string {
  return `${driver}-previous-password`;
}

export function storeLoginsOf({ metadata, data }: Secret): StoreLogins {
  const { annotations = {}, creationTimestamp = '' } = metadata;
  return {
    issuedAt: new Date(annotations[KEY_ANNOTATIONS.issuedAt] ?? creationTimestamp),
    rotatedAt: annotations[KEY_ANNOTATIONS.rotatedAt] ?? '',
    isRotating: STORE_DRIVERS.some((driver) => data?.[formerKey(driver)] !== undefined),
  };
}

export function credentialsIn(secret: Secret, driver: StoreDriver): RealmCredentials {
  const slot = slotOf(secret);
  const former = secretText(secret, formerKey(driver));
  return {
    current: { slot, password: secretText(secret, passwordKey(driver)) ?? '' },
    previous: former === undefined ? null : { slot: otherThan(slot), password: former },
  };
}

/** Makes new logins in the other slot; the present ones stay valid beside them. */
export function rotationOf(secret: Secret, rotateAt: string, now: Date): LoginsPatch {
  const held = STORE_DRIVERS.flatMap((driver) => {
    const present = secret.data?.[passwordKey(driver)];
    return [
      [passwordKey(driver), encoded(newPassword())] as const,
      ...(present === undefined ? [] : [[formerKey(driver), present] as const]),
    ];
  });
  return {
    data: { ...Object.fromEntries(held), [SLOT]: encoded(otherThan(slotOf(secret))) },
    annotations: { [KEY_ANNOTATIONS.issuedAt]: toSeconds(now), [KEY_ANNOTATIONS.rotatedAt]: rotateAt },
  };
}

export const END_OF_ROTATION: LoginsPatch = {
  data: Object.fromEntries(STORE_DRIVERS.map((driver) => [formerKey(driver), null])),
  annotations: {},
};

function slotOf(secret: Secret): CredentialSlot {
  return secretText(secret, SLOT) === 'b' ? 'b' : 'a';
}

function otherThan(slot: CredentialSlot): CredentialSlot {
  return slot === 'a' ? 'b' : 'a';
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
