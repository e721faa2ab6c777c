import { recordPipeline } from '../bridge/record-pipeline.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { Stage } from '../stage.ts';
import { buildContext, type ContextDependencies } from '../structure/context/build-context.ts';

export type GlobalContextIndexDependencies = ContextDependencies &
  Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'>;

/**
 * Stage 9 (cognify-improve.md §3.14): summaries of summaries, up to one for the whole dataset. Passages that share entities
 * share a bucket; what is new joins the buckets that are there, and only those are written anew.
 */
export function createGlobalContextIndex(deps: GlobalContextIndexDependencies): Stage {
  return {
    name: 'global_context_index',
    needsSessions: false,
    gate: async ({ options }) =>
      options.buildGlobalContextIndex ? null : { status: 'skipped', reason: 'opt_in_disabled' },
    async run(pass) {
      const recorded = await recordPipeline(deps, pass, async () => {
        const { leaves, nodes } = await buildContext(deps, pass);
        return leaves + nodes > 0 ? 'changed' : 'unchanged';
      });
      return { status: 'completed', counts: {}, ...recorded };
    },
  };
}
