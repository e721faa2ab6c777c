import type { CredentialSlot, Realm } from './realm.ts';

/** One server, or cluster of servers; some play two roles. */
export const STORE_DRIVERS = ['mongodb', 'elasticsearch', 'neo4j', 'nats', 's3', 'kafka'] as const;
export type StoreDriver = (typeof STORE_DRIVERS)[number];

/** What is stored there. `Events` are the domain events for others, `Bus` the messages between services. */
export type StoreRole = 'Documents' | 'Blobs' | 'Text' | 'Vectors' | 'Graph' | 'Bus' | 'Events';

/**
 * How the realm is kept apart: by a label or the beginning of a name that its services put on everything (`Label`), by
 * indexes (`Index`), by a database, bucket or account (`Database`), by servers (`Cluster`) of its own.
 */
export type StoreIsolation = 'Label' | 'Index' | 'Database' | 'Cluster';

/** A line of `status.stores`. */
export interface ProvisionedStore {
  readonly role: StoreRole;
  /** As people know it: `mongodb`, `gridfs`, `s3` … */
  readonly driver: string;
  /** Of the database, bucket, index prefix … */
  readonly name: string;
  readonly isolation: StoreIsolation;
  /**
   * Whether the services come in with a login that only this realm has and that ends with it. How far it reaches is said
   * by `isolation`; with false they share theirs with other realms.
   */
  readonly ownCredentials: boolean;
}

/** For the services of the realm: variables of the table in README.md. Those of two administrators are never the same. */
export interface Provision {
  /** Variable → value; no secret is among them. */
  readonly settings: Readonly<Record<string, string>>;
  /** Variable → value: for a Secret. */
  readonly secrets: Readonly<Record<string, string>>;
  /**
   * Variable → content of a file, for a Secret: the variable is to hold the path under which it is mounted. Certificates
   * of authorities, credentials files.
   */
  readonly files: Readonly<Record<string, string>>;
  /** One for each role of the administrator. */
  readonly stores: readonly ProvisionedStore[];
}

export interface Credential {
  readonly slot: CredentialSlot;
  /** 16 to 128 letters, digits, `-` and `_`, from a random source; kept by the caller, in a Secret. */
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
 * Makes and removes what one Dedicated tenant has in one store, with the credentials of an administrator.
 *
 * All methods are idempotent, complete what an earlier call left half done, and may run at the same time in two processes.
 * Errors, which never hold a password or a URL with one:
 * - `ServiceUnavailableError` or `DeadlineExceededError` with `retryable`: the store, which the message names, is away;
 * - `ServiceUnavailableError` without it: the store refuses the administrator; the message names the setting to look at;
 * - `OwnedByAnother`: something of this name is there that does not carry the realm's `ownerUid`; nothing was changed;
 * - `UnsupportedOperationError`: the store as it is set up cannot keep a realm apart; the message says why.
 * An abort rejects with the signal's reason.
 */
export interface StoreAdministrator {
  /** Of one installation no two have the same. The name to keep its credentials under. */
  readonly driver: StoreDriver;
  readonly roles: readonly StoreRole[];
  /** Whether it makes users, with the passwords that `ensure` is given. Otherwise `ensure` does not look at these. */
  readonly makesUsers: boolean;
  /** What of all this is made is marked with `realm.ownerUid`, where the store can hold a mark. */
  ensure(realm: Realm, credentials: RealmCredentials, signal: AbortSignal): Promise<Provision>;
  /** Users first, then all data; nothing of any other realm. A realm that has nothing here is no error. */
  remove(realm: Realm, signal: AbortSignal): Promise<void>;
  /** How much is left: databases, users, indexes, roles, objects, topics … 0 after `remove`. */
  residue(realm: Realm, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** What there is for Dedicated tenants. */
export type DedicatedStores =
  | {
      readonly available: true;
      /** In the order in which they are to be asked: Documents, Bus, Text and Vectors, Graph, Blobs, Events. */
      readonly administrators: readonly StoreAdministrator[];
    }
  | {
      readonly available: false;
      /** A sentence for a condition: which settings of the operator are missing. */
      readonly reason: string;
    };

/** At most one of each slot: the current one wins. */
export function validCredentials({ current, previous }: RealmCredentials): readonly Credential[] {
  return previous === null || previous.slot === current.slot ? [current] : [current, previous];
}
