import { type EngramError, engramError } from '../../kernel/errors.ts';
import type { Closure } from '../messaging/messages.ts';

/** Somebody has to declare the tenant active first; how long that takes is not ours to know. */
const ASK_AGAIN_SECONDS = 30;

/** The error of a request in a tenant that is closed. A state of another release counts as disabled. */
export function tenantClosed(state: Closure): EngramError {
  if (state === 'Hibernated') {
    return engramError('ServiceUnavailableError', 'This tenant is hibernated; its administrator can wake it.', {
      ...{ retryable: true, retryAfterSeconds: ASK_AGAIN_SECONDS },
    });
  }
  const what = state === 'Erasing' ? 'being erased' : 'disabled';
  return engramError('PermissionDeniedError', `This tenant is ${what}.`);
}
