import { createHash } from 'node:crypto';

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
  return { name: `t${createHash('sha256').update(ownerUid).digest('hex').slice(0, 16)}`, ownerUid };
}
