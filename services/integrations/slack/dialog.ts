import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { impersonateWithRenewal } from '../../common/platform/messaging/account-authority.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { accessOf } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import type { SlackOptions } from '../providers/slack.ts';
import { SlackRefusedError } from '../providers/slack-api.ts';
import type { HistorySelection } from '../providers/slack-selection.ts';
import { noteTask } from '../webhooks/receive-delivery.ts';
import { historyDialog } from './blocks.ts';
import { importOnce, writableDataset } from './history.ts';
import { SLACK_DATASET, taskJob } from './tasks.ts';

const DAY_MS = 24 * 3_600_000;
/** Slack forgets the trigger of a dialog after three seconds. */
const OPEN_MS = 2500;

/** Opens the dialog of a history import at once; returns what the person is told. */
export async function openHistoryDialog(
  dependencies: SourceDependencies,
  slack: SlackOptions,
  team: SourceConnection,
  {
    triggerId,
    days,
    channel,
    responseUrl,
  }: { readonly triggerId: string; readonly days: number; readonly channel: string; readonly responseUrl: string },
  requestSignal: AbortSignal,
): Promise<string> {
  const signal = AbortSignal.any([requestSignal, AbortSignal.timeout(OPEN_MS)]);
  try {
    const { context } = await contextOf(dependencies, team, signal);
    const { datasets } = await dependencies.messenger.call('auth.ResolveDatasets', { permission: 'write' }, context);
    const initial = /^[CG]/.test(channel) ? channel : null;
    const view = historyDialog({ days, channel: initial, datasets, note: JSON.stringify({ responseUrl }) });
    const connector = dependencies.connectors.get('slack');
    if (connector === undefined) throw engramError('ServiceUnavailableError', 'Slack is not configured.');
    const token = await accessOf(dependencies, connector, team, signal).token();
    await slack.api.request('views.open', { trigger_id: triggerId, view }, { token, signal });
    return 'Choose in the dialog what is brought in.';
  } catch (error) {
    dependencies.logger.warn('slack.dialog.failed', { error });
    return error instanceof SlackRefusedError
      ? error.message
      : 'The dialog could not be opened. Write the command again.';
  }
}

/** What Slack says of a dialog that was sent. */
export interface DialogView {
  readonly callback_id?: string;
  readonly private_metadata?: string;
  readonly state?: { readonly values?: Readonly<Record<string, { readonly value?: DialogValue } | undefined>> };
}

interface DialogValue {
  readonly value?: string | null;
  readonly selected_conversations?: readonly string[];
  readonly selected_option?: { readonly value?: string } | null;
}

/** Starts the import that a dialog asks for; the answer closes the dialog, or says in it what is wrong. */
export async function submitHistoryDialog(
  dependencies: SourceDependencies,
  team: SourceConnection,
  {
    view,
    deliveryId,
    signal,
  }: { readonly view: DialogView; readonly deliveryId: string; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const values = view.state?.values ?? {};
  const wrong = (block: string, message: string) => ({ response_action: 'errors', errors: { [block]: message } });
  const channels = values['channels']?.value?.selected_conversations ?? [];
  if (channels.length === 0 || channels.length > 50) return wrong('channels', 'Choose 1 to 50 channels.');
  const days = Number(values['days']?.value?.value ?? '');
  if (!Number.isInteger(days) || days < 1 || days > 3650) return wrong('days', 'A number from 1 to 3650.');
  try {
    const chosen = values['dataset']?.value?.selected_option?.value ?? SLACK_DATASET;
    const { context } = await contextOf(dependencies, team, signal);
    const where =
      chosen === SLACK_DATASET ? { names: [SLACK_DATASET], createMissing: true as const } : { ids: [chosen] };
    const dataset = await writableDataset(dependencies, where, context);
    const selection: HistorySelection = {
      dataset_id: dataset.id,
      channel_ids: channels,
      thread_links: [],
      threads: [],
      latest: null,
      oldest: new Date(dependencies.clock.now().getTime() - days * DAY_MS).toISOString(),
      thread_mode: 'started',
      max_requests: 1000,
      max_messages: 50_000,
    };
    const owner = { userId: team.userId, tenant: team.tenant, keyId: team.keyId };
    const partId = await importOnce(dependencies, { parent: team, owner, dataset }, selection);
    const { responseUrl } = JSON.parse(view.private_metadata || '{}') as { responseUrl?: string };
    if (responseUrl) await noteTask(dependencies, team, deliveryId, taskJob({ task: 'report', responseUrl, partId }));
    return {};
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return wrong('channels', String((error.body as { detail?: unknown }).detail));
  }
}

/** Speaks for who connected the team. */
async function contextOf(dependencies: SourceDependencies, team: SourceConnection, signal: AbortSignal) {
  const gone = 'The account that connected Slack no longer exists or is no longer active.';
  return impersonateWithRenewal(dependencies, team, { requestId: dependencies.ids.uuid(), signal }, gone);
}
