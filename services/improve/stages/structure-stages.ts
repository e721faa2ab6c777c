import { scopeOf } from '../../common/kernel/dataset.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { CustomEnrichment, ImprovePass, Stage } from '../model.ts';
import { buildContext, type ContextDependencies } from '../structure/context/build-context.ts';
import { isUnchanged, itemChanges } from '../structure/item-changes.ts';
import { buildTruthSubspace, type TruthDependencies } from '../structure/truth-subspace.ts';
import { type TripletDependencies, writeTriplets } from '../structure/write-triplets.ts';
import { recordPipeline } from './record-pipeline.ts';

/**
 * Stage 7 (cognify-improve.md §3.12): embeds what sessions taught as centroids and scores every passage against them. Search
 * may rank passages by these scores.
 */
export function createBuildTruthSubspace(deps: TruthDependencies): Stage {
  return {
    name: 'build_truth_subspace',
    gate: async ({ options }) => (options.buildTruthSubspace ? null : { status: 'skipped', reason: 'opt_in_disabled' }),
    async run(pass) {
      const { counts, isUnchanged } = await buildTruthSubspace(deps, pass);
      return { status: 'completed', counts: { ...counts }, isUnchanged };
    },
  };
}

type GlobalContextIndexDependencies = ContextDependencies & Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'>;

/**
 * Stage 9 (cognify-improve.md §3.14): builds a tree of summaries up to one for the whole dataset. Passages that share entities
 * share a bucket; new passages join existing buckets, and only changed buckets are summarised again.
 */
export function createGlobalContextIndex(deps: GlobalContextIndexDependencies): Stage {
  return {
    name: 'global_context_index',
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

interface TripletEnrichmentDependencies
  extends TripletDependencies,
    Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'> {
  readonly settings: Pick<ImproveDependencies['settings'], 'tripletEmbedding'>;
  /** Runs the named tasks in place of the default enrichment. */
  customTasks(pass: ImprovePass, custom: CustomEnrichment): Promise<void>;
}

/**
 * Stage 8 (cognify-improve.md §3.13): makes a text of every visible edge of the graph, which TRIPLET_COMPLETION searches.
 * Reads only items that changed since the last time.
 */
export function createTripletEnrichment(deps: TripletEnrichmentDependencies): Stage {
  return {
    name: 'triplet_enrichment',
    async gate({ dataset, options, reads }) {
      if (options.custom !== null) return null;
      if (!deps.settings.tripletEmbedding) return { status: 'skipped', reason: 'triplet_embedding_disabled' };
      if (options.nodeNames.length > 0) return null;
      const changes = await itemChanges(deps, scopeOf(dataset), 'triplets', reads);
      return isUnchanged(changes) ? { status: 'skipped', reason: 'no_writes_since_last_improve' } : null;
    },
    async run(pass) {
      const { custom, nodeNames } = pass.options;
      const work = async () => {
        if (custom === null) await writeTriplets(deps, pass, nodeNames);
        else await deps.customTasks(pass, custom);
        return 'changed' as const;
      };
      return { status: 'completed', counts: {}, ...(await recordPipeline(deps, pass, work, custom?.runId)) };
    },
  };
}
