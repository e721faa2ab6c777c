import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { engramError } from '../../common/kernel/errors.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import { workerTask } from '../../common/platform/workers/worker-messages.ts';
import { createWorkerPool, WorkerFailure } from '../../common/platform/workers/worker-pool.ts';

/**
 * Argon2id with the lowest cost that OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane; about 60
 * ms.
 */
const COST: Argon2Cost = { memoryKib: 19_456, passes: 2, parallelism: 1 };
/** Highest cost that is computed: a stored hash with a higher one is not ours and must not be able to stop the process. */
const LIMIT: Argon2Cost = { memoryKib: 262_144, passes: 10, parallelism: 8 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

interface Argon2Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
}

/**
 * Password hashes as PHC strings: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`, base64 without padding. Argon2id of other
 * costs and bcrypt are verified too: accounts of an earlier system have them. Until the first login has replaced it, such a
 * hash takes a different time to verify, which reveals that the account exists.
 */
export type PasswordHasher = ReturnType<typeof createPasswordHasher>;

interface PasswordHasherOptions {
  /** Hashes that are computed in parallel: each holds a thread of Node's pool of four, which file access needs too. */
  readonly concurrency?: number;
  /** Hashes that may wait; more are refused instead of filling the memory. */
  readonly maxWaiting?: number;
  /** Cost of new hashes; a lower one is for tests. */
  readonly cost?: Argon2Cost;
}

export function createPasswordHasher({
  concurrency = 2,
  maxWaiting = 64,
  cost: ownCost = COST,
}: PasswordHasherOptions = {}) {
  const room = { places: maxWaiting, refusal: tooBusy };
  const inTurn = createConcurrencyLimit(concurrency, room);
  // One slot only, so that a flood of sign-ups, which nothing limits, leaves the other slots to logins.
  const oneNew = createConcurrencyLimit(1, room);
  const bcrypt = createBcrypt();
  const decoy = Buffer.alloc(SALT_BYTES);
  const derive = (password: string, salt: Buffer, cost = ownCost, tagBytes = TAG_BYTES) =>
    inTurn(() => argon2id(password, salt, cost, tagBytes));
  const verifyBcrypt = async (password: string, hash: string): Promise<boolean> => {
    try {
      return await inTurn(() => bcrypt.verify(password, hash));
    } catch (error) {
      throw error instanceof WorkerFailure ? tooBusy({ cause: error }) : error;
    }
  };
  return {
    /** `TooManyRequestsError` when too many hashes are waiting. */
    async hash(password: string) {
      const salt = randomBytes(SALT_BYTES);
      return encode(ownCost, salt, await oneNew(() => derive(password, salt)));
    },
    /** False for a hash that cannot be parsed, after the time of a wrong password. Errors as `hash`. */
    async verify(password: string, phc: string) {
      if (bcrypt.reads(phc)) return verifyBcrypt(password, phc);
      const stored = decode(phc);
      if (stored === null) {
        await derive(password, decoy);
        return false;
      }
      return timingSafeEqual(await derive(password, stored.salt, stored.cost, stored.tag.length), stored.tag);
    },
    /** Whether the hash should be replaced by a new hash of this password, which it was just verified with. */
    isOutdated(phc: string, password: string) {
      // bcrypt never checked the rest of a long password: a new hash of it would lock the owner out if the rest was
      // mistyped.
      if (bcrypt.reads(phc)) return !bcrypt.isCut(password);
      return !phc.startsWith(`${costText(ownCost)}$`);
    },
    close: () => bcrypt.close(),
  };
}

const argon2Async = promisify(argon2);

function argon2id(password: string, salt: Buffer, cost: Argon2Cost, tagBytes: number): Promise<Buffer> {
  return argon2Async('argon2id', {
    message: Buffer.from(password, 'utf8'),
    nonce: salt,
    memory: cost.memoryKib,
    passes: cost.passes,
    parallelism: cost.parallelism,
    tagLength: tagBytes,
  });
}

function tooBusy(options: { readonly cause?: unknown } = {}) {
  return engramError('TooManyRequestsError', 'Too many sign-ins at the moment.', {
    ...options,
    retryable: true,
    retryAfterSeconds: 1,
  });
}

function encode(cost: Argon2Cost, salt: Buffer, tag: Buffer): string {
  return `${costText(cost)}$${base64(salt)}$${base64(tag)}`;
}

function costText({ memoryKib, passes, parallelism }: Argon2Cost): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,88})\$([A-Za-z0-9+/]{16,88})$/;

function decode(phc: string): { readonly cost: Argon2Cost; readonly salt: Buffer; readonly tag: Buffer } | null {
  const parts = PHC.exec(phc);
  if (parts === null) return null;
  const [memoryKib = 0, passes = 0, parallelism = 0] = parts.slice(1, 4).map(Number);
  const isSane =
    memoryKib >= 8 * parallelism &&
    memoryKib <= LIMIT.memoryKib &&
    passes >= 1 &&
    passes <= LIMIT.passes &&
    parallelism >= 1 &&
    parallelism <= LIMIT.parallelism;
  if (!isSane) return null;
  const [salt, tag] = parts.slice(4).map((text) => Buffer.from(text, 'base64'));
  return salt === undefined || tag === undefined ? null : { cost: { memoryKib, passes, parallelism }, salt, tag };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

const VERIFY = workerTask<typeof import('./bcrypt-task.ts'), 'verify'>(
  new URL('./bcrypt-task.ts', import.meta.url),
  'verify',
);

const BCRYPT = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
const MIN_COST = 4;
/** About a second; hashes for logins have no higher cost. */
const MAX_COST = 14;
/** bcrypt ignores the rest of a password. */
const MAX_PASSWORD_BYTES = 72;
const TIMEOUT_MS = 30_000;
const IDLE_MS = 10_000;
const MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * Runs bcrypt in a worker process: Node has none, and the JavaScript implementation blocks its thread for up to 100 ms at a
 * time.
 */
function createBcrypt() {
  const pool = createWorkerPool({ size: 1, timeoutMs: TIMEOUT_MS, idleMs: IDLE_MS, memoryBytes: MEMORY_BYTES });
  return {
    /** Whether it is a bcrypt hash (`$2a$`, `$2b$`, `$2y$`) of an acceptable cost. */
    reads(hash: string) {
      const cost = Number(BCRYPT.exec(hash)?.[1]);
      return cost >= MIN_COST && cost <= MAX_COST;
    },
    /** Errors: `WorkerFailure`, `WorkerTaskError`. */
    verify: (password: string, hash: string) => pool.run(VERIFY, { password, hash }),
    /** Whether bcrypt ignores a part of the password. */
    isCut: (password: string) => Buffer.byteLength(password) > MAX_PASSWORD_BYTES,
    close: () => pool.close(),
  };
}
