import type { DatasetScope } from '../../common/kernel/scope.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { EmbeddingState } from '../../common/platform/messaging/methods/cognify-managed.ts';
import type { MigrationDependencies } from './migration-step.ts';

const followWish = onDemand(async () => (await import('./migrate-embedding.ts')).followWish);

/** Migrations that this process works on beside the calls that ask for them, so that no caller waits for the work. */
interface MigrationsInHand {
  /** Begins a migration where one is wanted, and tells how far it is; it is worked on for some seconds after each call. */
  follow(scope: DatasetScope, signal?: AbortSignal): Promise<EmbeddingState>;
  /** Ends what is under way; the next call for it goes on. */
  stop(): Promise<void>;
}

/** Others wait for their turn: all of them share the embedding model and the stores with runs. */
const AT_ONCE = 4;

interface InHand {
  isAsked: boolean;
  readonly work: Promise<void>;
}

export function createMigrationsInHand(deps: MigrationDependencies, atOnce = AT_ONCE): MigrationsInHand {
  const inHand = new Map<string, InHand>();
  const stopping = new AbortController();
  const work = async (scope: DatasetScope): Promise<void> => {
    const key = keyOf(scope);
    try {
      for (let isAsked = true; isAsked; ) {
        const { migration, failure } = await followWish(deps, scope, { signal: stopping.signal, isAlone: true });
        if (migration === null || failure !== null) return;
        const own = inHand.get(key);
        isAsked = own?.isAsked === true;
        if (own !== undefined) own.isAsked = false;
      }
    } catch (error) {
      if (!stopping.signal.aborted) deps.logger.warn('cognify.migration.left', { error, datasetId: scope.dataset });
    } finally {
      inHand.delete(key);
    }
  };
  return {
    async follow(scope, signal) {
      const state = await followWish(deps, scope, { ...(signal === undefined ? {} : { signal }), workMs: 0 });
      if (state.migration === null || stopping.signal.aborted) return state;
      const own = inHand.get(keyOf(scope));
      if (own !== undefined) own.isAsked = true;
      else if (inHand.size < atOnce) inHand.set(keyOf(scope), { isAsked: false, work: work(scope) });
      return state;
    },
    async stop() {
      stopping.abort();
      await Promise.all([...inHand.values()].map(({ work }) => work));
    },
  };
}

function keyOf({ tenant, dataset }: DatasetScope): string {
  return `${tenant}/${dataset}`;
}
