import { type EngramError, engramError } from '../../kernel/errors.ts';
import type { Closure } from '../messaging/methods/auth.ts';

/** Somebody has to declare the tenant active first; how long that takes is not ours to know. */
const ASK_AGAIN_SECONDS = 30;

/** What a request in a tenant that does not answer is told. */
export function tenantClosed(state: Closure): EngramError {
  if (state === 'Hibernated') {
    return engramError('ServiceUnavailableError', 'This tenant is hibernated; its administrator can wake it.', {
      ...{ retryable: true, retryAfterSeconds: ASK_AGAIN_SECONDS },
    });
  }
  const what = state === 'Erasing' ? 'being erased' : 'disabled';
  return engramError('PermissionDeniedError', `This tenant is ${what}.`);
}
