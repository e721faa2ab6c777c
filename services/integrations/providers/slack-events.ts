import { sha256 } from '../../common/kernel/hashes.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import type { RawDelivery } from './connector.ts';
import { SLACK_ENDED, verifySlack } from './slack-api.ts';

/** Kind of the jobs that answer Slack: see `slack/tasks.ts`. */
export const SLACK_TASK = 'slack_task';

interface EventPayload {
  readonly type?: string;
  readonly challenge?: string;
  readonly team_id?: string;
  readonly enterprise_id?: string | null;
  readonly is_enterprise_install?: boolean | string;
  readonly event_id?: string;
  readonly authorizations?: readonly { readonly is_enterprise_install?: boolean }[];
  readonly event?: {
    readonly type?: string;
    readonly user?: string | { readonly deleted?: boolean };
    readonly tokens?: { readonly bot?: readonly string[] };
  };
}

/** The account that a payload is about: the organisation where the app is installed for all of it. */
export function accountIdOf(
  payload: Pick<EventPayload, 'team_id' | 'enterprise_id' | 'is_enterprise_install'>,
): string {
  const isOfAll = String(payload.is_enterprise_install) === 'true';
  return (isOfAll ? payload.enterprise_id : payload.team_id) ?? payload.team_id ?? '';
}

/** Somebody, or the app, came into a channel or left it. */
const MEMBERSHIP = /^(member_joined_channel|member_left_channel|channel_left|group_left)$/;

/** What cannot be read or means nothing here says nothing. */
export function readEvent(secret: string, delivery: RawDelivery) {
  verifySlack(secret, delivery, new Date());
  const payload = (parseClientObject(Buffer.from(delivery.body).toString('utf8')) ?? {}) as EventPayload;
  const { type, challenge, event = {}, event_id: id = sha256(delivery.body), authorizations } = payload;
  if (type === 'url_verification') return { id, signals: [], answer: { challenge: String(challenge ?? '') } };
  const isOfAll = payload.is_enterprise_install ?? authorizations?.[0]?.is_enterprise_install ?? false;
  const accountId = accountIdOf({ ...payload, is_enterprise_install: isOfAll });
  // A token of a person alone is none of ours.
  const isRevoked = event.type === 'tokens_revoked' && event.tokens?.bot?.length !== 0;
  if (event.type === 'app_uninstalled' || isRevoked) {
    return { id, signals: [{ kind: 'revoked' as const, accountId, reason: SLACK_ENDED }] };
  }
  const { user } = event;
  const isOfPeople = event.type === 'team_join' || (typeof user === 'object' && user.deleted === true);
  if (isOfPeople || MEMBERSHIP.test(event.type ?? '')) return { id, signals: [{ kind: 'access' as const, accountId }] };
  if (event.type !== 'app_home_opened' || typeof user !== 'string') return { id, signals: [] };
  const job = { kind: SLACK_TASK, payload: { task: 'home', slackUser: user } };
  return { id, signals: [{ kind: 'task' as const, accountId, job }] };
}
