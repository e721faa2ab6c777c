import type { Credential, RealmCredentials } from './store-administrator.ts';

/** At most one of each slot: the current one wins. */
export function validCredentials({ current, previous }: RealmCredentials): readonly Credential[] {
  return previous === null || previous.slot === current.slot ? [current] : [current, previous];
}
