import { engramError } from '../../services/common/kernel/errors.ts';
import { sha256 } from '../../services/common/kernel/hashes.ts';

/**
 * What belongs to one Dedicated tenant in all stores. Its name is part of every name that is made there: of databases,
 * users, indexes, topics, buckets.
 */
export interface Realm {
  /** As `isRealmName` says. For a Tenant `realmOf` makes it; it never changes, and is never given to another. */
  readonly name: string;
  /** `metadata.uid` of the Tenant: what is made carries it, and only who has the same may change or remove it. */
  readonly ownerUid: string;
}

const NAME = /^[a-z][a-z0-9]{1,23}$/;

/**
 * Lower-case letters and digits: no store reads anything in them as a separator, so with a separator behind it the name of
 * one realm is never the beginning of another's. 24 at most: a bucket has 63 in all, a MongoDB database 63 bytes.
 */
export function isRealmName(name: string): boolean {
  return NAME.test(name);
}

/** The realm of the Tenant with this uid. The name is the same in every process and release: 17 characters. */
export function realmOf(ownerUid: string): Realm {
  return { name: `t${sha256(ownerUid).slice(0, 16)}`, ownerUid };
}

/** Two users by turns: one is in use while the other is made or goes. */
export type CredentialSlot = 'a' | 'b';

/**
 * Names in the stores. Shared tenants live under `engram`, followed by nothing, `-` or `.`: none of these names begins
 * like that, so neither a pattern of theirs nor one of a neighbour matches. Behind the realm's name comes the end or a
 * character that no such name has.
 */
interface RealmNames {
  /** Of a MongoDB database, of users and roles; start of Elasticsearch's indexes, which go on with `-`. */
  readonly underscored: string;
  /** Of a bucket and of a Neo4j database, which hold no `_`; start of Kafka's topics, which go on with `.`. */
  readonly dashed: string;
  /** Two words of a NATS subject, so that a user can be allowed all of `engram-dedicated.>`. */
  readonly subject: string;
  /** Start of the names of objects in a bucket of several. */
  readonly folder: string;
  user(slot: CredentialSlot): string;
}

export function namesOf({ name }: Pick<Realm, 'name'>): RealmNames {
  if (!isRealmName(name)) throw engramError('InvalidRequestError', `"${name}" cannot be the name of a realm`);
  return {
    underscored: `engram_${name}`,
    dashed: `engram-${name}`,
    subject: `engram-dedicated.${name}`,
    folder: `engram-dedicated/${name}/`,
    user: (slot) => `engram_${name}_${slot}`,
  };
}
