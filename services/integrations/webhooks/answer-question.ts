import { isEngramError } from '../../common/kernel/errors.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker } from '../../common/platform/jobs/job-worker.ts';
import { impersonateWithRenewal } from '../../common/platform/messaging/account-authority.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { accessOf } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { OpenedJob } from '../imports/carry-out-import.ts';
import { QUESTION_JOB, SourceBusyError, SourceRevokedError } from '../providers/connector.ts';

const NOTHING = 'Memory does not answer this question.';
/** Why nothing is answered for an account. */
export const GONE = 'The account whose memory this is no longer exists or is no longer active.';

/**
 * Answers questions that are asked at providers, such as a mention in an issue of Linear, from the memory of the user who connected
 * it. A worker of its own: a question does not wait for an import.
 */
export function createQuestionWorker(dependencies: SourceDependencies) {
  const drive = (job: ClaimedJob, lease: JobLease) => driveQuestion(dependencies, job, lease);
  const handlers = { [QUESTION_JOB]: { drive, failures: { decide: () => 'retry' as const } } };
  return createJobWorker(dependencies, { name: 'questions', handlers, settings: dependencies.settings });
}

async function driveQuestion(dependencies: SourceDependencies, job: ClaimedJob, lease: JobLease): Promise<void> {
  const { connections, connectors, store, workQueue } = dependencies;
  const connection = await connections.get(String(job.payload['connectionId']));
  const connector = connectors.get(connection?.provider ?? '');
  if (connection?.status === 'active' && connector !== undefined) {
    try {
      await answer(dependencies, { job, lease, connection, connector });
    } catch (error) {
      if (error instanceof SourceBusyError) return workQueue.release(job, error.retryAfterMs);
      // The next import finds that too, and says so to the user.
      if (!(error instanceof SourceRevokedError)) throw error;
    }
  }
  await store.commit(job.scope, workQueue.completeWrites(job));
}

async function answer(
  dependencies: SourceDependencies,
  { job, lease, connection, connector }: OpenedJob,
): Promise<void> {
  const { signal } = lease;
  const conversation = String(job.payload['conversation']);
  const access = accessOf(dependencies, connector, connection, signal);
  const say = (kind: 'thought' | 'response' | 'error', text: string) =>
    connector.reply?.(access, conversation, { kind, text });
  await say('thought', 'Looking in memory.');
  try {
    const account = await impersonateWithRenewal(dependencies, connection, { requestId: job.id, signal }, GONE);
    const request = { question: String(job.payload['question']) };
    const { answers } = await dependencies.messenger.call('search.Answer', request, account.context);
    await say('response', answers.length === 0 ? NOTHING : answers.map(({ text }) => text).join('\n\n'));
  } catch (error) {
    // Another attempt would end the same way.
    if (signal.aborted || !isEngramError(error) || error.status >= 500) throw error;
    await say('error', error.detail);
  }
}
