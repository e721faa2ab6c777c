import { InvalidGrantError } from '../credentials/token-endpoint.ts';
import { type RawDelivery, SourceBusyError, SourceRevokedError, WebhookRefusedError, waitMsOf } from './connector.ts';
import { isSignature } from './signature.ts';

/** Calls methods of Slack's Web API. */
export interface SlackApi {
  /** Errors: `SourceBusyError`, `SourceRevokedError`, `SlackRefusedError`, and those of the network. */
  request<T>(
    method: string,
    parameters: object,
    options: { readonly token?: string; readonly signal: AbortSignal },
  ): Promise<T>;
  /** Reads a file of Slack; null when it may not be read, or is not there. */
  download(url: string, options: { readonly token: string; readonly signal: AbortSignal }): Promise<Uint8Array | null>;
  /** Answers a command or a button at the address that came with it. */
  respond(responseUrl: string, message: object, signal: AbortSignal): Promise<void>;
}

/** Slack answered `ok: false`. */
export class SlackRefusedError extends Error {
  override readonly name = 'SlackRefusedError';
  readonly code: string;
  constructor(code: string, options?: ErrorOptions) {
    super(REMEDIES.get(code) ?? `Slack refused: ${code}.`, options);
    this.code = code;
  }
}

const REMEDIES = new Map([
  ['not_in_channel', 'Slack refused: the app is not in the channel. Write /invite with its name there.'],
  ['missing_scope', 'Slack refused: the app lacks a scope. Install it again.'],
  ['channel_not_found', 'Slack refused: the app does not see the channel. Invite it there first.'],
]);
const REVOKED = /^(token_revoked|account_inactive|invalid_auth|not_authed|app_uninstalled|team_access_not_granted)$/;
const BAD_GRANT = /^(invalid_refresh_token|invalid_grant_type|bad_refresh_token|invalid_grant)$/;
const TIMEOUT_MS = 30_000;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Age of a signed request that is accepted, in seconds. */
const WINDOW_SECONDS = 300;

export const SLACK_ENDED = 'The Slack app was uninstalled or its access was revoked. Install it again to go on.';

/** `apiUrl` ends with a slash, as `https://slack.com/api/` does. The client is loaded with the first call. */
export function createSlackApi({ apiUrl }: { readonly apiUrl: string }): SlackApi {
  return {
    async request<T>(method: string, parameters: object, { token, signal }: Parameters<SlackApi['request']>[2]) {
      const { WebClient, LogLevel } = await import('@slack/web-api');
      const client = new WebClient(token, {
        slackApiUrl: apiUrl,
        allowAbsoluteUrls: false,
        logLevel: LogLevel.ERROR,
        logger: SILENT,
        // Waiting is the job's, which outlives this process; so is trying again.
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 0 },
        fetch: (url, init) => fetch(url, { ...init, signal: limited(signal) }),
      });
      try {
        return (await client.apiCall(method, { ...parameters })) as T;
      } catch (error) {
        throw signal.aborted ? signal.reason : translated(error);
      }
    },
    async download(url, { token, signal }) {
      if (!isOfSlack(url, apiUrl)) return null;
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(url, { headers, signal: limited(signal) });
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
      const size = Number(response.headers.get('content-length') ?? 0);
      // Without the scope, Slack sends its sign-in page instead.
      if (!response.ok || size > MAX_FILE_BYTES || isPage) {
        await response.body?.cancel();
        if (response.status === 429) throw busy(response.headers.get('retry-after'));
        return null;
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      return bytes.byteLength > MAX_FILE_BYTES ? null : bytes;
    },
    async respond(responseUrl, message, signal) {
      if (!isOfSlack(responseUrl, apiUrl)) throw new Error('The address to answer at is none of Slack.');
      const headers = { 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify(message), redirect: 'error' as const };
      const response = await fetch(responseUrl, { ...sent, signal: limited(signal) });
      await response.body?.cancel();
      if (response.status === 429) throw busy(response.headers.get('retry-after'));
      // An address is good for half an hour and five answers: later there is nobody to tell.
      if (response.status >= 500) throw new Error(`Slack answered with status ${response.status}.`);
    },
  };
}

/** Checks the signature of a request over the bytes as they came. */
export function verifySlack(signingSecret: string, { headers, body }: RawDelivery, now: Date): void {
  const timestamp = headers['x-slack-request-timestamp'] ?? '';
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(timestamp));
  const signed = Buffer.concat([Buffer.from(`v0:${timestamp}:`), body]);
  const [, given = ''] = /^v0=(.*)$/.exec(headers['x-slack-signature'] ?? '') ?? [];
  const isRight = isSignature(given, signingSecret, signed);
  if (!isRight || !/^\d+$/.test(timestamp) || ageSeconds > WINDOW_SECONDS) {
    throw new WebhookRefusedError('Invalid Slack signature');
  }
}

const SILENT = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  setName: () => {},
  getLevel: () => 'error' as never,
};

function limited(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
}

/** Whether an address is one of Slack, or of the server that stands for it. */
function isOfSlack(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, origin } = new URL(address);
  const isSlack = protocol === 'https:' && /(^|\.)(slack\.com|slack-gov\.com|slack-files\.com)$/.test(hostname);
  return isSlack || origin === new URL(apiUrl).origin;
}

interface ClientError extends Error {
  readonly code?: string;
  readonly retryAfter?: number;
  readonly data?: { readonly error?: string };
  readonly statusCode?: number;
}

function translated(error: unknown): unknown {
  const { code, retryAfter, data } = error as ClientError;
  if (code === 'slack_webapi_rate_limited_error' || data?.error === 'ratelimited') return busy(retryAfter, error);
  const refusal = data?.error;
  if (refusal === undefined) return error;
  if (REVOKED.test(refusal)) return new SourceRevokedError(SLACK_ENDED, { cause: error });
  if (BAD_GRANT.test(refusal)) return new InvalidGrantError('Slack does not accept the refresh token.');
  return new SlackRefusedError(refusal, { cause: error });
}

function busy(retryAfter: string | number | null | undefined, cause?: unknown): SourceBusyError {
  return new SourceBusyError(waitMsOf(retryAfter, 1000), { cause });
}
