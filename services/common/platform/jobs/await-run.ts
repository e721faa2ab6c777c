import { isTerminal, type RunState } from '../../domain/run.ts';
import type { RunId } from '../../kernel/brand.ts';
import { engramError } from '../../kernel/errors.ts';
import { createWakeUp } from '../async/wake-up.ts';
import type { CallContext, Messenger } from '../messaging/messenger.ts';

/** Interval of reading the run in case an event was lost. */
const POLL_MS = 2000;

/**
 * Waits for the end of a run, without a time limit; resolves to its terminal state, with its items. Rejects with the reason of
 * `context.signal` when that aborts, and with `ServiceUnavailableError` when the end cannot be recorded; the run itself goes on.
 */
export async function awaitRun(messenger: Messenger, runId: RunId, context: CallContext): Promise<RunState> {
  const wakeUp = createWakeUp();
  let interruption: string | null = null;
  const subscription = await messenger.subscribe('runs', runId, (event) => {
    if (event.kind === 'interrupted') interruption = event.reason;
    if (event.kind !== 'started' && event.kind !== 'progress') wakeUp.notify();
  });
  try {
    for (;;) {
      context.signal?.throwIfAborted();
      const { run } = await messenger.call('cognify.GetRun', { runId }, context);
      if (run === null) throw engramError('CogneeSystemError', `run ${runId} does not exist`);
      if (isTerminal(run.status)) return run;
      if (interruption !== null) {
        throw engramError('ServiceUnavailableError', `The run goes on later: ${interruption}`, { retryable: true });
      }
      await wakeUp.wait(POLL_MS, context.signal);
    }
  } finally {
    await subscription.stop();
  }
}
