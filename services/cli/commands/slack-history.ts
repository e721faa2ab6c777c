import { type SlackChannels, type SlackHistory, type SlackHistoryImport, TimedOut } from '../../client/index.ts';
import { type Action, type CommandCall, isSet, stringList, stringOption } from '../command.ts';
import { textOf } from '../group.ts';
import { harmless } from '../output.ts';
import { CliFailure, usageFailure } from '../terminal.ts';
import { type Connection, connectionOf, connectionsOf, first, isTeam, queryOf } from './connections.ts';

const CHANNELS = '/api/v1/slack/channels';
/** Days of history that are brought in where nobody says how many. */
const DAYS = 30;

const historyOf = ({ providerAccountId }: Connection) => `/api/v1/slack/history/${providerAccountId}`;

async function teamOf(call: CommandCall): Promise<Connection> {
  const connection = await connectionOf(call);
  if (isTeam(connection)) return connection;
  throw usageFailure(`${first(call)} is no team of Slack: engram integrations list`);
}

async function channelsOf({ api }: CommandCall, team: Connection): Promise<SlackChannels['channels']> {
  return (await api.json<{ channels: SlackChannels['channels'] }>('GET', CHANNELS, { query: queryOf(team) })).channels;
}

/** Ids of channels that are named, with # or without. */
function channelIds(channels: SlackChannels['channels'], words: readonly string[]): readonly string[] {
  return words.map((word) => {
    const found = channels.find(({ id, name }) => id === word || name === word.replace(/^#/, ''));
    if (found !== undefined) return found.id;
    const known = channels.map(({ name }) => harmless(name)).join(', ');
    throw usageFailure(`There is no channel '${word}', or the app was not invited. Channels: ${known || 'none'}.`);
  });
}

function wholeNumber(call: CommandCall, option: string, most: number): number | null {
  const given = stringOption(call.options, option);
  if (given === null) return null;
  if (/^\d+$/.test(given) && Number(given) >= 1 && Number(given) <= most) return Number(given);
  throw usageFailure(`--${option} is a whole number from 1 to ${most}, not '${given}'.`);
}

/** The standing imports of a team and how the last ones went, a row for each dataset. */
async function historyRows(call: CommandCall, team: Connection) {
  const { sync, reports } = await call.api.json<SlackHistory>('GET', historyOf(team));
  const names = new Map((await connectionsOf(call)).map((one) => [one.datasetId, one.datasetName]));
  const channels = new Map((await channelsOf(call, team)).map(({ id, name }) => [id, name]));
  const following = new Map(Object.entries(sync));
  const reported = new Map(Object.entries(reports));
  return [...new Set([...following.keys(), ...reported.keys()])].map((id) => {
    const standing = following.get(id);
    const { status = '', finished_at: ended = null, result, error = '' } = reported.get(id) ?? {};
    const followed = (standing?.enabled && standing.selection?.channel_ids) || [];
    return {
      dataset: names.get(id) ?? id,
      followed: followed.map((channel) => channels.get(channel) ?? channel).join(', '),
      every: standing?.enabled ? `${standing.interval_seconds / 3600} h` : '',
      last: status,
      ended,
      messages: result?.messages,
      added: result?.added,
      updated: result?.updated,
      deleted: result?.deleted,
      error,
    };
  });
}

async function stopFollowing(call: CommandCall, team: Connection, dataset: string): Promise<string> {
  const { sync } = await call.api.json<SlackHistory>('GET', historyOf(team));
  const part = (await connectionsOf(call)).find(
    (one) => one.partOf === team.connectionId && one.datasetName === dataset,
  );
  const before = new Map(Object.entries(sync)).get(part?.datasetId ?? '');
  if (!before?.enabled)
    throw usageFailure(`Nothing is followed into ${dataset}: engram integrations history ${first(call)}`);
  await call.api.json('PUT', `${historyOf(team)}/sync`, { body: { ...before, enabled: false } });
  return 'no longer followed; what was brought in stays';
}

async function bringIn(call: CommandCall, team: Connection, name: string): Promise<unknown> {
  const { api, options } = call;
  const [days, hours] = [wholeNumber(call, 'days', 3650) ?? DAYS, wholeNumber(call, 'every', 168)];
  const ids = channelIds(await channelsOf(call, team), stringList(options, 'channel'));
  const { id } = await api.json<{ id: string }>('POST', '/api/v1/datasets', { body: { name } });
  const selection = { dataset_id: id, channel_ids: ids, days };
  if (hours !== null) {
    const body = { enabled: true, selection, interval_seconds: hours * 3600 };
    return api.json('PUT', `${historyOf(team)}/sync`, { body });
  }
  return api.json('POST', `${historyOf(team)}/import`, { body: selection }).catch((error: unknown) => {
    if (!(error instanceof CliFailure && error.cause instanceof TimedOut)) throw error;
    return `it takes longer, and goes on: engram integrations history ${first(call)}`;
  });
}

export const slackActions: readonly Action[] = [
  {
    name: 'channels',
    parameters: '<connection> [name]...',
    summary: 'Lists the channels of a team of Slack, and where the app may be used; with names, limits it to them.',
    options: { all: { type: 'boolean', meaning: 'everything' } },
    fields: ['id', 'name', 'allowed'],
    request: async (call) => {
      const team = await teamOf(call);
      const names = call.arguments.slice(1);
      const isAll = isSet(call.options, 'all');
      if (isAll && names.length > 0) throw usageFailure('Give names, or --all for every channel.');
      const channels = await channelsOf(call, team);
      if (!isAll && names.length === 0) return channels.map(({ id, name, allowed }) => ({ id, name, allowed }));
      const body = { channelIds: channelIds(channels, names) };
      return call.api.json('PUT', CHANNELS, { query: queryOf(team), body });
    },
    show: (answer, call) => {
      if (Array.isArray(answer)) return textOf(answer, ['id', 'name', 'allowed']);
      const { allowedChannelIds: ids } = answer as { allowedChannelIds: readonly string[] };
      return ids.length === 0
        ? 'the app may be used in every channel'
        : `the app may be used in ${call.arguments.slice(1).join(', ')} alone`;
    },
  },
  {
    name: 'history',
    parameters: '<connection>',
    summary:
      'Brings channels of Slack into the dataset of --dataset, once or from now on; without --channel says how the last imports went.',
    options: {
      channel: { type: 'string', multiple: true, value: 'NAME', meaning: 'channel to bring in, can be repeated' },
      days: { type: 'string', value: 'N', meaning: `how far back it goes; default ${DAYS}` },
      every: { type: 'string', value: 'HOURS', meaning: 'follow the channels, and look every so many hours' },
      stop: { type: 'boolean', meaning: 'follow the channels of the dataset no longer' },
    },
    request: async (call) => {
      const { options, datasetGiven: dataset } = call;
      const given = ['channel', 'days', 'every'].filter((option) => options[option] !== undefined);
      const isStop = isSet(options, 'stop');
      if (isStop && given.length > 0) throw usageFailure('--stop goes with --dataset alone.');
      if (!isStop && given.length > 0 && !given.includes('channel'))
        throw usageFailure('Name channels: --channel NAME.');
      const team = await teamOf(call);
      if (!isStop && given.length === 0) return historyRows(call, team);
      if (dataset === null) throw usageFailure('Name the dataset: --dataset NAME.');
      return isStop ? stopFollowing(call, team, dataset) : bringIn(call, team, dataset);
    },
    show: (answer, call) => {
      if (typeof answer === 'string') return answer;
      if (Array.isArray(answer)) return textOf(answer);
      const place = harmless(call.dataset);
      if ('enabled' in (answer as object)) return `followed into ${place}: engram integrations history ${first(call)}`;
      const { messages, conversations, added, updated, deleted } = answer as SlackHistoryImport;
      return `${messages} messages in ${conversations} threads; ${place}: ${added} added, ${updated} updated, ${deleted} deleted`;
    },
  },
];
