import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isUnattended } from '../../services/common/domain/unattended-requests.ts';

/** Somebody has to declare the tenant active first; how long that takes is not ours to know. */
const ASK_AGAIN_SECONDS = 30;

/** As long as services take to start. */
const WAKING_SECONDS = 5;

const BODY = JSON.stringify({ detail: 'This tenant is hibernated or waking up; ask again later.' });

/**
 * What requests for a hibernated Dedicated tenant are told; to its own probes it is alive and ready. `ring` is called once a
 * request was answered that shows a credential, or wants to get one; undefined where no request wakes the tenant. Whether the
 * credential is valid only the tenant's own auth knows, when it runs.
 */
export function createAsleepListener(ring?: () => void): (request: IncomingMessage, response: ServerResponse) => void {
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
      'retry-after': String(ring === undefined ? ASK_AGAIN_SECONDS : WAKING_SECONDS),
    });
    response.end(method === 'HEAD' ? undefined : BODY);
    if (ring !== undefined && wakes(method ?? '', url, headers)) response.once('close', ring);
  };
}

/** What an open page asks for by itself wakes nobody. */
function wakes(
  method: string,
  url: string,
  { authorization = '', cookie = '', 'x-api-key': key = '' }: IncomingHttpHeaders,
): boolean {
  if (isUnattended(method, url.split('?', 1)[0] ?? '')) return false;
  return authorization !== '' || cookie !== '' || key !== '' || url.startsWith('/api/v1/auth/');
}

/**
 * With this the process ends that stands in for a hibernated tenant when a request is to wake it. It has no right to tell the
 * API server anything; the kubelet keeps the code in the status of the pod, where the operator finds it, also later.
 */
export const WAKE_REQUESTED_EXIT_CODE = 86;
