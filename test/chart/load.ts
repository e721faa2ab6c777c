import { setTimeout as wait } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';

export type LoadRequest = readonly [method: string, path: string, body?: unknown];

interface Load {
  /** Resolves when so many more were answered well, or one was not. */
  answered(count: number): Promise<void>;
  stop(): Promise<{ readonly answers: number; readonly failures: readonly string[] }>;
}

/** Sends the requests in turn, four at a time, each after the one before. `clientOf` may answer another one each time. */
export function startLoad(clientOf: () => ApiClient, requests: readonly LoadRequest[]): Load {
  const failures: string[] = [];
  let answers = 0;
  let isOver = false;
  async function worker(start: number): Promise<void> {
    for (let turn = start; !isOver; turn += 1) {
      const [method, path, body] = requests[turn % requests.length] ?? ['GET', '/docs'];
      const status = await clientOf()
        .call(method, path, body)
        .then(
          (answer) => (answer.status < 300 ? null : `${answer.status} ${answer.text.slice(0, 200)}`),
          (error: Error) => error.message,
        );
      if (status === null) answers += 1;
      else failures.push(`${new Date().toISOString()} ${method} ${path}: ${status}`);
    }
  }
  const workers = [0, 1, 2, 3].map(worker);
  return {
    async answered(count) {
      const wanted = answers + count;
      while (answers < wanted && failures.length === 0) await wait(20);
    },
    async stop() {
      isOver = true;
      await Promise.all(workers);
      return { answers, failures };
    },
  };
}
