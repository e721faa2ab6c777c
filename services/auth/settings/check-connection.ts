import { engramError } from '../../common/kernel/errors.ts';
import { apiKeyHash } from '../credentials/api-key-text.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * Whether the hosted service accepts the key. A key of this server stays here: it counts as none. `CloudApiKeyMissingError`
 * (400) without one, `CloudConnnectionError` (503) otherwise.
 */
export async function checkConnection(
  { apiKeys, cloudApi }: Pick<AuthDependencies, 'apiKeys' | 'cloudApi'>,
  sent: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const key = sent?.trim() ?? '';
  if (key === '' || (await apiKeys.findByHash(apiKeyHash(key))) !== null) {
    const text = 'Failed to connect to the cloud service. Please add your API key to the local instance.';
    throw engramError('CloudApiKeyMissingError', text);
  }
  await cloudApi.checkKey(key, signal);
}
