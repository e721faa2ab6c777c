import { z } from 'zod';
import { agentSlug, shownAgentAddress } from '../../common/domain/agent-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { nothing } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import { type Agent, createAgent, deleteAgent, getAgent, listAgents } from '../agents/agents.ts';
import type { AuthDependencies } from '../model.ts';
import { maskedKey } from '../presenters/api-key.ts';

const createAgentQuery = z.object({
  name: z.string().superRefine((name, context) => {
    const { problem } = agentSlug(name);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
});

const agentParams = z.object({ agentId: uuid() });

const newAgentRecord = z
  .object({ agentId: z.string(), agentEmail: z.string(), agentApiKey: z.string() })
  .meta({ id: 'AgentWithApiKeyDTO' });

const agentRecord = z
  .object({
    agentId: z.string(),
    agentEmail: z.string(),
    apiKeyLabel: z.string().nullable(),
  })
  .meta({ id: 'AgentDTO' });
const NOT_OWN = {
  403: { description: 'An account that is not an agent of the caller' },
  404: { description: 'No such account' },
};

const { routes, get, post, remove } = routesOf<AuthDependencies>({
  tag: 'agent management',
  permission: ofAccount('agents'),
});

/** Agents of the caller. */
export const agentRoutes = routes(
  get('/api/v1/agents/list', 'listAgents', {
    summary: 'List own agents',
    responses: { 200: { description: 'The agents, oldest first', schema: z.array(agentRecord) } },
    handle: async ({ principal }, deps) => json((await listAgents(deps, principal.id)).map(presentAgent)),
  }),
  post('/api/v1/agents/create', 'createAgent', {
    summary: 'Create an agent with an API key, which is shown only once',
    query: createAgentQuery,
    responses: {
      200: { description: 'The agent and its key', schema: newAgentRecord },
      400: { description: 'Not a valid name for an agent, or one agent too many' },
      403: { description: 'An agent cannot create agents' },
      409: { description: 'The caller has an agent of this name' },
    },
    async handle({ principal, query }, deps) {
      const agent = await createAgent(deps, principal, query.name);
      return { json: presentNewAgent(agent), headers: { 'cache-control': 'no-store' } };
    },
  }),
  get('/api/v1/agents/:agentId', 'getAgent', {
    summary: 'One own agent',
    params: agentParams,
    responses: { 200: { description: 'The agent', schema: agentRecord }, ...NOT_OWN },
    handle: async ({ principal, params }, deps) =>
      json(presentAgent(await getAgent(deps, principal.id, asId<UserId>(params.agentId)))),
  }),
  remove('/api/v1/agents/:agentId', 'deleteAgent', {
    summary: 'Delete an own agent with its keys and connections; its datasets go to the caller',
    params: agentParams,
    responses: { 200: { description: 'Deleted', schema: nothing }, ...NOT_OWN },
    async handle({ principal, params }, deps) {
      await deleteAgent(deps, principal.id, asId<UserId>(params.agentId));
      return json(null);
    },
  }),
);

/** An agent in camelCase, as in proto/http/auth-integrations.md §4.1. */
function presentAgent({ user, key }: Agent) {
  return {
    agentId: user.id,
    agentEmail: shownAgentAddress(user.email),
    apiKeyLabel: key === null ? null : maskedKey(key),
  };
}

/** The only answer that contains the key. */
function presentNewAgent({ user, keyText }: Agent & { readonly keyText: string }) {
  return { agentId: user.id, agentEmail: shownAgentAddress(user.email), agentApiKey: keyText };
}
