import type { DatasetRef } from '../../common/domain/dataset.ts';
import type { FoundSkill } from '../skills/skill-index.ts';

/** What a skill says of itself, and how near it is; never the procedure (search-recall.md §3.22). */
export function presentFoundSkill({ skill, distance }: FoundSkill, dataset: DatasetRef | null) {
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
    dataset_scope: dataset === null ? [] : [dataset.id],
    is_active: skill.isActive,
    source_repo_url: skill.sourceRepoUrl,
    source_dir: skill.sourceDir,
    score: distance,
  };
}

/** An item that recall adds for a query that asks for a skill. */
export function presentOfferedSkill(found: FoundSkill) {
  const { name, description } = found.skill;
  return { source: 'skills', text: `${name}: ${description}`, skill: name, score: found.distance };
}
