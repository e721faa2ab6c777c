import type { Skill, SkillProposal } from '../../common/domain/skill.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';

/** RememberResult of skills (ingest.md §3.1). */
export function presentStoredSkills(
  dataset: DatasetRef,
  skills: readonly Skill[],
  elapsedSeconds: number,
): Readonly<Record<string, unknown>> {
  const items = skills.map(({ id, name, declaredTools }) => ({
    name,
    kind: 'skill',
    declared_tools: declaredTools,
    id,
  }));
  return {
    status: 'completed',
    dataset_name: dataset.name,
    dataset_id: dataset.id,
    pipeline_run_id: null,
    items_processed: skills.length,
    elapsed_seconds: elapsedSeconds,
    ...(items.length === 0 ? {} : { items }),
  };
}

export function presentProposal(proposal: SkillProposal, { id: dataset }: DatasetRef) {
  return {
    proposal_id: proposal.id,
    skill_id: proposal.skill,
    skill_name: proposal.skillName,
    status: proposal.status,
    confidence: proposal.confidence,
    rationale: proposal.rationale,
    model_name: proposal.modelName,
    old_procedure: proposal.oldProcedure,
    proposed_procedure: proposal.proposedProcedure,
    runs_used: proposal.runsUsed,
    dataset_scope: [dataset],
  };
}
