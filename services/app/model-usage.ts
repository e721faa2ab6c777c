import type { Scope } from '../common/kernel/scope.ts';
import type { TokenUsage } from '../common/ports/models.ts';
import { type DocumentStore, DuplicateKeyError, insert, update } from '../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../common/storage/ports/owned-collection.ts';

/** Tokens a tenant spent on a model on a day. */
export type ModelUsageDay = {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

export const modelUsageCollection: OwnedCollection<ModelUsageDay> = {
  name: 'model_usage',
  level: 'tenant',
  owner: 'platform',
  belongsTo: { tenant: 'scope' },
  indexes: [{ fields: ['day'] }],
};

export type ModelUsage = ReturnType<typeof createModelUsage>;

export function createModelUsage(store: DocumentStore) {
  const increase = async (scope: Scope, id: string, usage: TokenUsage): Promise<boolean> => {
    const increment = { calls: 1, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
    const [result] = await store.commit(scope, [update(modelUsageCollection, id, { increment })]);
    return result?.changed === 1;
  };
  return {
    /** Durable when it resolves; concurrent calls lose nothing. */
    async add({ tenant }: Scope, model: string, usage: TokenUsage, at: Date) {
      const scope = { tenant };
      const day = at.toISOString().slice(0, 10);
      const id = `${tenant}/${day}/${model}`;
      if (await increase(scope, id, usage)) return;
      try {
        await store.commit(scope, [insert(modelUsageCollection, id, { day, model, calls: 1, ...usage })]);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) throw error;
        await increase(scope, id, usage);
      }
    },
    async since({ tenant }: Scope, day: string): Promise<readonly ModelUsageDay[]> {
      const found = await store.find({ tenant }, modelUsageCollection, {
        where: { day: { atLeast: day } },
        limit: 1000,
      });
      return found.items.map(({ value }) => value);
    },
  };
}
