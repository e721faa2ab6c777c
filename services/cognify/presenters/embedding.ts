import type { EmbeddingState } from '../../common/platform/messaging/methods/cognify-managed.ts';

export function presentEmbedding({ embedding, migration, failure }: EmbeddingState) {
  if (migration === null) return { embedding, migration, failure };
  const { startedAt, ...rest } = migration;
  return { embedding, migration: { ...rest, started_at: startedAt }, failure };
}
