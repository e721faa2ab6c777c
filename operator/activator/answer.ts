import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isUnattended } from '../../services/common/domain/unattended-requests.ts';

/** `Retry-After` when the tenant must be declared active first. */
const ASK_AGAIN_SECONDS = 30;

/** `Retry-After` while the services start. */
const WAKING_SECONDS = 5;

const BODY = JSON.stringify({ detail: 'This tenant is hibernated or waking up; ask again later.' });

/**
 * Answers requests for a hibernated Dedicated tenant with 503, and its own probes with 200. Calls `wake` after a request that
 * has a credential or signs in; undefined when requests do not wake the tenant. Only the tenant's own auth can check the
 * credential, once it runs.
 */
export function createActivatorListener(
  wake?: () => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { method, url = '', headers } = request;
    request.resume();
    if (url === '/livez' || url === '/readyz') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
      return;
    }
    response.writeHead(503, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(BODY),
      'retry-after': String(wake === undefined ? ASK_AGAIN_SECONDS : WAKING_SECONDS),
    });
    response.end(method === 'HEAD' ? undefined : BODY);
    if (wake !== undefined && isWakeRequest(method ?? '', url, headers)) response.once('close', wake);
  };
}

/** Whether a request wakes the tenant; those that an open page repeats by itself do not. */
function isWakeRequest(
  method: string,
  url: string,
  { authorization = '', cookie = '', 'x-api-key': key = '' }: IncomingHttpHeaders,
): boolean {
  if (isUnattended(method, url.split('?', 1)[0] ?? '')) return false;
  return authorization !== '' || cookie !== '' || key !== '' || url.startsWith('/api/v1/auth/');
}

/**
 * Exit code of the activator when a request wakes the tenant. The activator has no access to the API server; the kubelet
 * keeps the code in the status of the pod, where the operator finds it, also later.
 */
export const WAKE_REQUESTED_EXIT_CODE = 86;
