/** A message as Slack's API gives it, with what is read of it. */
export interface SlackMessage {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly user?: string;
  readonly username?: string;
  readonly bot_id?: string;
  readonly bot_profile?: { readonly name?: string };
  readonly user_profile?: { readonly real_name?: string; readonly display_name?: string };
  readonly text?: string;
  readonly edited?: { readonly ts?: string };
  readonly reply_count?: number;
  readonly latest_reply?: string;
  readonly files?: readonly SlackFile[];
  readonly attachments?: readonly { readonly fallback?: string; readonly text?: string; readonly title?: string }[];
}

export interface SlackFile {
  readonly id: string;
  readonly name?: string | null;
  readonly title?: string | null;
  readonly mimetype?: string;
  readonly size?: number;
  readonly mode?: string;
  readonly permalink?: string;
  readonly url_private_download?: string;
  readonly url_private?: string;
}

/** Names of people by their id. */
type SlackNames = ReadonlyMap<string, string>;

/** Messages about the channel itself. */
const NOISE =
  /^(channel_|group_|bot_(add|remove)|pinned_item|unpinned_item|reminder_add|huddle_thread|tombstone|sh_room|ekm_|assistant_app)/;

export function isSaid({ subtype = '' }: SlackMessage): boolean {
  return !NOISE.test(subtype);
}

/** Ids of people whom messages are from, or speak of. */
export function peopleOf(messages: readonly SlackMessage[]): ReadonlySet<string> {
  const mentioned = messages.flatMap(({ text = '' }) =>
    [...text.matchAll(/<@([UW][A-Z0-9]+)/g)].map(([, id = '']) => id),
  );
  return new Set([...messages.flatMap(({ user }) => (user === undefined ? [] : [user])), ...mentioned]);
}

/** `2026-01-05 10:42`, in UTC. */
export function timeOf(ts: string): string {
  return new Date(Number(ts) * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * A thread as a conversation: each message with its time and speaker, as rules for chats read it. A single message is followed
 * by a line of its channel, without which it would be no conversation, and its `I` nobody's.
 */
export function threadText(messages: readonly SlackMessage[], channel: string, names: SlackNames): string {
  const said = messages.filter(isSaid);
  const lines = said.map((message) => {
    return `[${timeOf(message.ts)}] ${speakerOf(message, names)}: ${plainText(messageText(message), names)}`;
  });
  const day = timeOf(messages[0]?.ts ?? '0').slice(0, 10);
  const place = `in the channel #${channel} on ${day}.`;
  return [...lines, ...(said.length === 1 ? [`Slack: Written ${place}`] : ['', `Written on Slack ${place}`])].join(
    '\n',
  );
}

/** Name of a thread that a person recognises: `#general 2026-01-05 The launch moves to March`. */
export function threadTitle(first: SlackMessage, channel: string, names: SlackNames): string {
  const words = plainText(messageText(first), names)
    .replaceAll(/[\s\\/:*?"<>|]+/g, ' ')
    .trim();
  const short = words.length > 60 ? `${words.slice(0, 60).replace(/ \S*$/, '')}…` : words;
  return `#${channel} ${timeOf(first.ts).slice(0, 10)}${short === '' ? '' : ` ${short}`}`;
}

export function speakerOf(message: SlackMessage, names: SlackNames): string {
  const { user = '', username, bot_profile: bot, user_profile: profile } = message;
  const own = [profile?.real_name, profile?.display_name, username, bot?.name].find((name) => name?.trim());
  const name = names.get(user) ?? own ?? (user === '' ? 'A program' : `Member ${user}`);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll(/[:\n[\]]+/g, ' ').trim();
}

function messageText({ text = '', files = [], attachments = [] }: SlackMessage): string {
  const shared = files.map(({ title, name, id }) => `(file: ${title || name || id})`);
  const quoted = text === '' ? attachments.map((one) => one.text ?? one.fallback ?? one.title ?? '') : [];
  return [text, ...quoted, ...shared].filter((part) => part !== '').join('\n');
}

/** Slack's markup as plain text: mentions by name, links with their address. */
export function plainText(text: string, names: SlackNames): string {
  return text
    .replaceAll(
      /<@([UW][A-Z0-9]+)(?:\|([^>]*))?>/g,
      (_, id: string, label?: string) => names.get(id) ?? (label || `Member ${id}`),
    )
    .replaceAll(/<#[CG][A-Z0-9]+(?:\|([^>]*))?>/g, (_, label?: string) => (label ? `#${label}` : 'a channel'))
    .replaceAll(/<!subteam\^[A-Z0-9]+(?:\|([^>]*))?>/g, (_, label?: string) => label || 'a group')
    .replaceAll(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, '@$1')
    .replaceAll(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replaceAll(/<((?:https?|mailto):[^|>]+)\|([^>]*)>/g, (_, link: string, label: string) =>
      link.endsWith(label) ? label : `${label} (${link})`,
    )
    .replaceAll(/<((?:https?|mailto):[^>]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
