import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createAsleepListener, WAKE_REQUESTED_EXIT_CODE } from './answer.ts';

/**
 * `node operator/activator/main.ts <port> [OnRequest <file>]`: stands in for the services of a hibernated Dedicated tenant, until a
 * signal; with `OnRequest`, until a request is to wake the tenant. That is told once: the file, which outlives the process,
 * says to the next one that it was. Much later it is told again: while no operator ran, another end may have covered the first.
 */
const [port = '8000', wake, file = ''] = process.argv.slice(2);

const server = createServer(createAsleepListener(wake === 'OnRequest' ? ring : undefined));
server.listen(Number(port), '0.0.0.0');
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
  });
}

/** The kubelet restarts at once what ran for ten minutes. */
const AGAIN_MS = 15 * 60_000;

function ring(): void {
  const rungAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (rungAtMs !== undefined && Date.now() - rungAtMs < AGAIN_MS) return;
  writeFileSync(file, '');
  process.exit(WAKE_REQUESTED_EXIT_CODE);
}
