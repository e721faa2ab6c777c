/** A worker for the tests of `worker-client.ts`. */

import { engramError } from '../../services/common/kernel/errors.ts';
import { serveParent } from '../../services/common/storage/indexes/sqlite/worker-host.ts';

const begun: unknown[] = [];

const methods = {
  echo: (path: string, argument: unknown) => ({ path, argument }),
  /** Blocks the thread. */
  sleep: (_: string, forMs: number) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
  },
  note: (_: string, argument: unknown) => begun.push(argument),
  noted: (_: string, __: null) => begun,
  fail: (path: string, message: string) => {
    throw engramError('NoDataError', `${path}: ${message}`);
  },
  crash: (_: string, __: null) => {
    setImmediate(() => {
      throw new Error('crashed');
    });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  },
  exit: (_: string, __: null) => process.exit(3),
};

export type EchoMethods = typeof methods;

serveParent({
  handle: (requests) =>
    requests.map(({ method, path, argument }) => () => {
      const run = methods[method as keyof EchoMethods] as (path: string, argument: unknown) => unknown;
      return run(path, argument);
    }),
  close() {},
});
