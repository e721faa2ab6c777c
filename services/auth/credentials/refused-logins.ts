import { emailKey } from '../../common/domain/email-address.ts';
import { PERSONAL_TENANT, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { AuditEntry, AuditLog } from '../../common/ports/audit-log.ts';
import type { Logger } from '../../common/ports/logger.ts';

interface RefusedLogin {
  /** The name as it was entered. */
  readonly account: string;
  readonly address: string;
}

/**
 * Records refused logins in the audit log without letting an attacker fill it: the first of an account and address is
 * recorded at once; later ones are counted and recorded together at the end of the period, as are all beyond the tracked
 * accounts and addresses. A process that is killed loses the counts of its last period.
 */

interface RefusedLoginsOptions {
  readonly audit: Pick<AuditLog, 'commit'>;
  readonly logger: Logger;
  /** Accounts and addresses that are tracked separately in one period. */
  readonly maxTracked?: number;
}

interface Count {
  readonly subject: string;
  readonly address: string;
  attempts: number;
  throttled: number;
}

/** Counts all that are not tracked separately. */
const OTHERS = '*';

export function createRefusedLogins({ audit, logger, maxTracked = 100 }: RefusedLoginsOptions) {
  let counts = new Map<string, Count>();
  let others = noneOf(OTHERS, OTHERS);
  return {
    /**
     * A wrong password or an unknown account. `subject`: the account's id, or the address that was entered when there is none.
     */
    async refused(login: RefusedLogin, subject: string) {
      const key = keyOf(login);
      const known = counts.get(key);
      if (known !== undefined || counts.size >= maxTracked) {
        (known ?? others).attempts += 1;
        return;
      }
      // Counted before it is recorded, so that concurrent ones are only counted.
      const count = noneOf(subject, login.address);
      counts.set(key, count);
      await audit.commit(SYSTEM_SCOPE, [], [entryOf({ ...count, attempts: 1 })]);
    },
    /** Refused before the password was checked. */
    throttled(login: RefusedLogin) {
      (counts.get(keyOf(login)) ?? others).throttled += 1;
    },
    /** Ends the period; to be called every minute, and when the service stops. */
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
        logger.error('auth.refused_logins.record_failed', { error, attempts });
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
