import { emailKey } from '../../common/domain/email-address.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { AuditEntry, AuditLog } from '../../common/ports/audit-log.ts';
import type { Logger } from '../../common/ports/logger.ts';

export interface RefusedLogin {
  /** As it was typed. */
  readonly account: string;
  readonly address: string;
}

/**
 * Refused sign-ins in the audit log, so that an attacker cannot fill it: the first of an account and address is recorded at
 * once, those after it are counted and recorded together when the period ends, and so are all beyond so many accounts and
 * addresses. A process that is killed takes the counts of its last period with it.
 */
export interface RefusedLogins {
  /** Nobody was let in. `subject`: the account's id, or the address that was typed where there is none. */
  refused(login: RefusedLogin, subject: string): Promise<void>;
  /** Turned away without a look at the password. */
  throttled(login: RefusedLogin): void;
  /** Ends the period; to be called every minute, and at the end. */
  record(): Promise<void>;
}

export interface RefusedLoginsOptions {
  readonly audit: Pick<AuditLog, 'commit'>;
  readonly logger: Logger;
  /** Accounts and addresses that are told apart in one period. */
  readonly maxTellApart?: number;
}

interface Count {
  readonly subject: string;
  readonly address: string;
  attempts: number;
  throttled: number;
}

/** Stands for all that are not told apart. */
const OTHERS = '*';

export function createRefusedLogins({ audit, logger, maxTellApart = 100 }: RefusedLoginsOptions): RefusedLogins {
  let counts = new Map<string, Count>();
  let others = noneOf(OTHERS, OTHERS);
  return {
    async refused(login, subject) {
      const key = keyOf(login);
      const known = counts.get(key);
      if (known !== undefined || counts.size >= maxTellApart) {
        (known ?? others).attempts += 1;
        return;
      }
      // Counted before it is recorded, or more of the same would be recorded meanwhile.
      const count = noneOf(subject, login.address);
      counts.set(key, count);
      await audit.commit(SYSTEM_SCOPE, [], [entryOf({ ...count, attempts: 1 })]);
    },
    throttled(login) {
      (counts.get(keyOf(login)) ?? others).throttled += 1;
    },
    async record() {
      const all = [...counts.values(), others];
      const [first, ...more] = all.filter(({ attempts, throttled }) => attempts + throttled > 0);
      counts = new Map();
      others = noneOf(OTHERS, OTHERS);
      if (first === undefined) return;
      try {
        await audit.commit(SYSTEM_SCOPE, [], [entryOf(first), ...more.map(entryOf)]);
      } catch (error) {
        const attempts = [first, ...more].reduce((sum, count) => sum + count.attempts + count.throttled, 0);
        logger.error('auth.refused_logins.unrecorded', { error, attempts });
      }
    },
  };
}

function noneOf(subject: string, address: string): Count {
  return { subject, address, attempts: 0, throttled: 0 };
}

function keyOf({ account, address }: RefusedLogin): string {
  return `${emailKey(account)} ${address}`;
}

function entryOf({ subject, address, attempts, throttled }: Count): AuditEntry {
  const details = { address, attempts, ...(throttled === 0 ? {} : { throttled }) };
  return { tenant: PERSONAL_TENANT, action: 'session.refused', actor: null, subject, details };
}
