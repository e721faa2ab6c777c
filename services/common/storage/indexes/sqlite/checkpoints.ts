import { existsSync } from 'node:fs';
import type { OpenFiles } from './open-files.ts';

export interface Checkpoints {
  /** Empties the file's log soon: overwritten content stays readable in it until then. */
  request(path: string): void;
  stop(): void;
}

/** Removals that follow each other share a checkpoint (it waits for the disk); a busy reader is waited for. */
const DELAY_MS = 20;

export function createCheckpoints(files: OpenFiles): Checkpoints {
  const wanted = new Set<string>();
  let timer: NodeJS.Timeout | null = null;

  const schedule = () => {
    timer ??= setTimeout(run, DELAY_MS);
    timer.unref();
  };
  const run = () => {
    timer = null;
    for (const path of [...wanted]) {
      wanted.delete(path);
      if (!truncateLog(files, path)) wanted.add(path);
    }
    if (wanted.size > 0) schedule();
  };
  return {
    request(path) {
      wanted.add(path);
      schedule();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      for (const path of wanted) truncateLog(files, path);
    },
  };
}

/** False when a reader was in the way. */
function truncateLog(files: OpenFiles, path: string): boolean {
  if (!existsSync(path)) return true;
  return files.open(path)?.get('PRAGMA wal_checkpoint(TRUNCATE)', [])?.[0] === 0;
}
