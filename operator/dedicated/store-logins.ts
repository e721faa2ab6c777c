import { randomBytes } from 'node:crypto';
import { KEY_ANNOTATIONS } from '../api/names.ts';
import { toSeconds } from '../kube-runtime/conditions.ts';
import { type Secret, secretText } from '../kube-runtime/kube-object.ts';
import type { CredentialSlot } from '../stores/realm.ts';
import { type RealmCredentials, STORE_DRIVERS, type StoreDriver } from '../stores/store-administrator.ts';

/** Key of the Secret: which of two users by turns is the one in use. Absent: `a`. */
const SLOT = 'store-slot';

/** What the Secret of a Dedicated tenant's keys says of its logins at the stores, which all change together. */
export interface StoreLogins {
  readonly issuedAt: Date;
  /** The value of the rotate-stores-at annotation that was acted on last; empty for none. */
  readonly rotatedAt: string;
  /** The former logins are valid as well, until no pod has them any more. */
  readonly isRotating: boolean;
}

/** What to write into the Secret; null values remove. */
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

/** New logins of the other slot, beside which the present ones stay valid. */
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

/** The former logins are valid no more. */
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
