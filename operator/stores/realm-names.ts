import { engramError } from '../../services/common/kernel/errors.ts';
import { isRealmName, type Realm } from './realm.ts';
import type { CredentialSlot } from './store-administrator.ts';

/**
 * Names in the stores. Shared tenants live under `engram`, followed by nothing, `-` or `.`: none of these names begins
 * like that, so neither a pattern of theirs nor one of a neighbour matches. Behind the realm's name comes the end or a
 * character that no such name has.
 */
export interface RealmNames {
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
