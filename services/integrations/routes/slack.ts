import { z } from 'zod';
import { sha256 } from '../../common/kernel/hashes.ts';
import { parseClientObject } from '../../common/kernel/json.ts';
import { pause } from '../../common/platform/async/pause.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, own } from '../../common/platform/http/route-permission.ts';
import { optional, uuid } from '../../common/platform/http/schema.ts';
import { accessOf } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { type RawDelivery, SourceBusyError, WebhookRefusedError } from '../providers/connector.ts';
import { configuredConnector, unconfigured } from '../providers/providers.ts';
import { listChannels, type SlackChannel, type SlackOptions } from '../providers/slack.ts';
import { verifySlack } from '../providers/slack-api.ts';
import { isAllowed } from '../providers/slack-selection.ts';
import { answerCommand } from '../slack/commands.ts';
import { requireSlack } from '../slack/history.ts';
import { answerInteraction } from '../slack/interactive.ts';
import { linkMember } from '../slack/members.ts';
import { receiveDelivery } from '../webhooks/receive-delivery.ts';
import { channelsAnswer, channelsBody } from './slack.schema.ts';

const permission = own('connections');
/** One of several teams; default: the one connected last. */
const query = z.object({ connectionId: optional(uuid()) });
const UNCONNECTED = { 404: { description: 'Slack is not connected' } };
const body = { kind: 'bytes', schema: z.instanceof(Uint8Array) } as const;
const SIGNED = {
  401: { description: 'The signature is wrong' },
  503: { description: 'This server has no settings for Slack' },
};
/** Attempts of one request to Slack beside the first, and the longest wait before one. */
const RETRIES = 3;
const MAX_WAIT_MS = 30_000;

const { routes, get, post, put } = routesOf<SourceDependencies>({ tag: 'integrations' });

/** Routes that are Slack's own: what it sends, the channels of a team, and links of members. */
export const slackRoutes = routes(
  post('/api/v1/slack/events', null, {
    summary: 'Receive an event of Slack',
    auth: 'none',
    permission: NO_PERMISSION,
    body,
    responses: {
      200: { description: 'It is noted' },
      401: SIGNED[401],
      404: { description: 'This server has no settings for Slack' },
    },
    handle: async ({ headers, body: bytes }, dependencies) =>
      json(await receiveDelivery(dependencies, 'slack', { headers, body: bytes })),
  }),
  post('/api/v1/slack/commands', null, {
    summary: 'Answer a slash command',
    auth: 'none',
    permission: NO_PERMISSION,
    body,
    responses: { 200: { description: 'A message that only who wrote it sees' }, ...SIGNED },
    async handle({ headers, body: bytes, signal }, dependencies) {
      const slack = verified(dependencies, { headers, body: bytes });
      const command = Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString('utf8')));
      const deliveryId = command['trigger_id'] ?? sha256(bytes);
      const text = await answerCommand(dependencies, slack, { command, deliveryId, signal });
      return json({ response_type: 'ephemeral', text });
    },
  }),
  post('/api/v1/slack/interactive', null, {
    summary: 'Answer a shortcut, a button or a dialog of Slack',
    auth: 'none',
    permission: NO_PERMISSION,
    body,
    responses: { 200: { description: 'It is noted; a dialog gets its answer' }, ...SIGNED },
    async handle({ headers, body: bytes, signal }, dependencies) {
      const slack = verified(dependencies, { headers, body: bytes });
      const form = new URLSearchParams(Buffer.from(bytes).toString('utf8'));
      const payload = parseClientObject(form.get('payload') ?? '') ?? {};
      const deliveryId = typeof payload['trigger_id'] === 'string' ? payload['trigger_id'] : sha256(bytes);
      return json(await answerInteraction(dependencies, slack, { payload, deliveryId, signal }));
    },
  }),
  get('/api/v1/slack/channels', 'listSlackChannels', {
    summary: 'Channels of the connected team, and where the app may be used',
    permission,
    query,
    responses: {
      200: { description: 'Those that the app sees', schema: channelsAnswer },
      ...UNCONNECTED,
      502: { description: 'Slack does not list them' },
    },
    async handle({ principal, query: { connectionId }, signal }, dependencies) {
      const connection = await requireSlack(dependencies, principal, connectionId);
      const connector = configuredConnector(dependencies, 'slack');
      const { slack, logger } = dependencies;
      const access = accessOf(dependencies, connector, connection, signal);
      if (slack === null) throw unconfigured('slack');
      let channels: readonly SlackChannel[];
      try {
        channels = await listChannels((method, parameters) =>
          patiently(signal, async () => slack.api.request(method, parameters, { token: await access.token(), signal })),
        );
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn('slack.channels.failed', { error });
        const reason = error instanceof Error ? ` ${error.message}` : '';
        throw new HttpError(502, { detail: `Could not list the channels of Slack.${reason}` }, { cause: error });
      }
      return json({
        channels: channels.map((channel) => ({ ...channel, allowed: isAllowed(connection, channel.id) })),
      });
    },
  }),
  put('/api/v1/slack/channels', 'allowSlackChannels', {
    summary: 'Choose the channels that the app may be used in and import; none: all',
    permission,
    query,
    body: { kind: 'json', schema: channelsBody },
    responses: {
      200: { description: 'The choice', schema: z.object({ allowedChannelIds: z.array(z.string()) }) },
      ...UNCONNECTED,
    },
    async handle({ principal, query: { connectionId }, body: { channelIds } }, dependencies) {
      const { id, tenant, metadata } = await requireSlack(dependencies, principal, connectionId);
      const allowedChannelIds = [...new Set(channelIds)];
      const { store, connections } = dependencies;
      const changed = { metadata: { ...metadata, allowed_channel_ids: allowedChannelIds } };
      await store.commit({ tenant }, [connections.changeWrite(id, changed, { status: 'active' })]);
      return json({ allowedChannelIds });
    },
  }),
  post('/api/v1/slack/link', 'linkSlackMember', {
    summary: 'Link the account of Slack that a code of /cognee-link names to the caller',
    permission,
    body: { kind: 'json', schema: z.object({ code: z.string().min(1).max(500) }).meta({ id: 'SlackLink' }) },
    responses: {
      200: { description: 'It is linked', schema: z.object({ linked: z.boolean() }) },
      400: { description: 'The code is invalid or has expired' },
      409: { description: 'Another account of this server is linked to it' },
      503: SIGNED[503],
    },
    async handle({ principal, body: { code } }, dependencies) {
      const { slack } = dependencies;
      if (slack === null) throw unconfigured('slack');
      await linkMember(dependencies, principal, { code, secret: slack.signingSecret });
      return json({ linked: true });
    },
  }),
);

/** 503 without settings, 401 for a wrong signature. */
function verified(dependencies: SourceDependencies, delivery: RawDelivery): SlackOptions {
  const { slack, clock } = dependencies;
  if (slack === null) throw unconfigured('slack');
  try {
    verifySlack(slack.signingSecret, delivery, clock.now());
    return slack;
  } catch (error) {
    throw error instanceof WebhookRefusedError ? new HttpError(401, { detail: error.message }) : error;
  }
}

/** Waits as long as Slack asks, a few times. */
async function patiently<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SourceBusyError) || attempt === RETRIES || error.retryAfterMs > MAX_WAIT_MS) throw error;
      await pause(error.retryAfterMs, signal);
    }
  }
}
