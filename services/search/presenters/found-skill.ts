import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { skillRow } from '../../common/presenters/skill-row.ts';
import type { FoundSkill } from '../skills/skill-index.ts';

/** What a skill says of itself, and how near it is; never the procedure (search-recall.md §3.22). */
export function presentFoundSkill({ skill, distance }: FoundSkill, dataset: DatasetRef | null) {
  return { ...skillRow(skill, dataset === null ? [] : [dataset.id]), score: distance };
}

/** An item that recall adds for a query that asks for a skill. */
export function presentOfferedSkill(found: FoundSkill) {
  const { name, description } = found.skill;
  return { source: 'skills', text: `${name}: ${description}`, skill: name, score: found.distance };
}
