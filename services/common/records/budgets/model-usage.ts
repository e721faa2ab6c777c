import type { BudgetAccount } from '../../domain/budget.ts';
import { pagesOf } from '../../kernel/result-page.ts';
import type { Scope } from '../../kernel/scope.ts';
import { ignoreDuplicate } from '../../platform/async/retry-on-conflict.ts';
import type { TokenUsage } from '../../ports/models.ts';
import { type DocumentStore, insert, update } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';

/** Tokens that the calls of a model took. */
export type ModelTokens = {
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** Tokens that a space spent on a model on a day. */
type ModelUsageDay = ModelTokens & {
  readonly account: BudgetAccount;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
};

export const modelUsageCollection: OwnedCollection<ModelUsageDay> = {
  name: 'model_usage',
  level: 'tenant',
  owner: 'auth',
  writers: { every: 'it is counted where the model is called' },
  belongsTo: { tenant: 'scope', account: 'account' },
  indexes: [{ fields: ['account', 'day'] }],
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
    async add({ tenant }: Scope, account: BudgetAccount, model: string, usage: TokenUsage, at: Date) {
      const scope = { tenant };
      const day = at.toISOString().slice(0, 10);
      const id = `${account}/${day}/${model}`;
      if (await increase(scope, id, usage)) return;
      const first = insert(modelUsageCollection, id, { account, day, model, calls: 1, ...usage });
      if (!(await ignoreDuplicate(store.commit(scope, [first])))) await increase(scope, id, usage);
    },
    /** Sums by model from a day on, those with most tokens first. */
    async since({ tenant }: Scope, account: BudgetAccount, day: string): Promise<readonly ModelTokens[]> {
      const sums = new Map<string, ModelTokens>();
      const query = { where: { account, day: { atLeast: day } }, limit: 1000 };
      const pages = pagesOf((after) => store.find({ tenant }, modelUsageCollection, { ...query, after }));
      for await (const page of pages) {
        for (const { value } of page) {
          const { model } = value;
          const { calls, inputTokens, outputTokens } = sums.get(model) ?? { calls: 0, inputTokens: 0, outputTokens: 0 };
          sums.set(model, {
            model,
            calls: calls + value.calls,
            inputTokens: inputTokens + value.inputTokens,
            outputTokens: outputTokens + value.outputTokens,
          });
        }
      }
      const tokens = (sum: ModelTokens): number => sum.inputTokens + sum.outputTokens;
      return [...sums.values()].sort((a, b) => tokens(b) - tokens(a));
    },
  };
}
