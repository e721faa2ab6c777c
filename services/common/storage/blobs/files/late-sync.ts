import { open } from 'node:fs/promises';

interface LateSync {
  /** The file was written or moved here. */
  note(path: string): void;
}

interface LateSyncOptions {
  /** Quiet time after which files go to the disk. Default 1 s, as the document store does with its log. */
  readonly idleMs?: number;
  /** For tests; never rejects. */
  readonly sync?: (path: string) => Promise<void>;
}

/** By then the operating system has written the file back (Linux: 30 s until dirty pages expire, 5 s a round). */
const WRITTEN_BACK_MS = 35_000;

/**
 * Brings files to the disk when nothing was written for a while, so that a power cut can take the last moments only and
 * no request waits for the disk: a sync costs 1 to 10 ms, and makes everybody else's new files wait too. The death of the
 * process loses nothing either way.
 */
export function createLateSync({ idleMs = 1_000, sync = syncFile }: LateSyncOptions = {}): LateSync {
  const written = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isSyncing = false;

  const syncAll = async () => {
    if (isSyncing) return;
    isSyncing = true;
    for (const [path, at] of written) {
      written.delete(path);
      if (Date.now() - at < WRITTEN_BACK_MS) await sync(path);
    }
    isSyncing = false;
  };
  return {
    note(path) {
      // A path that is written again goes to the end.
      written.delete(path);
      written.set(path, Date.now());
      timer ??= setTimeout(() => void syncAll(), idleMs).unref();
      timer.refresh();
    },
  };
}

/** A removed file needs no sync; an error of the disk shows when the file is read. */
async function syncFile(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch {}
}
