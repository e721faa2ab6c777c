import type { RunState } from '../../common/domain/run.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { runError } from '../../common/platform/jobs/run-error.ts';

/**
 * The answer to a blocking request whose run ended with an error (cognify-improve.md §1.1). The legacy bodies have both
 * keys always; any other error of ours keeps its status and the common form.
 */
export function runFailure(run: RunState): Error {
  const error = runError(run);
  const { wireName: name, message, status } = error;
  if (name === 'LLMPaymentRequiredError') {
    return new HttpError(402, { error: 'Token budget exhausted', detail: `${name}: ${message} (Status code: 402)` });
  }
  if (name === 'LLMAPIKeyNotSetError') {
    return new HttpError(500, { error: 'Pipeline run errored', detail: `${message} [${name}]` });
  }
  if (status === 500) return new HttpError(500, { error: 'Internal server error', detail: message });
  return error;
}
