import { createServer } from 'node:http';
import { answerAsleep } from './answer.ts';

/** `node operator/asleep/main.ts <port>`: stands in for the services of a hibernated Dedicated tenant, until a signal. */
const server = createServer(answerAsleep);
server.listen(Number(process.argv[2] ?? '8000'), '0.0.0.0');
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
  });
}
