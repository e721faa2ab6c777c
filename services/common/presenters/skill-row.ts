import type { Skill } from '../domain/skill.ts';
import type { DatasetId } from '../kernel/brand.ts';

/** SkillSummary of the wire (ingest.md §7.1), never the procedure. */
export function skillRow(skill: Omit<Skill, 'procedure'>, datasets: readonly DatasetId[]) {
  return {
    id: skill.id,
    name: skill.name,
    description: skill.description,
    maintainer: skill.maintainer,
    maintainer_url: skill.maintainerUrl,
    version: skill.version,
    tags: skill.tags,
    license: skill.license,
    declared_tools: skill.declaredTools,
    dataset_scope: datasets,
    is_active: skill.isActive,
    source_repo_url: skill.sourceRepoUrl,
    source_dir: skill.sourceDir,
  };
}
