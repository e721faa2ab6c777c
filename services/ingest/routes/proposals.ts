import { z } from 'zod';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isUuid } from '../../common/kernel/ids.ts';
import { orFixedFailure } from '../../common/platform/http/fixed-failure.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { datasetWith } from '../items/target-dataset.ts';
import { presentProposal } from '../presenters/skill.ts';
import { applyProposal } from '../skills/record-skill-run.ts';

const answer = z
  .object({
    proposal_id: z.uuid(),
    skill_id: z.uuid(),
    skill_name: z.string(),
    status: z.enum(['proposed', 'applied']),
    confidence: z.number(),
    rationale: z.string(),
    model_name: z.string(),
    old_procedure: z.string(),
    proposed_procedure: z.string(),
    runs_used: z.array(z.string()),
    dataset_scope: z.array(z.uuid()),
  })
  .meta({ id: 'ProposalDetail' });
const listed = answer
  .extend({ created_at: z.string(), applied_at: z.string().nullable() })
  .meta({ id: 'ListedProposal' });

const datasetQuery = z.object({ dataset_id: uuid() });
const listQuery = datasetQuery.extend({
  limit: lenientInteger({ min: 1, max: 200 }).default(50),
  offset: lenientInteger({ min: 0, max: 1_000_000 }).default(0),
});
const params = z.object({ proposalId: z.string() });

const FAILED = 'ingest.skills.failed';

const { routes, get, post } = routesOf<IngestDependencies>({ tag: 'skills' });

/** Proposals are made by `POST /remember/entry`, which can apply one with the run that it records; people apply them here. */
export const proposalRoutes = routes(
  get('/api/v1/proposals', 'listProposals', {
    permission: onDatasets('read'),
    summary: 'Proposals for better procedures of the skills of a dataset, newest first',
    query: listQuery,
    responses: { 200: { description: 'A page of them', schema: z.array(listed) } },
    handle: ({ principal, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to list proposals' }, async () => {
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'read');
        const { limit, offset } = query;
        const page = await dependencies.proposals.page(scopeOf(dataset), { limit, offset });
        return json(
          page.map((proposal) => ({
            ...presentProposal(proposal, dataset),
            created_at: proposal.createdAt,
            applied_at: proposal.appliedAt,
          })),
        );
      }),
  }),
  get('/api/v1/proposals/:proposalId', 'getProposal', {
    permission: onDatasets('read'),
    params,
    query: datasetQuery,
    summary: 'A proposal for a better procedure of a skill',
    responses: {
      200: { description: 'The proposal with both procedures', schema: answer },
      404: { description: 'No such proposal in the dataset' },
    },
    handle: ({ principal, params, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to fetch proposal' }, async () => {
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'read');
        const { proposal } = await storedProposal(dependencies, dataset, params.proposalId);
        return json(presentProposal(proposal, dataset));
      }),
  }),
  post('/api/v1/proposals/:proposalId/apply', 'applyProposal', {
    params,
    query: datasetQuery,
    idempotent: true,
    summary: 'Make the procedure of a proposal that of its skill',
    permission: onDatasets('write'),
    responses: {
      200: { description: 'The proposal, applied', schema: answer },
      404: { description: 'No such proposal in the dataset' },
      409: { description: 'The skill has changed since it was drafted' },
    },
    handle: ({ principal, params, query, context }, dependencies) =>
      orFixedFailure(dependencies.logger, { event: FAILED, text: 'Failed to apply proposal' }, async () => {
        const dataset = await datasetWith(dependencies, { principal, context }, query.dataset_id, 'write');
        const { proposal } = await storedProposal(dependencies, dataset, params.proposalId);
        const wanted = { proposal: proposal.id, skill: null, run: null };
        return json(presentProposal(await applyProposal(dependencies, { principal, dataset }, wanted), dataset));
      }),
  }),
);

async function storedProposal({ proposals }: IngestDependencies, dataset: DatasetRef, given: string) {
  const id = given.toLowerCase();
  const stored = isUuid(id) ? await proposals.get(scopeOf(dataset), id) : null;
  if (stored === null) throw new HttpError(404, { error: 'Proposal not found' });
  return stored;
}
