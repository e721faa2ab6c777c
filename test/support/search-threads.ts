import { isMainThread, MessageChannel, type MessagePort, parentPort, Worker } from 'node:worker_threads';
import { searchForParent } from '../../services/app/stores/search-worker.ts';
import type { StartThread, Thread } from '../../services/common/storage/indexes/sqlite/worker-client.ts';

let shared: Worker | null = null;

/** One thread in which all servers of a test process search: each thread reads the words and models for itself. */
export const startSharedSearchThread: StartThread = (_module, data) => {
  shared ??= startOne();
  const { port1, port2 } = new MessageChannel();
  shared.postMessage({ data, port: port2 }, [port2]);
  const exited = () => void port1.emit('exit', 0);
  port1.once('close', exited);
  const terminate = async () => {
    port1.close();
    return 0;
  };
  return Object.assign(port1, { terminate }) as unknown as Thread;
};

function startOne(): Worker {
  const made = new Worker(new URL(import.meta.url));
  made.unref();
  made.on('exit', () => {
    if (shared === made) shared = null;
  });
  return made;
}

if (!isMainThread) {
  parentPort?.on('message', ({ data, port }: { data: never; port: MessagePort }) => searchForParent(data, port));
}
