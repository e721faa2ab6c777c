import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createActivatorListener, WAKE_REQUESTED_EXIT_CODE } from './answer.ts';

/**
 * `node operator/activator/main.ts <port> [OnRequest <file>]`: answers in place of the services of a hibernated Dedicated
 * tenant, until a signal; with `OnRequest`, until a request wakes the tenant. It exits for that only once: the file, which
 * outlives the process, tells the next one. After a quarter of an hour it exits again, because another exit may have
 * replaced the code while no operator ran.
 */
const [port = '8000', wake, file = ''] = process.argv.slice(2);

const server = createServer(createActivatorListener(wake === 'OnRequest' ? requestWake : undefined));
server.listen(Number(port), '0.0.0.0');
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
  });
}

/** Longer than ten minutes, after which the kubelet restarts a process without back-off. */
const AGAIN_MS = 15 * 60_000;

function requestWake(): void {
  const requestedAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (requestedAtMs !== undefined && Date.now() - requestedAtMs < AGAIN_MS) return;
  writeFileSync(file, '');
  process.exit(WAKE_REQUESTED_EXIT_CODE);
}
