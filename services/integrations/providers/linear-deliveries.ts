import { sha256 } from '../../common/kernel/hashes.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import { QUESTION_JOB, type RawDelivery, WebhookRefusedError, type WebhookSignal } from './connector.ts';
import { isSignature } from './signature.ts';

export const REVOKED =
  'Linear no longer accepts the connection: the app was removed from the workspace. Connect it again.';
/** Deliveries that are older may be sent again by somebody who recorded them. */
const MAX_AGE_MS = 60_000;

interface Payload {
  readonly type?: string;
  readonly action?: string;
  readonly organizationId?: string;
  readonly webhookTimestamp?: number;
  readonly data?: {
    readonly id?: string;
    readonly teamId?: string;
    readonly issue?: {
      readonly id?: string;
      readonly teamId?: string;
      readonly team?: { readonly id?: string };
    } | null;
  };
  readonly updatedFrom?: { readonly teamId?: string };
  readonly agentSession?: {
    readonly id?: string;
    readonly comment?: { readonly body?: string } | null;
    readonly issue?: { readonly title?: string; readonly description?: string | null } | null;
  };
  readonly agentActivity?: { readonly content?: { readonly body?: string }; readonly signal?: string | null } | null;
}

/** Checks the signature over the bytes as they came, and their age. What cannot be read or means nothing here says nothing. */
export function readDelivery(secret: string, { headers, body }: RawDelivery) {
  if (!isSignature(headers['linear-signature'] ?? '', secret, body)) {
    throw new WebhookRefusedError('Invalid Linear signature');
  }
  const payload = (parseClientObject(Buffer.from(body).toString('utf8')) ?? {}) as Payload;
  const age = Date.now() - Number(payload.webhookTimestamp);
  if (!(Math.abs(age) <= MAX_AGE_MS)) throw new WebhookRefusedError('Stale Linear webhook timestamp');
  const { organizationId: accountId } = payload;
  const signals = typeof accountId === 'string' ? signalsOf(payload, accountId) : [];
  return { id: headers['linear-delivery'] ?? sha256(body), signals };
}

function signalsOf(payload: Payload, accountId: string): readonly WebhookSignal[] {
  const { type, action, data, updatedFrom } = payload;
  if (type === 'OAuthApp' && action === 'revoked') return [{ kind: 'revoked', accountId, reason: REVOKED }];
  if (type === 'AgentSessionEvent') {
    const conversation = payload.agentSession?.id;
    const question = questionOf(payload);
    if (conversation === undefined || question === '') return [];
    return [{ kind: 'task', accountId, job: { kind: QUESTION_JOB, payload: { conversation, question } } }];
  }
  const changed: WebhookSignal = { kind: 'changed', accountId };
  const isRemoved = action === 'remove';
  const issue = (kind: 'gone' | 'stale', resource?: string, key?: string): readonly WebhookSignal[] =>
    resource === undefined || key === undefined ? [] : [{ kind, accountId, resource, feed: 'issues', key }];
  switch (type) {
    case 'Issue':
      return [changed, ...issue('gone', isRemoved ? data?.teamId : updatedFrom?.teamId, data?.id)];
    case 'Comment': {
      // An issue does not change when a comment goes.
      const { issue: about } = data ?? {};
      return [changed, ...(isRemoved ? issue('stale', about?.teamId ?? about?.team?.id, about?.id) : [])];
    }
    case 'Project':
      return [changed];
    default:
      return [];
  }
}

const MENTION = /^\s*(\[@[^\]]*\]\([^)]*\)|@\S+)[\s:,]*/;

/** The words of who mentioned the app or wrote to it again; an issue that is given to it is a question itself. Empty: none. */
function questionOf({ action, agentSession, agentActivity }: Payload): string {
  if (action === 'prompted') {
    // To stop it is no question, and an answer does not take long.
    return agentActivity?.signal === 'stop'
      ? ''
      : String(agentActivity?.content?.body ?? '')
          .replace(MENTION, '')
          .trim();
  }
  if (action !== 'created') return '';
  const { comment, issue } = agentSession ?? {};
  const asked = String(comment?.body ?? '')
    .replace(MENTION, '')
    .trim();
  return asked === '' ? [issue?.title, issue?.description].filter(Boolean).join('\n\n') : asked;
}
