import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { ActiveAccount } from '../items/active-accounts.ts';

type Row = Readonly<Record<string, unknown>>;

/** So long after its last activity an account counts as live. */
const LIVE_MS = 30 * 60 * 1000;

/** As ingest.md §8.3 has it. */
export function presentActiveAccount(
  { user, keyCount, lastActive }: ActiveAccount,
  { now, defaultEmail }: { readonly now: Date; readonly defaultEmail: string },
): Row {
  const isDefault = user.email === defaultEmail;
  const [localPart = ''] = shownAgentAddress(user.email).split('@');
  const isAgent = user.parentId !== null;
  return {
    id: user.id,
    email: shownAgentAddress(user.email),
    agent_type: isDefault ? 'Human User' : isAgent ? localPart.replaceAll(/[-_]/g, ' ') : localPart,
    agent_short_id: user.parentId ?? '',
    is_agent: isAgent,
    is_default: isDefault,
    status: statusOf(lastActive, now),
    api_key_count: keyCount,
    created_at: user.createdAt,
    last_active: lastActive,
  };
}

export function presentAccount({ id, email, isSuperuser, createdAt }: User): Row {
  return { id, email: shownAgentAddress(email), is_superuser: isSuperuser, created_at: createdAt };
}

function statusOf(lastActive: string | null, now: Date): string {
  if (lastActive === null) return 'NEVER_CONNECTED';
  return now.getTime() - Date.parse(lastActive) < LIVE_MS ? 'LIVE' : 'INACTIVE';
}
