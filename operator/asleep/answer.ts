import type { IncomingMessage, ServerResponse } from 'node:http';

/** Somebody has to declare the tenant active first; how long that takes is not ours to know. */
const ASK_AGAIN_SECONDS = 30;

const BODY = JSON.stringify({ detail: 'This tenant is hibernated or waking up; ask again later.' });

/** What requests for a hibernated Dedicated tenant are told; to its own probes it is alive and ready. */
export function answerAsleep(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.url === '/livez' || request.url === '/readyz') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    return;
  }
  response.writeHead(503, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(BODY),
    'retry-after': String(ASK_AGAIN_SECONDS),
  });
  response.end(request.method === 'HEAD' ? undefined : BODY);
}
