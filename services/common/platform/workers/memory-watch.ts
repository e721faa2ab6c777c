import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

// Ends its process before that takes more memory than it may. In a thread of its own: the other one may not come to it for
// minutes. The whole resident memory counts: heap, buffers, compiled code, what libraries allocate.
const { memoryBytes, isBusy } = workerData as { readonly memoryBytes: number; readonly isBusy: Int32Array };

const INTERVAL_MS = 5;
/** Memory that can be used between two looks. */
const MARGIN_BYTES = Math.min(memoryBytes / 8, 32 * 1024 * 1024);
const pause = new Int32Array(new SharedArrayBuffer(4));
const parent = process.ppid;
parentPort?.postMessage('watching');

for (;;) {
  Atomics.wait(isBusy, 0, 0);
  if (process.memoryUsage.rss() > memoryBytes - MARGIN_BYTES) end('memory limit');
  // A process that is stuck in its work does not see that its parent is gone.
  if (process.ppid !== parent) end('parent gone');
  Atomics.wait(pause, 0, 0, INTERVAL_MS);
}

function end(reason: string): void {
  try {
    writeSync(2, `${reason}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
