import { type EngramError, engramError } from '../../kernel/errors.ts';
import type { Closure } from '../messaging/messages.ts';

/** Retry time of a closed tenant: it must be declared active first, and the answer cannot know when. */
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
