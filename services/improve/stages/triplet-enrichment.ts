import { scopeOf } from '../../common/kernel/dataset.ts';
import { recordPipeline } from '../bridge/record-pipeline.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { CustomEnrichment, ImprovePass, Stage } from '../stage.ts';
import { isUnchanged, itemChanges } from '../structure/item-changes.ts';
import { type TripletDependencies, writeTriplets } from '../structure/write-triplets.ts';

export interface TripletEnrichmentDependencies
  extends TripletDependencies,
    Pick<ImproveDependencies, 'messenger' | 'clock' | 'ids'> {
  readonly settings: Pick<ImproveDependencies['settings'], 'tripletEmbedding'>;
  /** Does the named tasks, in place of the default. */
  customTasks(pass: ImprovePass, custom: CustomEnrichment): Promise<void>;
}

/**
 * Stage 8 (cognify-improve.md §3.13): every edge that views of the graph show becomes a text of its own that
 * TRIPLET_COMPLETION searches. Reads only items that changed since the last time.
 */
export function createTripletEnrichment(deps: TripletEnrichmentDependencies): Stage {
  return {
    name: 'triplet_enrichment',
    needsSessions: false,
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
