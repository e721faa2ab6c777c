import type { StoredConfiguration } from '../../common/repositories/stored-configurations.ts';

/** One entry of the list (auth-integrations.md §5.1). */
export function presentConfiguration(stored: StoredConfiguration) {
  const { id, ownerId, name, configuration, createdAt, updatedAt } = stored;
  return { id, ownerId, name, configuration, createdAt, updatedAt };
}
