import type { SourceConnection } from '../../common/records/integrations/connections.ts';

/** What is asked for of a team's history. */
export interface HistorySelection {
  readonly dataset_id: string;
  readonly channel_ids: readonly string[];
  readonly thread_links: readonly string[];
  readonly threads: readonly SlackThread[];
  readonly oldest: string | null;
  readonly latest: string | null;
  readonly thread_mode: 'started' | 'active';
  readonly max_requests: number;
  readonly max_messages: number;
}

type SlackThread = { readonly channel_id: string; readonly ts: string };

/** What an import into a dataset keeps in the metadata of its connection. */
export interface HistoryPlan {
  /** Asked for once, and not brought in yet. */
  readonly once: HistorySelection | null;
  readonly sync: {
    readonly enabled: boolean;
    readonly selection: HistorySelection;
    readonly interval_seconds: number;
  } | null;
}

type WithMetadata = Pick<SourceConnection, 'metadata'>;

export function planOf({ metadata }: WithMetadata): HistoryPlan {
  const { once = null, sync = null } = metadata as unknown as Partial<HistoryPlan>;
  return { once, sync };
}

const LINK = /^https:\/\/[\w.-]+\/archives\/([CG][A-Z0-9]+)\/p(\d{10})(\d{6})/;

/** The channel and thread that a link to a message names; null: it is no such link. A link to a reply names its thread. */
export function threadOfLink(link: string): SlackThread | null {
  const [, channel, seconds, micros] = LINK.exec(link) ?? [];
  if (channel === undefined) return null;
  const parent = new URL(link).searchParams.get('thread_ts');
  return { channel_id: channel, ts: parent !== null && /^\d+\.\d+$/.test(parent) ? parent : `${seconds}.${micros}` };
}

/** All threads that a selection names, by link or by channel and time. */
export function threadsOf({ thread_links: links, threads }: HistorySelection): readonly SlackThread[] {
  return [...threads, ...links.flatMap((link) => threadOfLink(link) ?? [])];
}

/** Channels that the owner of a team has limited the app to; empty: all. */
function allowedChannels({ metadata }: WithMetadata): readonly string[] {
  const { allowed_channel_ids: allowed } = metadata;
  return Array.isArray(allowed) ? allowed.filter((id) => typeof id === 'string') : [];
}

export function isAllowed(connection: WithMetadata, channel: string): boolean {
  const allowed = allowedChannels(connection);
  return allowed.length === 0 || allowed.includes(channel);
}

/** What the import of the connection has to bring in; null: nothing. Of a resource: each chosen channel, without limits. */
export function selectionOf(connection: SourceConnection, channel?: string): HistorySelection | null {
  if (connection.declared && channel !== undefined) {
    return {
      dataset_id: connection.dataset ?? '',
      channel_ids: [channel],
      thread_links: [],
      threads: [],
      oldest: connection.declared.since ?? null,
      latest: null,
      thread_mode: 'started',
      max_requests: Number.MAX_SAFE_INTEGER,
      max_messages: Number.MAX_SAFE_INTEGER,
    };
  }
  const { once, sync } = planOf(connection);
  return once ?? (sync?.enabled === true ? sync.selection : null);
}
