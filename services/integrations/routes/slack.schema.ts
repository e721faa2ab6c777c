import { z } from 'zod';
import { lenientBoolean, lenientInteger, listUpTo, uuid } from '../../common/platform/http/schema.ts';
import { type HistorySelection, threadOfLink } from '../providers/slack-selection.ts';

const DAY_MS = 24 * 3_600_000;
const channel = z
  .string()
  .regex(/^[CG][A-Z0-9]{1,30}$/, 'is no id of a channel')
  .meta({ examples: ['C024BE91L'] });
const time = z.iso.datetime({ offset: true });

const selectionFields = z
  .strictObject({
    dataset_id: uuid(),
    channel_ids: listUpTo(50, z.array(channel)).default([]),
    thread_links: listUpTo(50, z.array(z.string().max(2000)))
      .default([])
      .describe('Links to messages'),
    threads: listUpTo(
      50,
      z.array(
        z.strictObject({
          channel_id: channel,
          ts: z
            .string()
            .regex(/^\d{10}\.\d{6}$/)
            .meta({ examples: ['1767609720.000100'] }),
        }),
      ),
    ).default([]),
    days: lenientInteger({ min: 1, max: 3650 }).nullish(),
    oldest: time.nullish(),
    latest: time.nullish(),
    thread_mode: z
      .enum(['started', 'active'])
      .default('started')
      .describe('Threads that began in the time, or had messages in it'),
    max_requests: lenientInteger({ min: 1, max: 10_000 }).default(1000),
    max_messages: lenientInteger({ min: 1, max: 500_000 }).default(50_000),
  })
  .superRefine((given, context) => {
    const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const { channel_ids: channels, thread_links: links, threads, days, oldest, latest } = given;
    if (channels.length + links.length + threads.length === 0) fault('channel_ids', 'Name a channel or a thread.');
    if (channels.length > 0 && !days && !oldest) fault('days', 'Channels need days or oldest.');
    if (days && oldest) fault('days', 'Give days or oldest, not both.');
    if (oldest && latest && Date.parse(oldest) >= Date.parse(latest)) fault('latest', 'latest is before oldest.');
    links.forEach((link, at) => {
      if (threadOfLink(link) === null)
        context.addIssue({
          code: 'custom',
          path: ['thread_links', at],
          message: 'It is no link to a message of Slack.',
        });
    });
  });

/** A selection as it is asked for, with `days` fixed to an `oldest`. */
export const historySelection = selectionFields.transform(({ days, oldest, latest, ...rest }): HistorySelection => {
  const since = days ? new Date(Date.now() - days * DAY_MS).toISOString() : (oldest ?? null);
  return { ...rest, oldest: since, latest: latest ?? null };
});

export const syncBody = z
  .strictObject({
    enabled: lenientBoolean().default(false),
    selection: historySelection.nullish(),
    interval_seconds: lenientInteger({ min: 600, max: 604_800 }).default(21_600),
  })
  .superRefine(({ enabled, selection }, context) => {
    if (!enabled) return;
    if (!selection)
      context.addIssue({ code: 'custom', path: ['selection'], message: 'A standing import needs a selection.' });
    else if (selection.latest !== null) {
      context.addIssue({ code: 'custom', path: ['selection', 'latest'], message: 'A standing import has no end.' });
    }
  });

const selectionAnswer = z
  .object({
    dataset_id: z.string(),
    channel_ids: z.array(z.string()),
    thread_links: z.array(z.string()),
    threads: z.array(z.object({ channel_id: z.string(), ts: z.string() })),
    oldest: z.string().nullable(),
    latest: z.string().nullable(),
    thread_mode: z.enum(['started', 'active']),
    max_requests: z.int(),
    max_messages: z.int(),
  })
  .meta({ id: 'SlackHistorySelection' });

export const syncAnswer = z
  .object({ enabled: z.boolean(), selection: selectionAnswer.nullable(), interval_seconds: z.int() })
  .meta({ id: 'SlackHistorySync' });

export const importAnswer = z
  .object({
    dataset_id: z.string(),
    conversations: z.int(),
    messages: z.int(),
    added: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    deleted: z.int(),
    status: z.literal('completed'),
  })
  .meta({ id: 'SlackHistoryImport' });

export const historyAnswer = z
  .object({
    sync: z.record(z.string(), syncAnswer).describe('Standing imports, by dataset'),
    reports: z
      .record(
        z.string(),
        z.object({
          status: z.enum(['running', 'completed', 'failed']),
          started_at: z.string().nullable(),
          finished_at: z.string().nullable(),
          result: importAnswer.optional(),
          error: z.string().optional(),
        }),
      )
      .describe('How the last import went, by dataset'),
    worker_enabled: z.boolean(),
  })
  .meta({ id: 'SlackHistory' });

export const channelsAnswer = z
  .object({
    channels: z.array(z.object({ id: z.string(), name: z.string(), isPrivate: z.boolean(), allowed: z.boolean() })),
  })
  .meta({ id: 'SlackChannels' });

export const channelsBody = z
  .object({ channelIds: listUpTo(1000, z.array(channel)).describe('Empty: every channel') })
  .meta({ id: 'SlackChannelChoice' });
