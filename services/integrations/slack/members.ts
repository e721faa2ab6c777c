import type { Principal } from '../../common/kernel/principal.ts';
import { nameConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { NOTHING_IMPORTED } from '../../common/records/integrations/connections.ts';
import { type Connecting, connectingOf, isOfAccount, RESUMED } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { SLACK_MEMBER } from '../providers/providers.ts';
import { isSignature, signatureOf } from '../providers/signature.ts';

const LIFETIME_SECONDS = 600;
/** Signed with a code: the state of an install, which has the same secret, is none. */
const PURPOSE = 'slack-link:';
const INVALID = 'The link is invalid or has expired. Write /cognee-link in Slack for a new one.';

/** Whose memory somebody in Slack uses: that of the linked account, or of the installer; null: nobody's. */
export async function ownerOf(
  { connections }: SourceDependencies,
  team: SourceConnection,
  slackUser: string,
): Promise<Connecting | null> {
  const links = await connections.ofAccount(SLACK_MEMBER, `${team.accountId}:${slackUser}`);
  const link = links.find(({ status }) => status === 'active');
  const owner = link ?? (isInstaller(team, slackUser) ? team : null);
  return owner === null ? null : { userId: owner.userId, tenant: owner.tenant, keyId: owner.keyId };
}

export function isInstaller({ metadata }: SourceConnection, slackUser: string): boolean {
  return slackUser !== '' && metadata['installed_by_slack_user_id'] === slackUser;
}

/** A code that links somebody in Slack to the account that brings it back within ten minutes. */
export function linkCode(
  secret: string,
  { team, slackUser, now }: { readonly team: string; readonly slackUser: string; readonly now: Date },
) {
  const signed = `${team}:${slackUser}:${Math.floor(now.getTime() / 1000) + LIFETIME_SECONDS}`;
  return `${signed}:${signatureOf(secret, Buffer.from(`${PURPOSE}${signed}`))}`;
}

/** Links the account of Slack that a code names to the caller. 400 for a wrong or old code, 409 when it is another user's. */
export async function linkMember(
  dependencies: SourceDependencies,
  principal: Principal,
  { code, secret }: { readonly code: string; readonly secret: string },
): Promise<void> {
  const { connections, audit, clock, ids } = dependencies;
  const now = clock.now();
  const accountId = accountOfCode(secret, code, now);
  const [team = '', slackUser = ''] = accountId?.split(':') ?? [];
  const teams = accountId === null ? [] : await connections.ofAccount('slack', team);
  const connected = teams.find((one) => one.status === 'active' && isOfAccount(one));
  if (accountId === null || connected === undefined) throw new HttpError(400, { detail: INVALID });
  const owner = connectingOf(principal);
  const known = await connections.ofAccount(SLACK_MEMBER, accountId);
  const isOwn = ({ userId, tenant }: SourceConnection) => userId === owner.userId && tenant === owner.tenant;
  const taken = new HttpError(409, { detail: 'That account of Slack is linked to another account of this server.' });
  if (known.some((one) => one.status === 'active' && !isOwn(one))) throw taken;
  const before = known.find(isOwn) ?? null;
  const at = now.toISOString();
  const link: Omit<SourceConnection, 'version'> = {
    id: before?.id ?? ids.uuid(),
    provider: SLACK_MEMBER,
    accountId,
    ...owner,
    authType: 'none',
    scopes: [],
    accountLabel: `${slackUser} of ${connected.accountLabel}`,
    metadata: {},
    ...RESUMED,
    selection: [],
    dataset: null,
    datasetName: 'slack',
    ...NOTHING_IMPORTED,
    createdAt: before?.createdAt ?? at,
    connectedAt: at,
  };
  const { tenant, userId: actor } = owner;
  const details = { provider: SLACK_MEMBER };
  const write = connections.putWrite(link, JSON.stringify([SLACK_MEMBER, accountId]), before);
  const entry = { tenant, action: 'source.connected', actor, subject: link.id, details };
  await nameConflict(audit.commit({ tenant }, [write], [entry]), { duplicate: () => taken });
}

/** `<team>:<slack user>` of a code that this server signed and that is not too old; else null. */
function accountOfCode(secret: string, code: string, now: Date): string | null {
  const end = code.lastIndexOf(':');
  const signed = code.slice(0, Math.max(0, end));
  if (!isSignature(code.slice(end + 1), secret, Buffer.from(`${PURPOSE}${signed}`))) return null;
  const [team = '', slackUser = '', expiry = ''] = signed.split(':');
  return Number(expiry) * 1000 >= now.getTime() ? `${team}:${slackUser}` : null;
}
