import type { Stage } from '../stage.ts';
import { buildTruthSubspace, type TruthDependencies } from '../structure/truth-subspace.ts';

/**
 * Stage 7 (cognify-improve.md §3.12): where in vector space what sessions taught stands, and where every passage stands to
 * it. Search may prefer passages by that.
 */
export function createBuildTruthSubspace(deps: TruthDependencies): Stage {
  return {
    name: 'build_truth_subspace',
    needsSessions: true,
    gate: async ({ options }) => (options.buildTruthSubspace ? null : { status: 'skipped', reason: 'opt_in_disabled' }),
    async run(pass) {
      const { counts, isUnchanged } = await buildTruthSubspace(deps, pass);
      return { status: 'completed', counts: { ...counts }, isUnchanged };
    },
  };
}
