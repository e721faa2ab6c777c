import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import type { Agent } from '../agents/agents.ts';
import { maskedKey } from './api-key.ts';

/** camelCase, as auth-integrations.md §4.1. */
export function presentAgent({ user, key }: Agent) {
  return {
    agentId: user.id,
    agentEmail: shownAgentAddress(user.email),
    apiKeyLabel: key === null ? null : maskedKey(key),
  };
}

/** The one time that the key is shown. */
export function presentNewAgent({ user, keyText }: Agent & { readonly keyText: string }) {
  return { agentId: user.id, agentEmail: shownAgentAddress(user.email), agentApiKey: keyText };
}
