import { engramError } from '../../kernel/errors.ts';
import type { CloudApi } from '../../ports/cloud-api.ts';

interface HttpCloudApiOptions {
  /** `COGNEE_CLOUD_API_URL`, without a slash at its end. */
  readonly baseUrl: string;
  /** Time limit from the call until the status; default 5 000. */
  readonly timeoutMs?: number;
}

/** Over HTTP. Redirects are not followed: they would carry the key to wherever they point. */
export function createHttpCloudApi({ baseUrl, timeoutMs = 5_000 }: HttpCloudApiOptions): CloudApi {
  return {
    async checkKey(key, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      let response: Response;
      try {
        response = await fetch(`${baseUrl}/api/api-keys/check`, {
          method: 'POST',
          headers: { 'x-api-key': key },
          redirect: 'manual',
          signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        });
        await response.body?.cancel();
      } catch (cause) {
        signal?.throwIfAborted();
        const reason = deadline.aborted
          ? `it did not answer within ${timeoutMs / 1000} seconds`
          : 'it cannot be reached';
        throw engramError('CloudConnnectionError', failed(reason), { cause });
      }
      if (response.status !== 200) {
        throw engramError('CloudConnnectionError', failed(`it answered with status ${response.status}`));
      }
    },
  };
}

function failed(reason: string): string {
  return `Failed to connect to the cloud instance: ${reason}.`;
}
