import { isEngramError } from '../../kernel/errors.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Identity } from '../messaging/identify.ts';
import type { Credential } from '../messaging/messages.ts';
import type { CallContext } from '../messaging/messenger.ts';
import type { Authenticate } from './credentials.ts';

/** Credentials and permission that opened a lasting request. */
export interface Entry {
  readonly principal: Principal;
  readonly credentials: readonly Credential[];
  readonly strict: boolean;
  readonly host: string | undefined;
  /** It lasts without anything being done, as `AuthenticateRequest` says. Default: something is sent or received all the time. */
  readonly unattended?: boolean;
  /** Returns why this identity is refused; null: it is not. */
  refusal(identity: Identity): Error | null;
}

/**
 * Ends sockets, streams and uploads whose credentials are no longer valid: auth is asked
 * again each second, once for all that came with the same credentials. Shorter ones cost nothing.
 */
export type LastingAccess = ReturnType<typeof createLastingAccess>;

interface LastingAccessOptions {
  readonly authenticate: Authenticate;
  readonly newRequestId: () => string;
  /** Default: a second. */
  readonly everyMs?: number;
  /** Time that auth may be unreachable before all are ended. Default: 30 s. */
  readonly patienceMs?: number;
}

interface Watcher {
  readonly entry: Entry;
  readonly sinceMs: number;
  onEnd(reason: Error): void;
}

interface Group {
  readonly watchers: Set<Watcher>;
  confirmedMs: number;
  isChecking: boolean;
}

export function createLastingAccess(options: LastingAccessOptions) {
  const { authenticate, newRequestId, everyMs = 1000, patienceMs = 30_000 } = options;
  const groups = new Map<string, Group>();
  let timer: NodeJS.Timeout | undefined;

  /** Stops watching when none is left; by then the key may be that of another one, which has to be watched on. */
  const forget = (key: string, group: Group): void => {
    if (group.watchers.size === 0 && groups.get(key) === group) groups.delete(key);
  };
  const end = (key: string, group: Group, of: readonly Watcher[], reason: (watcher: Watcher) => Error | null): void => {
    for (const watcher of of) {
      const why = reason(watcher);
      if (why === null || !group.watchers.delete(watcher)) continue;
      watcher.onEnd(why);
    }
    forget(key, group);
  };
  const check = async (key: string, group: Group): Promise<void> => {
    const begunMs = performance.now();
    const due = [...group.watchers].filter(({ sinceMs }) => begunMs - sinceMs >= everyMs);
    const [first] = due;
    if (first === undefined || group.isChecking) return;
    group.isChecking = true;
    const { credentials, strict, host } = first.entry;
    const context: CallContext = { requestId: newRequestId() };
    try {
      const unattended = due.every(({ entry }) => entry.unattended === true);
      const circumstances = { unattended, ...(host === undefined ? {} : { host }) };
      const identity = await authenticate(credentials, strict, context, circumstances);
      group.confirmedMs = begunMs;
      end(key, group, due, ({ entry }) => entry.refusal(identity));
    } catch (error) {
      const isRefused = isEngramError(error) && error.status < 500 && !error.retryable;
      if (isRefused || begunMs - group.confirmedMs > patienceMs) end(key, group, due, () => error as Error);
    } finally {
      group.isChecking = false;
    }
  };
  return {
    /** Calls back at most once, until it is stopped: auth refuses by now, or could not be asked for half a minute. */
    watch(entry: Entry, onEnd: (reason: Error) => void) {
      const { credentials, strict, host } = entry;
      const key = sha256OfJson({ credentials, strict, host }, 'base64');
      const sinceMs = performance.now();
      const group = groups.get(key) ?? { watchers: new Set(), confirmedMs: sinceMs, isChecking: false };
      groups.set(key, group);
      const watcher = { entry, sinceMs, onEnd };
      group.watchers.add(watcher);
      timer ??= setInterval(() => {
        for (const [at, each] of groups) void check(at, each);
      }, everyMs).unref();
      return {
        stop() {
          group.watchers.delete(watcher);
          forget(key, group);
          if (groups.size > 0) return;
          clearInterval(timer);
          timer = undefined;
        },
      };
    },
    close() {
      clearInterval(timer);
      timer = undefined;
      groups.clear();
    },
  };
}

/** Whether credentials stand for the same as before: the account, and the tenant that it works in. */
export function isSame({ principal }: Identity, before: Principal): boolean {
  return principal !== null && principal.id === before.id && principal.tenant === before.tenant;
}
