import type { ListedConfiguration } from '../settings/stored-configurations.ts';

/** One entry of the list (auth-integrations.md §5.1). */
export function presentConfiguration(stored: ListedConfiguration) {
  const { id, ownerId, name, configuration, createdAt, updatedAt } = stored;
  return { id, ownerId, name, configuration, createdAt, updatedAt };
}
