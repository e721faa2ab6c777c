import { engramError } from '../../common/domain/errors.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Whether the hosted service accepts the key. `CloudApiKeyMissingError` (400) without one, `CloudConnnectionError` (503) otherwise. */
export async function checkConnection(
  { cloudApi }: AuthDependencies,
  key: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (key === undefined || key.trim() === '') {
    const text = 'Failed to connect to the cloud service. Please add your API key to the local instance.';
    throw engramError('CloudApiKeyMissingError', text);
  }
  await cloudApi.checkKey(key, signal);
}
