import type { UserId } from '../../common/domain/brand.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { JsonObject } from '../../common/domain/json.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { PERSONAL_TENANT } from '../../common/domain/scope.ts';
import type { Write } from '../../common/ports/document-store.ts';
import { isOvertaken } from '../../common/repositories/commit-races.ts';
import type { StoredConfiguration } from '../../common/repositories/stored-configurations.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** All of a user are answered at once: together no more than a client can take. */
const MAX_BYTES = 256 * 1024;
const MAX_PER_USER = 100;

/** Keeps the object under the caller's name for it, in place of the one before. 413 `PayloadTooLargeError` for too much. */
export async function storeConfiguration(
  deps: AuthDependencies,
  { id: ownerId }: Principal,
  { name, configuration }: { readonly name: string; readonly configuration: JsonObject },
): Promise<void> {
  const { configurations, users, audit, clock, ids } = deps;
  if (Buffer.byteLength(JSON.stringify(configuration)) > MAX_BYTES) {
    throw engramError('PayloadTooLargeError', `A configuration may have ${MAX_BYTES / 1024} KiB of JSON at most.`);
  }
  for (;;) {
    const before = await configurations.find(ownerId, name);
    const at = clock.now().toISOString();
    const id = before?.id ?? ids.uuid();
    let write: Write;
    if (before === null) {
      await requireRoom(deps, ownerId);
      write = configurations.insertWrite({ id, ownerId, name, configuration, createdAt: at });
    } else write = configurations.replaceWrite({ ...before, configuration, updatedAt: at });
    const entry = { tenant: PERSONAL_TENANT, action: 'configuration.stored', actor: ownerId, subject: id };
    try {
      // Touched, so that nothing is stored for an account that is deleted meanwhile.
      const writes = [users.touchWrite(ownerId, { isActive: true }), write];
      await audit.commit({ tenant: PERSONAL_TENANT }, writes, [{ ...entry, details: { name } }]);
      return;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      // Another request stored it at the same time, and this one follows; or the account is gone.
      if ((await users.get(ownerId))?.isActive !== true) throw engramError('UserNotFoundError', 'User not found.');
    }
  }
}

/** Null when it does not exist for the caller: it is neither theirs nor of one of their agents. */
export async function readConfiguration(
  { configurations, users }: AuthDependencies,
  caller: Principal,
  id: string,
): Promise<StoredConfiguration | null> {
  const found = await configurations.get(id);
  if (found === null || found.ownerId === caller.id) return found;
  return (await users.childAgents(caller.id)).includes(found.ownerId) ? found : null;
}

/** The caller's own and those of their agents. */
export async function listConfigurations(
  { configurations, users }: AuthDependencies,
  { id }: Principal,
): Promise<readonly StoredConfiguration[]> {
  return configurations.ofUsers([id, ...(await users.childAgents(id))]);
}

async function requireRoom({ configurations }: AuthDependencies, owner: UserId): Promise<void> {
  if ((await configurations.count(owner)) < MAX_PER_USER) return;
  throw engramError(
    'PayloadTooLargeError',
    `${MAX_PER_USER} configurations are stored, which is the maximum per user.`,
  );
}
