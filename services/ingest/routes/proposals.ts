import { z } from 'zod';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { isUuid } from '../../common/kernel/ids.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { targetDataset } from '../items/target-dataset.ts';
import { presentProposal } from '../presenters/skill.ts';
import { orFixedFailure } from './fixed-failure.ts';

const answer = z
  .object({
    ...{ proposal_id: z.uuid(), skill_id: z.uuid(), skill_name: z.string(), status: z.enum(['proposed', 'applied']) },
    ...{ confidence: z.number(), rationale: z.string(), model_name: z.string() },
    ...{ old_procedure: z.string(), proposed_procedure: z.string() },
    ...{ runs_used: z.array(z.string()), dataset_scope: z.array(z.uuid()) },
  })
  .meta({ id: 'ProposalDetail' });

/** Proposals are made and applied by `POST /remember/entry`; here they are looked at. */
export function proposalRoutes(dependencies: IngestDependencies): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/proposals/:proposalId',
      tag: 'skills',
      operationId: 'getProposal',
      summary: 'A proposal for a better procedure of a skill',
      auth: 'user',
      permission: onDatasets('read'),
      params: z.object({ proposalId: z.string() }),
      query: z.object({ dataset_id: uuid() }),
      responses: {
        200: { description: 'The proposal with both procedures', schema: answer },
        404: { description: 'No such proposal in the dataset' },
      },
      handle: ({ principal, params, query, context }) =>
        orFixedFailure(dependencies.logger, 'Failed to fetch proposal', async () => {
          const selection = { id: query.dataset_id };
          const options = { permission: 'read', context } as const;
          const dataset = await targetDataset(dependencies.messenger, principal, selection, options);
          const id = params.proposalId.toLowerCase();
          const stored = isUuid(id) ? await dependencies.proposals.get(scopeOf(dataset), id) : null;
          if (stored === null) throw new HttpError(404, { error: 'Proposal not found' });
          return json(presentProposal(stored.proposal, dataset));
        }),
    }),
  ];
}
