import { sha256 } from '../../common/kernel/hashes.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import { type RawDelivery, WebhookRefusedError, type WebhookSignal } from './connector.ts';
import { SUSPENDED } from './github-api.ts';
import { isSignature } from './signature.ts';

/** Checks the signature over the bytes as they came. What cannot be read or means nothing here says nothing. */
export function readDelivery(secret: string, { headers, body }: RawDelivery) {
  const given = headers['x-hub-signature-256'] ?? '';
  if (!given.startsWith('sha256=') || !isSignature(given.slice(7), secret, body)) {
    throw new WebhookRefusedError('Invalid GitHub signature');
  }
  const payload = (parseClientObject(Buffer.from(body).toString('utf8')) ?? {}) as Payload;
  const id = headers['x-github-delivery'] ?? sha256(body);
  const accountId = payload.installation?.id;
  const signals = accountId === undefined ? [] : signalsOf(headers['x-github-event'] ?? '', payload, String(accountId));
  return { id, signals };
}

interface Payload {
  readonly action?: string;
  readonly ref?: string;
  readonly installation?: { readonly id?: number };
  readonly repository?: { readonly id: number; readonly default_branch?: string };
  readonly issue?: { readonly number: number };
  readonly pull_request?: { readonly number: number };
  readonly discussion?: { readonly number: number };
}

const FOLLOWED = new Set([
  ...['installation', 'installation_repositories', 'repository', 'push', 'issues', 'issue_comment'],
  ...['member', 'membership', 'team'],
  ...['pull_request', 'pull_request_review', 'pull_request_review_comment'],
  ...['discussion', 'discussion_comment', 'gollum'],
]);

function signalsOf(event: string, payload: Payload, accountId: string): readonly WebhookSignal[] {
  const { action, repository, discussion, issue = payload.pull_request ?? discussion, ref } = payload;
  if (event === 'installation' && (action === 'deleted' || action === 'suspend')) {
    return [{ kind: 'revoked', accountId, reason: SUSPENDED }];
  }
  const isElsewhere = event === 'push' && ref !== `refs/heads/${repository?.default_branch}`;
  if (!FOLLOWED.has(event) || isElsewhere) return [];
  const changed: WebhookSignal = { kind: 'changed', accountId };
  const isGone = /^(issues|discussion)$/.test(event) && (action === 'deleted' || action === 'transferred');
  // GitHub does not count it as a change of the issue.
  const isStale = event.endsWith('_comment') && (action === 'deleted' || event === 'discussion_comment');
  if (!(isGone || isStale) || issue === undefined || repository === undefined) return [changed];
  const place = {
    resource: String(repository.id),
    feed: discussion === undefined ? 'issues' : 'discussions',
    key: String(issue.number),
  };
  return [changed, { kind: isGone ? 'gone' : 'stale', accountId, ...place }];
}
