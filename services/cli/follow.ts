import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandCall } from './command.ts';
import { createProgress } from './progress.ts';
import { CliFailure, exitCodes } from './terminal.ts';

/** Work of the server that goes on by itself, however long this client looks on. */
export interface Followed {
  readonly status: 'running' | 'complete' | 'failed';
  readonly done: number;
  readonly total: number;
  readonly failure: { readonly name: string; readonly message: string } | null;
}

export interface Following<Work> {
  readonly title: string;
  readonly unit: string;
  readonly whenInterrupted: (work: Work | null) => string;
  start(): Promise<Work>;
  look(work: Work): Promise<Work>;
}

const LOOK_AGAIN_MS = 500;

/** Resolves when it is complete. `CliFailure` with what it failed of. */
export async function follow<Work extends Followed>(call: CommandCall, following: Following<Work>): Promise<Work> {
  let work: Work | null = null;
  const progress = createProgress(call.terminal, following.title, {
    total: 1,
    unit: following.unit,
    whenInterrupted: () => following.whenInterrupted(work),
  });
  try {
    work = await following.start();
    while (work.status === 'running') {
      progress.setTotal(Math.max(1, work.total));
      progress.update(work.done, '');
      await sleep(LOOK_AGAIN_MS);
      work = await following.look(work);
    }
    if (work.status === 'complete') return work;
    const { name, message } = work.failure ?? { name: 'CogneeSystemError', message: 'It failed.' };
    throw new CliFailure(`${message} [${name}]`, exitCodes.failed);
  } finally {
    progress.stop();
  }
}
