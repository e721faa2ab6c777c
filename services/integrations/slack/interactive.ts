import type { JsonObject } from '../../common/kernel/json.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { SlackOptions } from '../providers/slack.ts';
import { isAllowed } from '../providers/slack-selection.ts';
import { noteTask } from '../webhooks/receive-delivery.ts';
import { DISCARD, HISTORY_DIALOG, SHARE } from './blocks.ts';
import { NO_OWNER, NOT_ALLOWED, teamOf } from './commands.ts';
import { type DialogView, openHistoryDialog, submitHistoryDialog } from './dialog.ts';
import { isInstaller, ownerOf } from './members.ts';
import { only, type SlackTask, taskJob } from './tasks.ts';

interface InteractivePayload {
  readonly type?: string;
  readonly callback_id?: string;
  readonly trigger_id?: string;
  readonly response_url?: string;
  readonly is_enterprise_install?: boolean;
  readonly team?: { readonly id?: string } | null;
  readonly enterprise?: { readonly id?: string } | null;
  readonly user?: { readonly id?: string };
  readonly channel?: { readonly id?: string; readonly name?: string };
  readonly message?: JsonObject & { readonly ts?: string; readonly thread_ts?: string; readonly text?: string };
  readonly actions?: readonly { readonly action_id?: string; readonly value?: string }[];
  readonly view?: DialogView;
}

/** Days of an import that a shortcut asks for, before they are changed in the dialog. */
const DAYS = 7;

/** Answers a shortcut, a button or a dialog; what comes of it goes to the response address. */
export async function answerInteraction(
  dependencies: SourceDependencies,
  slack: SlackOptions,
  {
    payload,
    deliveryId,
    signal,
  }: { readonly payload: InteractivePayload; readonly deliveryId: string; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const {
    type,
    callback_id: callback,
    response_url: responseUrl = '',
    user: { id: slackUser = '' } = {},
    view,
  } = payload;
  const { team: { id: team_id } = {}, enterprise, is_enterprise_install = false } = withoutNulls(payload);
  const team = await teamOf(dependencies, {
    is_enterprise_install,
    enterprise_id: enterprise?.id ?? null,
    ...(team_id === undefined ? {} : { team_id }),
  });
  if (team === null) return {};
  const note = (task: SlackTask) => noteTask(dependencies, team, deliveryId, taskJob(task));
  const say = async (text: string): Promise<JsonObject> => {
    if (responseUrl !== '') await note({ task: 'say', responseUrl, message: only(text) });
    return {};
  };
  if (type === 'block_actions') {
    const pressed = payload.actions?.find(({ action_id: id }) => id === SHARE || id === DISCARD);
    const task = pressed?.action_id === SHARE ? 'share' : 'discard';
    if (pressed !== undefined) await note({ task, responseUrl, slackUser, answerId: pressed.value ?? '' });
    return {};
  }
  if (type === 'view_submission' && view?.callback_id === HISTORY_DIALOG) {
    if (!isInstaller(team, slackUser)) return {};
    return submitHistoryDialog(dependencies, team, { view, deliveryId, signal });
  }
  if (type !== 'message_action' && type !== 'shortcut') return {};
  const { channel: { id: channel = '', name = '' } = {}, message } = payload;
  if (channel !== '' && !isAllowed(team, channel)) return say(NOT_ALLOWED);
  if (callback === 'import_history') {
    if (!isInstaller(team, slackUser)) return say('Only who installed the app may import the history.');
    const opened = { triggerId: payload.trigger_id ?? '', days: DAYS, channel, responseUrl };
    await openHistoryDialog(dependencies, slack, team, opened, signal);
    return {};
  }
  if (message?.ts === undefined || !/^remember_(this|thread)$/.test(callback ?? '')) return {};
  const account = await ownerOf(dependencies, team, slackUser);
  if (account === null) return say(NO_OWNER);
  if (callback === 'remember_thread') {
    await note({ task: 'thread', account, responseUrl, channel, ts: message.thread_ts ?? message.ts });
    return {};
  }
  if (!message.text?.trim()) return say('The message has no text to remember.');
  await note({ task: 'remember', account, responseUrl, text: message.text, message: saidOf(message), channel: name });
  return {};
}

/** What is remembered of a message; the rest of it is not kept. */
function saidOf({ ts, user, username, text }: JsonObject): JsonObject {
  return { ts, text, ...(user === undefined ? {} : { user }), ...(username === undefined ? {} : { username }) };
}

function withoutNulls({ team, enterprise, is_enterprise_install }: InteractivePayload) {
  return {
    ...(team ? { team } : {}),
    ...(enterprise ? { enterprise } : {}),
    ...(is_enterprise_install === undefined ? {} : { is_enterprise_install }),
  };
}
