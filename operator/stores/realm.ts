import { engramError } from '../../services/common/kernel/errors.ts';
import { sha256 } from '../../services/common/kernel/hashes.ts';

/**
 * Everything that belongs to one Dedicated tenant in all stores. Its name is part of the names of its databases, users,
 * indexes, topics and buckets.
 */
export interface Realm {
  /** A name that `isRealmName` accepts, made by `realmOf`. It never changes and is never reused. */
  readonly name: string;
  /** `metadata.uid` of the Tenant, the mark of the owner: only the same owner may change or remove what has it. */
  readonly ownerUid: string;
}

const NAME = /^[a-z][a-z0-9]{1,23}$/;

/**
 * Whether a name has only lower-case letters and digits, which no store treats as separators: followed by a separator, the
 * name of one realm is never a prefix of another's. At most 24 characters: names of buckets and MongoDB databases have 63.
 */
export function isRealmName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the realm of the Tenant with this uid. The name has 17 characters and is the same in every process and release. */
export function realmOf(ownerUid: string): Realm {
  return { name: `t${sha256(ownerUid).slice(0, 16)}`, ownerUid };
}

/** Two alternating users: one is in use while the other is created or removed. */
export type CredentialSlot = 'a' | 'b';

/**
 * Names in the stores. Names of Shared tenants begin with `engram`, followed by nothing, `-` or `.`. No name here begins like
 * that, so no pattern of theirs or of another realm matches. The name of the realm is followed by the end, or by a character
 * that it cannot contain.
 */
export function namesOf({ name }: Pick<Realm, 'name'>) {
  if (!isRealmName(name)) throw engramError('InvalidRequestError', `"${name}" cannot be the name of a realm`);
  return {
    /** MongoDB database, users, roles; prefix of Elasticsearch indexes, followed by `-`. */
    underscored: `engram_${name}`,
    /** Bucket and Neo4j database, which cannot contain `_`; prefix of Kafka topics, followed by `.`. */
    dashed: `engram-${name}`,
    /** Two tokens of a NATS subject, so that a user can be allowed `engram-dedicated.>`. */
    subject: `engram-dedicated.${name}`,
    /** Prefix of objects in a shared bucket. */
    folder: `engram-dedicated/${name}/`,
    user: (slot: CredentialSlot) => `engram_${name}_${slot}`,
  };
}
