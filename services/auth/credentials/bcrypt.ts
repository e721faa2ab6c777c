import { workerTask } from '../../common/platform/workers/worker-messages.ts';
import { createWorkerPool } from '../../common/platform/workers/worker-pool.ts';

const VERIFY = workerTask<typeof import('./bcrypt-task.ts'), 'verify'>(
  new URL('./bcrypt-task.ts', import.meta.url),
  'verify',
);

const BCRYPT = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
const MIN_COST = 4;
/** About a second; whoever asks for more did not hash for sign-ins. */
const MAX_COST = 14;
/** bcrypt looks at no more of a password. */
const MAX_PASSWORD_BYTES = 72;
const TIMEOUT_MS = 30_000;
const IDLE_MS = 10_000;
const MEMORY_BYTES = 256 * 1024 * 1024;

/** Hashes of an earlier system, as they are imported. They are only verified: what is stored anew is Argon2. */
export interface Bcrypt {
  /** Whether it is a bcrypt hash (`$2a$`, `$2b$`, `$2y$`) of a cost that is worth computing. */
  reads(hash: string): boolean;
  /** Errors: `WorkerFailure`, `WorkerTaskError`. */
  verify(password: string, hash: string): Promise<boolean>;
  /** Several passwords have this one's hash: which of them is meant cannot be known. */
  isCut(password: string): boolean;
  close(): Promise<void>;
}

/** Node has no bcrypt, and the one in JavaScript holds its thread for up to 100 ms at a time: it gets a process of its own. */
export function createBcrypt(): Bcrypt {
  const pool = createWorkerPool({ size: 1, timeoutMs: TIMEOUT_MS, idleMs: IDLE_MS, memoryBytes: MEMORY_BYTES });
  return {
    reads(hash) {
      const cost = Number(BCRYPT.exec(hash)?.[1]);
      return cost >= MIN_COST && cost <= MAX_COST;
    },
    verify: (password, hash) => pool.run(VERIFY, { password, hash }),
    isCut: (password) => Buffer.byteLength(password) > MAX_PASSWORD_BYTES,
    close: () => pool.close(),
  };
}
