import type { CredentialSlot, Realm } from './realm.ts';

/** A server or cluster of servers; some have two roles. */
export const STORE_DRIVERS = ['mongodb', 'elasticsearch', 'neo4j', 'nats', 's3', 'kafka'] as const;
export type StoreDriver = (typeof STORE_DRIVERS)[number];

/** Kind of data in a store. `Events`: domain events for other systems. `Bus`: messages between services. */
export type StoreRole = 'Documents' | 'Blobs' | 'Text' | 'Vectors' | 'Graph' | 'Bus' | 'Events';

/**
 * Isolation of a realm: by a label or a name prefix that its services put on everything (`Label`), by its own indexes
 * (`Index`), by its own database, bucket or account (`Database`), by its own servers (`Cluster`).
 */
export type StoreIsolation = 'Label' | 'Index' | 'Database' | 'Cluster';

/** An entry of `status.stores`. */
export interface ProvisionedStore {
  readonly role: StoreRole;
  /** Common name: `mongodb`, `gridfs`, `s3` … */
  readonly driver: string;
  /** Name of the database, bucket, index prefix … */
  readonly name: string;
  readonly isolation: StoreIsolation;
  /**
   * Whether the services have a login of their own, which is removed with the realm. Its privileges follow from `isolation`.
   * False: they share a login with other realms.
   */
  readonly ownCredentials: boolean;
}

/** Variables of the realm's services, from the table in README.md. No two administrators set the same variable. */
export interface Provision {
  /** Variable → value, without secrets. */
  readonly settings: Readonly<Record<string, string>>;
  /** Variable → value, for a Secret. */
  readonly secrets: Readonly<Record<string, string>>;
  /**
   * Variable → content of a file, for a Secret: certificates and credentials files. The variable gets the path of the mounted
   * file.
   */
  readonly files: Readonly<Record<string, string>>;
  /** One entry for each role of the administrator. */
  readonly stores: readonly ProvisionedStore[];
}

export interface Credential {
  readonly slot: CredentialSlot;
  /** 16 to 128 random letters, digits, `-` and `_`. The caller keeps it in a Secret. */
  readonly password: string;
}

/**
 * Exactly these are valid after `ensure`. To rotate without an interruption: `{current: new in the other slot, previous:
 * old}`, then give the new settings to the services, then `{current: new, previous: null}`, which ends the old one. The
 * same slot with another password is a change of password, for which data stay where they are, but services with the old
 * one are refused from then on.
 */
export interface RealmCredentials {
  readonly current: Credential;
  readonly previous: Credential | null;
}

/**
 * Creates and removes everything that one Dedicated tenant has in one store, with the credentials of an administrator.
 *
 * All methods are idempotent, complete an interrupted earlier call, and may run at the same time in two processes.
 * Errors never contain a password or a URL with one:
 * - `ServiceUnavailableError` or `DeadlineExceededError` with `retryable`: the store, which the message names, does not answer;
 * - `ServiceUnavailableError` without it: the store refuses the administrator; the message names the setting to look at;
 * - `OwnedByAnother`: something of this name exists without the realm's `ownerUid`; nothing was changed;
 * - `UnsupportedOperationError`: the store is not set up to isolate a realm; the message says why.
 * An abort rejects with the signal's reason.
 */
export interface StoreAdministrator {
  /** Unique in an installation. Credentials are kept under this name. */
  readonly driver: StoreDriver;
  readonly roles: readonly StoreRole[];
  /** Whether `ensure` creates users with the given passwords. Otherwise it ignores the passwords. */
  readonly makesUsers: boolean;
  /** Creates or corrects everything, and marks it with `realm.ownerUid` where the store supports that. */
  ensure(realm: Realm, credentials: RealmCredentials, signal: AbortSignal): Promise<Provision>;
  /** Removes the users, then all data, and nothing of other realms. Does nothing when the realm has nothing here. */
  remove(realm: Realm, signal: AbortSignal): Promise<void>;
  /** Counts what is left: databases, users, indexes, roles, objects, topics … 0 after `remove`. */
  residue(realm: Realm, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

export type DedicatedStores =
  | {
      readonly available: true;
      /** In the order of provisioning: Documents, Bus, Text and Vectors, Graph, Blobs, Events. */
      readonly administrators: readonly StoreAdministrator[];
    }
  | {
      readonly available: false;
      /** Message for a condition: the missing settings of the operator. */
      readonly reason: string;
    };

/** Returns the valid credentials, at most one for each slot: the current one wins. */
export function validCredentials({ current, previous }: RealmCredentials): readonly Credential[] {
  return previous === null || previous.slot === current.slot ? [current] : [current, previous];
}
