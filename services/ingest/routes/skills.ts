import { z } from 'zod';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { orFixedFailure } from '../../common/platform/http/fixed-failure.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import { skillRow } from '../../common/presenters/skill-row.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { datasetWith, isSelected } from '../items/target-dataset.ts';
import { presentStoredSkills } from '../presenters/skill.ts';
import { findSkill } from '../skills/find-skill.ts';
import { rememberSkills } from '../skills/remember-skills.ts';
import { inlineSource } from '../skills/skill-sources.ts';
import { deletedSkill, rememberResult } from './answers.schema.ts';

const bodySchema = z
  .object({
    skills_text: z.string(),
    skill_name: z.string().nullish(),
    dataset_name: z.string().nullish(),
    dataset_id: optionalOrBlank(uuid()),
  })
  .meta({ id: 'SkillIngestRequest' });
const datasetQuery = z.object({ dataset_id: uuid() });
const listQuery = datasetQuery.extend({
  include_inactive: lenientBoolean().default(false),
  limit: lenientInteger({ min: 1, max: 1000 }).default(200),
  offset: lenientInteger({ min: 0, max: 1_000_000 }).default(0),
});
const summary = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    maintainer: z.string(),
    maintainer_url: z.string(),
    version: z.string(),
    tags: z.array(z.string()),
    license: z.string(),
    declared_tools: z.array(z.string()),
    dataset_scope: z.array(z.uuid()),
    is_active: z.boolean(),
    source_repo_url: z.string(),
    source_dir: z.string(),
  })
  .meta({ id: 'SkillListItem' });
const params = z.object({ skillId: z.string() });
const NOT_FOUND = { 404: { description: 'No such skill in the dataset' } };

const FAILED = 'ingest.skills.failed';

const { routes, get, post, remove } = routesOf<IngestDependencies>({ tag: 'skills' });

export const skillRoutes = routes(
  post('/api/v1/skills', 'ingestSkills', {
    summary: 'Store a skill; one of the same name in the dataset is updated',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'json', schema: bodySchema, carriesDocument: true },
    responses: {
      200: { description: 'With an item per skill', schema: rememberResult },
      409: { description: 'It failed' },
    },
    handle: ({ principal, body, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to ingest skill' }, async () => {
        const selection = { id: body.dataset_id ?? null, name: body.dataset_name ?? null };
        if (!isSelected(selection)) {
          throw new HttpError(400, { error: 'Either dataset_name or dataset_id is required' });
        }
        if (body.skills_text === '') throw new HttpError(409, { error: 'Failed to ingest skill' });
        const sources = inlineSource(body.skills_text, body.skill_name ?? null);
        const stored = await rememberSkills(dependencies, { principal, selection, sources, context });
        return json(presentStoredSkills(stored.dataset, stored.skills, stored.elapsedSeconds));
      }),
  }),
  get('/api/v1/skills', 'listSkills', {
    summary: 'Skills of a dataset by name, one page',
    permission: onDatasets('read'),
    query: listQuery,
    responses: { 200: { description: 'Summaries', schema: z.array(summary) } },
    handle: ({ principal, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to list skills' }, async () => {
        const { limit, offset, include_inactive: includeInactive } = query;
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'read');
        const page = await dependencies.skills.page(scopeOf(dataset), { limit, offset, includeInactive });
        return json(page.map((skill) => skillRow(skill, [dataset.id])));
      }),
  }),
  get('/api/v1/skills/:skillId', 'getSkill', {
    params,
    summary: 'A skill with its procedure',
    permission: onDatasets('read'),
    query: datasetQuery,
    responses: {
      200: {
        description: 'The summary, and `procedure`',
        schema: summary.extend({ procedure: z.string() }).meta({ id: 'SkillDetail' }),
      },
      ...NOT_FOUND,
    },
    handle: ({ principal, params, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to fetch skill' }, async () => {
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'read');
        const stored = await findSkill(dependencies, dataset, params.skillId);
        if (stored === null) throw skillNotFound();
        return json({ ...skillRow(stored.skill, [dataset.id]), procedure: stored.skill.procedure });
      }),
  }),
  remove('/api/v1/skills/:skillId', 'deleteSkill', {
    params,
    summary: 'Delete a skill with its runs and proposals',
    permission: onDatasets('delete'),
    query: datasetQuery,
    responses: {
      200: { description: 'Deleted', schema: deletedSkill },
      ...NOT_FOUND,
      409: { description: 'It failed' },
    },
    handle: ({ principal, params, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to delete skill' }, async () => {
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'delete');
        const id = params.skillId.toLowerCase();
        if (!(await deleteSkill(dependencies, principal, { dataset, id }))) throw skillNotFound();
        return json({ status: 'deleted', id, dataset_id: dataset.id });
      }),
  }),
);

function skillNotFound(): HttpError {
  return new HttpError(404, { error: 'Skill not found' });
}

/** More runs go in parts before the commit that removes the skill: no commit grows with a skill's history. */
const MAX_RUNS_IN_COMMIT = 1000;

/** Removes the skill with its runs and proposals, and records how many they were. False when there is none. */
export async function deleteSkill(
  dependencies: IngestDependencies,
  principal: Principal,
  { dataset, id }: { readonly dataset: DatasetRef; readonly id: string },
): Promise<boolean> {
  const { store, skills, skillRuns, proposals, audit, ids } = dependencies;
  const scope = scopeOf(dataset);
  let removed = 0;
  return retryOnConflict(async () => {
    const stored = await findSkill(dependencies, dataset, id);
    if (stored === null) return false;
    const { id: skill } = stored.skill;
    const [runs, drafts] = await Promise.all([skillRuns.count(scope, skill), proposals.count(scope, skill)]);
    if (runs > MAX_RUNS_IN_COMMIT) {
      const [gone] = await store.commit(scope, [skillRuns.removeOfSkillWrite(skill)]);
      removed += gone?.changed ?? 0;
    }
    const writes = [
      ...skills.removeWrites(ids.uuid(), stored),
      skillRuns.removeOfSkillWrite(skill),
      proposals.removeOfSkillWrite(skill),
    ];
    const details = { dataset: dataset.id, runs: Math.max(runs, removed), proposals: drafts };
    const entry = { tenant: dataset.tenant, action: 'skill.deleted', actor: principal.id, subject: skill, details };
    await audit.commit(scope, writes, [entry]);
    return true;
  });
}
