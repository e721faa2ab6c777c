import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { isOfAccount } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { SlackOptions } from '../providers/slack.ts';
import { accountIdOf } from '../providers/slack-events.ts';
import { isAllowed } from '../providers/slack-selection.ts';
import { noteTask } from '../webhooks/receive-delivery.ts';
import { openHistoryDialog } from './dialog.ts';
import { isInstaller, linkCode, ownerOf } from './members.ts';
import { type SlackTask, taskJob } from './tasks.ts';

type SlashCommand = Readonly<Record<string, string>>;

const NOT_CONNECTED = 'This workspace is not connected to a memory any more.';
export const NOT_ALLOWED = 'The app may not be used in this channel.';
export const NO_OWNER = 'Your account of Slack is linked to no memory. Write /cognee-link first.';
const MAX_TEXT = 20_000;
const DEFAULT_DAYS = 7;

/** The team that a payload is about, while it is connected. */
export async function teamOf(
  { connections }: SourceDependencies,
  payload: Parameters<typeof accountIdOf>[0],
): Promise<SourceConnection | null> {
  const all = await connections.ofAccount('slack', accountIdOf(payload));
  return all.find((one) => one.status === 'active' && isOfAccount(one)) ?? null;
}

/** Answers a command at once, to whoever wrote it; what takes longer is a job, noted before the answer. */
export async function answerCommand(
  dependencies: SourceDependencies,
  slack: SlackOptions,
  {
    command,
    deliveryId,
    signal,
  }: { readonly command: SlashCommand; readonly deliveryId: string; readonly signal: AbortSignal },
): Promise<string> {
  const { channel_id: channel = '', user_id: slackUser = '', response_url: responseUrl = '' } = command;
  const text = (command['text'] ?? '').trim().slice(0, MAX_TEXT);
  const team = await teamOf(dependencies, command);
  if (team === null) return NOT_CONNECTED;
  if (!isAllowed(team, channel)) return NOT_ALLOWED;
  const name = /^\/(?:cognee|engram)-(ask|remember|link|import)$/.exec(command['command'] ?? '')?.[1];
  if (name === undefined) return `${command['command'] ?? 'That'} is not yet supported.`;
  if (name === 'link') {
    const code = linkCode(slack.signingSecret, { team: team.accountId, slackUser, now: dependencies.clock.now() });
    return `Open this within ten minutes to link your account: ${slack.frontendUrl}/link-slack?code=${encodeURIComponent(code)}`;
  }
  if (name === 'import') {
    if (!isInstaller(team, slackUser)) return 'Only who installed the app may import the history.';
    const days = text === '' ? DEFAULT_DAYS : Number(text);
    if (!Number.isInteger(days) || days < 1 || days > 3650) return 'Give a number of days from 1 to 3650.';
    const opened = { triggerId: command['trigger_id'] ?? '', days, channel, responseUrl };
    return openHistoryDialog(dependencies, slack, team, opened, signal);
  }
  const account = await ownerOf(dependencies, team, slackUser);
  if (account === null) return NO_OWNER;
  if (text === '')
    return name === 'ask' ? 'Write a question behind the command.' : 'Write what to remember behind the command.';
  const task: SlackTask =
    name === 'ask'
      ? { task: 'ask', account, slackUser, responseUrl, question: text }
      : { task: 'remember', account, responseUrl, text };
  await noteTask(dependencies, team, deliveryId, taskJob(task));
  return name === 'ask' ? 'Looking in memory …' : 'Remembering …';
}
