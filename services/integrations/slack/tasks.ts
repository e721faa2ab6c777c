import { randomBytes } from 'node:crypto';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { createJobWorker } from '../../common/platform/jobs/job-worker.ts';
import { impersonateWithRenewal } from '../../common/platform/messaging/account-authority.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { accessOf, type Connecting } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { SourceBusyError } from '../providers/connector.ts';
import type { SlackOptions } from '../providers/slack.ts';
import { SlackRefusedError } from '../providers/slack-api.ts';
import { SLACK_TASK } from '../providers/slack-events.ts';
import { createSlackNames } from '../providers/slack-names.ts';
import type { HistorySelection } from '../providers/slack-selection.ts';
import { peopleOf, plainText, type SlackMessage, speakerOf, timeOf } from '../providers/slack-text.ts';
import { GONE } from '../webhooks/answer-question.ts';
import { noteTask } from '../webhooks/receive-delivery.ts';
import { answerBlocks, homeView } from './blocks.ts';
import { failureOf, importOnce, partsOf, resultOf, writableDataset } from './history.ts';

/** Dataset and node set of what is remembered from Slack. */
export const SLACK_DATASET = 'slack';
/** Answers that nobody has shared or discarded by then are removed. */
const ANSWER_KEPT_MS = 24 * 3_600_000;
const LOOK_AGAIN_MS = 2000;
const NOTHING = 'Memory does not answer this question.';

/** What a command, a button or an event asks for; it is the payload of a job. */
export type SlackTask =
  | { readonly task: 'home'; readonly slackUser: string }
  | { readonly task: 'say'; readonly responseUrl: string; readonly message: JsonObject }
  | (Asked & { readonly task: 'ask'; readonly slackUser: string; readonly question: string })
  | (Asked & {
      readonly task: 'remember';
      readonly text: string;
      readonly message?: JsonObject;
      readonly channel?: string;
    })
  | (Asked & { readonly task: 'thread'; readonly channel: string; readonly ts: string })
  | { readonly task: 'report'; readonly responseUrl: string; readonly partId: string }
  | {
      readonly task: 'share' | 'discard';
      readonly responseUrl: string;
      readonly slackUser: string;
      readonly answerId: string;
    };

interface Asked {
  readonly responseUrl: string;
  readonly account: Connecting;
}

export function taskJob(task: SlackTask) {
  return { kind: SLACK_TASK, payload: task as unknown as JsonObject };
}

/** Does what people in Slack ask for, apart from the imports of their channels: each is answered where it was asked. */
export function createSlackWorker(dependencies: SourceDependencies, slack: SlackOptions) {
  const names = createSlackNames(slack.api);
  const drive = (job: ClaimedJob, lease: JobLease) => driveTask({ dependencies, slack, names, job, lease });
  const handlers = { [SLACK_TASK]: { drive, failures: { decide: () => 'retry' as const } } };
  return createJobWorker(dependencies, { name: 'slack', handlers, settings: dependencies.settings });
}

interface Driven {
  readonly dependencies: SourceDependencies;
  readonly slack: SlackOptions;
  readonly names: ReturnType<typeof createSlackNames>;
  readonly job: ClaimedJob;
  readonly lease: JobLease;
}

async function driveTask(driven: Driven): Promise<void> {
  const { dependencies, slack, job, lease } = driven;
  const { connections, store, workQueue } = dependencies;
  const task = job.payload as unknown as SlackTask;
  const connection = await connections.get(String(job.payload['connectionId']));
  try {
    if (connection?.status === 'active') {
      if (task.task === 'report' && (await connections.get(task.partId))?.syncing === true) {
        return await workQueue.release(job, LOOK_AGAIN_MS);
      }
      await carryOut(driven, connection, task);
    }
  } catch (error) {
    if (error instanceof SourceBusyError) return workQueue.release(job, error.retryAfterMs);
    const told = messageOf(error);
    if (lease.signal.aborted || told === null) throw error;
    dependencies.logger.warn('slack.task.failed', { task: task.task, error });
    if ('responseUrl' in task) await slack.api.respond(task.responseUrl, only(told), lease.signal);
  }
  await store.commit(job.scope, workQueue.completeWrites(job));
}

/** What a person is told of a failure; null: another attempt may succeed. */
function messageOf(error: unknown): string | null {
  if (error instanceof HttpError) return String((error.body as { detail?: unknown }).detail ?? error.message);
  if (error instanceof SlackRefusedError) return error.message;
  return isEngramError(error) && error.status < 500 ? error.detail : null;
}

/** A message that only who asked sees. */
export function only(text: string): JsonObject {
  return { response_type: 'ephemeral', replace_original: true, text };
}

async function carryOut(driven: Driven, team: SourceConnection, task: SlackTask): Promise<void> {
  const { dependencies, slack, lease } = driven;
  const { signal } = lease;
  switch (task.task) {
    case 'home': {
      const access = accessFor(driven, team);
      const view = { user_id: task.slackUser, view: homeView() };
      return slack.api.request('views.publish', view, { token: await access.token(), signal });
    }
    case 'say':
      return slack.api.respond(task.responseUrl, task.message, signal);
    case 'ask':
      return ask(driven, team, task);
    case 'remember': {
      const context = await contextOf(driven, task.account);
      const text = task.message === undefined ? task.text : await messageText(driven, team, task.message, task.channel);
      const asked = { datasetName: SLACK_DATASET, text: text.toWellFormed(), nodeSets: [SLACK_DATASET] };
      const { runStatus } = await dependencies.messenger.call('ingest.RememberText', asked, context);
      const isBuilt = runStatus === 'DATASET_PROCESSING_COMPLETED';
      const said = isBuilt ? 'Remembered.' : 'It is stored; building its memory failed.';
      return slack.api.respond(task.responseUrl, only(said), signal);
    }
    case 'thread':
      return rememberThread(driven, team, task);
    case 'report':
      return report(driven, task);
    case 'share':
    case 'discard':
      return settle(driven, task);
  }
}

