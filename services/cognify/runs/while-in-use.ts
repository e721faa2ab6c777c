import type { Principal } from '../../common/kernel/principal.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { getPrincipal } from '../../common/platform/messaging/methods/auth.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** No tenant falls asleep after less than ten minutes without use. */
const EVERY_MS = 300_000;

/** Tells auth as long as `work` lasts that the tenant is in use: its claim alone says so of a run for a moment only. */
export async function whileInUse<Result>(
  { messenger, logger }: { readonly messenger: Pick<Messenger, 'call'>; readonly logger: Pick<Logger, 'warn'> },
  { principal, requestId }: { readonly principal: Pick<Principal, 'id' | 'tenant'>; readonly requestId: string },
  work: () => Promise<Result>,
  everyMs = EVERY_MS,
): Promise<Result> {
  const { id: userId, tenant } = principal;
  const tell = () =>
    void messenger
      .call(getPrincipal, { userId, tenant }, { requestId })
      .catch((error: unknown) => logger.warn('run.use.untold', { tenant, error }));
  const timer = setInterval(tell, everyMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
