import { randomUUID } from 'node:crypto';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { ask } from '../confirm.ts';
import { harmless, note, print, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { datasetsOf } from '../wire.ts';
import { itemText, type RecallItem } from './recall.ts';
import { withSource } from './search.ts';

export const askCommand: Command = {
  name: 'ask',
  usage: '[question]',
  summary: 'Answers a question as it is written; without one, a conversation.',
  details:
    'A conversation keeps its session: later questions may refer to earlier ones, and engram feedback and improve learn from it.\nAn empty line or Ctrl-C ends it.',
  options: {
    session: { type: 'string', short: 's', value: 'ID', meaning: 'go on with this session' },
    references: { type: 'boolean', meaning: 'list the passages that the answer is from, with their ids' },
    type: { type: 'string', short: 't', value: 'TYPE', meaning: 'how to search, default GRAPH_COMPLETION' },
  },
  async run(call) {
    const question = call.arguments.join(' ').trim();
    const given = stringOption(call.options, 'session');
    if (question !== '') return answer(call, question, given);
    if (!call.terminal.isInteractive) throw usageFailure('What do you want to know? See: engram ask --help');
    const session = given ?? `cli-${randomUUID()}`;
    note(call, `Session ${session}. An empty line ends it.`);
    for (;;) {
      const next = await ask(call, '> ');
      if (next === '') return exitCodes.ok;
      await answer(call, next, session);
    }
  },
};

async function answer(call: CommandCall, query: string, session: string | null): Promise<number> {
  const body = {
    query,
    stream: true,
    include_references: isSet(call.options, 'references'),
    // Only completions become turns of the session.
    search_type: (stringOption(call.options, 'type') ?? 'GRAPH_COMPLETION').toUpperCase(),
    ...(session === null ? {} : { session_id: session }),
    ...(await datasetsOf(call)),
  };
  let written = '';
  let items: readonly RecallItem[] = [];
  for await (const { event, data } of events(await call.api.stream('POST', '/api/v1/recall', { body }))) {
    if (event === 'delta' && !call.asJson) {
      written += data['text'];
      call.terminal.out.write(String(data['text']));
    }
    // What was written so far is not the answer after all.
    if (event === 'reset' && written !== '') {
      call.terminal.out.write('\n');
      written = '';
    }
    if (event === 'final') items = data['results'] as readonly RecallItem[];
    if (event === 'error') throw new CliFailure(`The server refused: ${data['message']}`, exitCodes.failed);
  }
  if (call.asJson) printJson(call, items);
  else if (written !== '') print(call, '');
  else print(call, items.length === 0 ? NOTHING_FITS : items.map((item) => textOf(call, item)).join('\n\n'));
  const nearest = items.flatMap(({ metadata }) => metadata?.nearest ?? []);
  if (!call.asJson && nearest.length > 0) print(call, ['Nearest:', ...nearest.map(harmless)].join('\n'));
  return exitCodes.ok;
}

/** The answer names its source itself. */
function textOf({ datasetGiven }: CommandCall, item: RecallItem): string {
  if (typeof item.text !== 'string') return itemText(item);
  return withSource(item.text, datasetGiven === null ? sourceDataset(item) : null);
}

function sourceDataset({ dataset_name: name }: RecallItem): string | null {
  return typeof name === 'string' && name !== '' ? harmless(name) : null;
}

interface StreamEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Server-sent events. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}
