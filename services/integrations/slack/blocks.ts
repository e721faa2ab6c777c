import type { JsonObject } from '../../common/kernel/json.ts';
import type { SourceAnswer } from '../../common/records/integrations/deliveries.ts';

const MAX_SECTION = 2900;
const MAX_FACTS = 3;
/** Slack takes no more options of a list. */
const MAX_OPTIONS = 100;

export const HISTORY_DIALOG = 'cognee_history_import';
export const SHARE = 'cognee_ask_share';
export const DISCARD = 'cognee_ask_discard';

const section = (text: string): JsonObject => ({
  type: 'section',
  text: { type: 'mrkdwn', text: cut(text, MAX_SECTION) },
});
const plain = (text: string): JsonObject => ({ type: 'plain_text', text: cut(text, 75) });

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Text of others, in which nothing is markup or a mention. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Answered = Pick<SourceAnswer, 'question' | 'answer' | 'facts'>;

/** An answer with its facts; with an id also the buttons that share or discard it. */
export function answerBlocks({ question, answer, facts }: Answered, id: string | null): readonly JsonObject[] {
  const stated = facts.slice(0, MAX_FACTS).map((fact) => `• ${escaped(cut(fact, 300))}`);
  const button = (action: string, text: string): JsonObject => {
    return { type: 'button', action_id: action, value: id ?? '', text: plain(text) };
  };
  return [
    section(`*${escaped(question)}*`),
    section(escaped(answer)),
    ...(stated.length === 0 ? [] : [{ type: 'context', elements: [{ type: 'mrkdwn', text: stated.join('\n') }] }]),
    ...(id === null ? [] : [{ type: 'actions', elements: [button(SHARE, 'Share'), button(DISCARD, 'Discard')] }]),
  ];
}

/** What the app's Home says. */
export function homeView(): JsonObject {
  return {
    type: 'home',
    blocks: [
      section('*Memory*'),
      section(
        [
          '`/cognee-ask <question>` answers from memory, to you alone until you share it.',
          '`/cognee-remember <text>` remembers it.',
          '`/cognee-link` links your account; without it only the installer has a memory here.',
          '`/cognee-import [days]` brings in channels (installer).',
          'Shortcuts of a message remember it, or its thread.',
        ].join('\n'),
      ),
    ],
  };
}

/** The dialog in which channels and a dataset are chosen; `note` comes back with it. */
export function historyDialog({
  days,
  channel,
  datasets,
  note,
}: {
  readonly days: number;
  readonly channel: string | null;
  readonly datasets: readonly { readonly id: string; readonly name: string }[];
  readonly note: string;
}): JsonObject {
  const options = datasets.slice(0, MAX_OPTIONS - 1).map(({ id, name }) => ({ text: plain(name), value: id }));
  const fresh = { text: plain('slack'), value: 'slack' };
  const hasSlack = datasets.some(({ name }) => name === 'slack');
  const offered = hasSlack ? options : [fresh, ...options];
  const first = hasSlack ? options.find(({ text }) => text['text'] === 'slack') : fresh;
  const input = (id: string, label: string, element: JsonObject): JsonObject => {
    return { type: 'input', block_id: id, label: plain(label), element: { action_id: 'value', ...element } };
  };
  return {
    type: 'modal',
    callback_id: HISTORY_DIALOG,
    private_metadata: note,
    title: plain('Import history'),
    submit: plain('Import'),
    close: plain('Cancel'),
    blocks: [
      input('channels', 'Channels that the app is in', {
        type: 'multi_conversations_select',
        filter: { include: ['public', 'private'], exclude_bot_users: true },
        ...(channel === null ? {} : { initial_conversations: [channel] }),
      }),
      input('days', 'Days back', { type: 'plain_text_input', initial_value: String(days), max_length: 4 }),
      input('dataset', 'Dataset', {
        type: 'static_select',
        options: offered,
        ...(first === undefined ? {} : { initial_option: first }),
      }),
    ],
  };
}
