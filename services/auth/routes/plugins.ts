import { z } from 'zod';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { ofAccount } from '../../common/platform/http/route-permission.ts';
import type { AgentConnectionDependencies } from '../agents/agent-connections.ts';
import { provisionPlugin, revokePlugin } from '../agents/plugins.ts';

const params = z.object({ pluginKey: z.string() });
const tag = 'integrations';
const permission = ofAccount('agents');

/** Agents for programs that are connected. */
export function pluginRoutes(deps: AgentConnectionDependencies): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/integrations/plugins/:pluginKey/provision',
      tag,
      operationId: 'provisionPlugin',
      summary: 'Give a plugin an agent with a new API key, which is shown only once',
      auth: 'user',
      permission,
      params,
      responses: {
        200: {
          description: 'The agent and its key; older keys have ended',
          schema: z.object({
            ...{ pluginKey: z.string(), agentId: z.string(), apiKey: z.string(), created: z.boolean() },
          }),
        },
        403: { description: 'An agent cannot provision plugins' },
        404: { description: 'No such plugin' },
      },
      async handle({ principal, params: { pluginKey } }) {
        const made = await provisionPlugin(deps, principal, pluginKey);
        return { json: made, headers: { 'cache-control': 'no-store' } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/integrations/plugins/:pluginKey',
      tag,
      operationId: 'revokePlugin',
      summary: 'End the keys of a plugin; its agent and data stay',
      auth: 'user',
      permission,
      params,
      responses: {
        200: { description: 'False: it was never provisioned', schema: z.object({ disconnected: z.boolean() }) },
        404: { description: 'No such plugin' },
      },
      async handle({ principal, params: { pluginKey } }) {
        return json({ disconnected: await revokePlugin(deps, principal, pluginKey) });
      },
    }),
  ];
}
