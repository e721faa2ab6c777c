import type { Tokens } from '../providers/connector.ts';

const TIMEOUT_MS = 30_000;

/** The provider does not accept the code or the refresh token, now or later. */
export class InvalidGrantError extends Error {
  override readonly name = 'InvalidGrantError';
}

/**
 * Asks the token endpoint of an OAuth 2 provider (RFC 6749, sections 4.1.3 and 6). A refresh token that the answer does not
 * replace stays. Nothing of the answer is in an error but its error code.
 */
export async function requestTokens(
  endpoint: { readonly url: string; readonly clientId: string; readonly clientSecret: string },
  grant: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Tokens & { readonly scopes: readonly string[] }> {
  const { url, clientId, clientSecret } = endpoint;
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const answer = (await response.json().catch(() => ({}))) as TokenAnswer;
  if (answer.error === 'invalid_grant') throw new InvalidGrantError('The provider answered invalid_grant.');
  if (!response.ok || typeof answer.access_token !== 'string') {
    throw new Error(
      `The token endpoint answered with status ${response.status}${answer.error ? ` (${answer.error})` : ''}.`,
    );
  }
  const seconds = Number(answer.expires_in);
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? grant['refresh_token'] ?? null,
    expiresAt: Number.isFinite(seconds) ? new Date(Date.now() + seconds * 1000).toISOString() : null,
    scopes: [answer.scope ?? '']
      .flat()
      .join(' ')
      .split(/[ ,]+/)
      .filter((scope) => scope !== ''),
  };
}

interface TokenAnswer {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number | string;
  /** A list at some providers. */
  readonly scope?: string | readonly string[];
  readonly error?: string;
}
