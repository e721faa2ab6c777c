import type { UserId } from '../kernel/brand.ts';
import { AGENT_DOMAIN } from './email-address.ts';

type AgentName =
  | { readonly slug: string; readonly problem?: never }
  | { readonly slug?: never; readonly problem: string };

/**
 * Characters that end an address or hide in one: RFC 5322 specials, blanks (single spaces have become hyphens) and characters that
 * cannot be seen. The reference takes the empty name and answers 500 for most of the others; an agent that has no name, or
 * one that looks like another's, could not be distinguished in the list of agents, the audit log and the grants.
 */
const UNUSABLE = /[\s\p{C}()<>[\]:;@\\,"]/u;
/** Bytes that the parent's id and the domain leave of RFC 5321's 254. */
const MAX_SLUG_BYTES = 200;

/** The wire's rule for the name of an agent: lower case, spaces as hyphens. */
export function agentSlug(name: string): AgentName {
  if (name.trim() === '') return { problem: 'The name of an agent must not be blank.' };
  const slug = name.toLowerCase().replaceAll(' ', '-');
  if (UNUSABLE.test(slug) || slug.startsWith('.') || slug.includes('..')) {
    return {
      problem:
        'The name of an agent must be usable in an email address: no control characters, blanks but single spaces, or any of ()<>[]:;@\\,", and no period at the start or beside another.',
    };
  }
  if (Buffer.byteLength(slug) > MAX_SLUG_BYTES) {
    return { problem: `The name of an agent must not be longer than ${MAX_SLUG_BYTES} bytes.` };
  }
  return { slug };
}

/** The address is unique on the server, the slug among the agents of one parent. */
export function agentAddress(slug: string, parent: UserId): string {
  return `${slug}+${parent}@${AGENT_DOMAIN}`;
}

/** The address as it is shown: without its parent. */
export function shownAgentAddress(address: string): string {
  return address.replace(/\+[0-9a-f-]{36}(?=@[^@]*$)/, '');
}
