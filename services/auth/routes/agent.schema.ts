import { z } from 'zod';
import { agentSlug } from '../../common/domain/agent-address.ts';
import { uuid } from '../../common/platform/http/schema.ts';

export const createAgentQuery = z.object({
  name: z.string().superRefine((name, context) => {
    const { problem } = agentSlug(name);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
});

export const agentParams = z.object({ agentId: uuid() });

export const newAgentRecord = z
  .object({ agentId: z.string(), agentEmail: z.string(), agentApiKey: z.string() })
  .meta({ id: 'AgentWithApiKeyDTO' });

export const agentRecord = z
  .object({
    agentId: z.string(),
    agentEmail: z.string(),
    apiKeyLabel: z.string().nullable(),
  })
  .meta({ id: 'AgentDTO' });
