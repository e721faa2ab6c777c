import type { DocumentStore, Write } from '../../services/common/storage/ports/document-store.ts';

/** Runs `before` ahead of each commit of a store, which fails when it throws. The result ends that. */
export function beforeCommits(
  store: Pick<DocumentStore, 'commit'>,
  before: (writes: readonly Write[]) => Promise<void> | void,
): () => void {
  const { commit } = store;
  Object.assign(store, {
    async commit(...call: Parameters<typeof commit>) {
      await before(call[1]);
      return commit(...call);
    },
  });
  return () => void Object.assign(store, { commit });
}

/** Whether one of the writes is of this kind, in this collection. */
export function writes(all: readonly Write[], kind: Write['kind'], collection: string): boolean {
  return all.some((write) => write.kind === kind && write.collection.name === collection);
}
