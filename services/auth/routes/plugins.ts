import { z } from 'zod';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import type { AgentConnectionDependencies } from '../agents/agent-connections.ts';
import { provisionPlugin, revokePlugin } from '../agents/plugins.ts';

const params = z.object({ pluginKey: z.string() });
const permission = ofAccount('agents');

const { routes, post, remove } = routesOf<AgentConnectionDependencies>({ tag: 'integrations', permission });

/** Agents for programs that are connected. */
export const pluginRoutes = routes(
  post('/api/v1/integrations/plugins/:pluginKey/provision', 'provisionPlugin', {
    summary: 'Give a plugin an agent with a new API key, which is shown only once',
    params,
    responses: {
      200: {
        description: 'The agent and its key; older keys have ended',
        schema: z.object({
          pluginKey: z.string(),
          agentId: z.string(),
          apiKey: z.string(),
          created: z.boolean(),
        }),
      },
      403: { description: 'An agent cannot provision plugins' },
      404: { description: 'No such plugin' },
    },
    async handle({ principal, params: { pluginKey } }, deps) {
      const made = await provisionPlugin(deps, principal, pluginKey);
      return { json: made, headers: { 'cache-control': 'no-store' } };
    },
  }),
  remove('/api/v1/integrations/plugins/:pluginKey', 'revokePlugin', {
    summary: 'End the keys of a plugin; its agent and data stay',
    params,
    responses: {
      200: { description: 'False: it was never provisioned', schema: z.object({ disconnected: z.boolean() }) },
      404: { description: 'No such plugin' },
    },
    handle: async ({ principal, params: { pluginKey } }, deps) =>
      json({ disconnected: await revokePlugin(deps, principal, pluginKey) }),
  }),
);
