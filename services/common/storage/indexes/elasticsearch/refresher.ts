import type { ElasticsearchConnection } from './connection.ts';

/**
 * Makes finished writes visible to searches of every process. Writers that finish while a refresh of the index is under way
 * share the next one: fifty small writes cost two refreshes, not fifty.
 */
export type Refresher = ReturnType<typeof createRefresher>;

export function createRefresher(connection: ElasticsearchConnection) {
  const running = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();

  const start = (index: string): Promise<void> => {
    const done = connection
      .request((client, options) => client.indices.refresh({ index, ignore_unavailable: true }, options))
      .then(() => undefined)
      .finally(() => {
        if (running.get(index) === done) running.delete(index);
      });
    running.set(index, done);
    return done;
  };
  return {
    refresh(index: string) {
      const current = running.get(index);
      if (current === undefined) return start(index);
      const shared = next.get(index);
      if (shared !== undefined) return shared;
      const later = current
        .catch(() => undefined)
        .then(() => {
          next.delete(index);
          return start(index);
        });
      next.set(index, later);
      return later;
    },
  };
}