function accessFor({ dependencies, lease }: Driven, team: SourceConnection) {
  const connector = dependencies.connectors.get('slack');
  if (connector === undefined) throw new Error('Slack is not configured on this server');
  return accessOf(dependencies, connector, team, lease.signal);
}

async function contextOf({ dependencies, job, lease }: Driven, account: Connecting): Promise<CallContext> {
  const asking = { requestId: job.id, signal: lease.signal };
  return (await impersonateWithRenewal(dependencies, account, asking, GONE)).context;
}

async function ask(
  driven: Driven,
  team: SourceConnection,
  { account, question, slackUser: askedBy, responseUrl }: Extract<SlackTask, { task: 'ask' }>,
): Promise<void> {
  const { dependencies, slack, lease } = driven;
  const { messenger, store, events, clock } = dependencies;
  const { answers } = await messenger.call('search.Answer', { question }, await contextOf(driven, account));
  if (answers.length === 0) return slack.api.respond(responseUrl, only(NOTHING), lease.signal);
  const id = randomBytes(24).toString('base64url');
  const { userId, tenant: tenantId } = account;
  const answer = {
    connectionId: team.id,
    userId,
    tenantId,
    askedBy,
    question,
    answer: answers.map(({ text }) => text).join('\n\n'),
    facts: answers.flatMap(({ facts }) => facts),
    expiresAt: new Date(clock.now().getTime() + ANSWER_KEPT_MS).toISOString(),
  };
  await store.commit({ tenant: account.tenant }, [events.answerWrite(id, answer)]);
  const message = { ...only(answer.answer), blocks: answerBlocks(answer, id) };
  await slack.api.respond(responseUrl, message, lease.signal);
}

/** A message as it is remembered: who wrote it when, and where. */
async function messageText(driven: Driven, team: SourceConnection, given: JsonObject, channel = ''): Promise<string> {
  const message = given as unknown as SlackMessage;
  const access = accessFor(driven, team);
  const names = await driven.names.people(access, peopleOf([message]));
  const said = `[${timeOf(message.ts)}] ${speakerOf(message, names)}: ${plainText(message.text ?? '', names)}`;
  return `${said}\nSlack: Written in ${channel === '' ? 'a conversation' : `the channel #${channel}`}.`;
}

async function rememberThread(
  driven: Driven,
  parent: SourceConnection,
  { account, channel, ts, responseUrl }: Extract<SlackTask, { task: 'thread' }>,
): Promise<void> {
  const { dependencies, slack, job, lease } = driven;
  const context = await contextOf(driven, account);
  const dataset = await writableDataset(dependencies, { names: [SLACK_DATASET], createMissing: true }, context);
  const parts = await partsOf(dependencies, parent, account.userId);
  if (parts.some((part) => part.dataset === dataset.id && part.syncing)) throw new SourceBusyError(LOOK_AGAIN_MS);
  const selection: HistorySelection = {
    dataset_id: dataset.id,
    channel_ids: [],
    thread_links: [],
    threads: [{ channel_id: channel, ts }],
    oldest: null,
    latest: null,
    thread_mode: 'started',
    max_requests: 1000,
    max_messages: 50_000,
  };
  const partId = await importOnce(dependencies, { parent, owner: account, dataset }, selection);
  await noteTask(dependencies, parent, job.id, taskJob({ task: 'report', responseUrl, partId }));
  await slack.api.respond(responseUrl, only('The thread is being remembered.'), lease.signal);
}

async function report(
  { dependencies, slack, lease }: Driven,
  { partId, responseUrl }: Extract<SlackTask, { task: 'report' }>,
): Promise<void> {
  const part = await dependencies.connections.get(partId);
  if (part === null) return;
  const { messages, added, updated, deleted } = resultOf(part);
  const failure = failureOf(part);
  const done = `Imported into ${part.datasetName}: ${messages} messages read, ${added} documents new, ${updated} changed, ${deleted} removed.`;
  await slack.api.respond(responseUrl, only(failure === null ? done : `The import failed: ${failure}`), lease.signal);
}

/** Shares an answer with the channel, or drops it; either removes it. */
async function settle(
  { dependencies: { events, store }, slack, job, lease }: Driven,
  { task, answerId, slackUser, responseUrl }: Extract<SlackTask, { task: 'share' | 'discard' }>,
): Promise<void> {
  const { signal } = lease;
  const answer = await events.getAnswer(answerId);
  if (answer === null || answer.askedBy !== slackUser || answer.connectionId !== job.payload['connectionId']) {
    return slack.api.respond(responseUrl, only('The answer is not kept any more. Ask again.'), signal);
  }
  if (task === 'share') {
    const shared = {
      response_type: 'in_channel',
      replace_original: false,
      text: `${answer.question}\n${answer.answer}`,
    };
    await slack.api.respond(responseUrl, { ...shared, blocks: answerBlocks(answer, null) }, signal);
  }
  await slack.api.respond(responseUrl, { delete_original: true }, signal);
  await store.commit({ tenant: answer.tenantId as never }, [events.removeAnswerWrite(answerId)]);
}
