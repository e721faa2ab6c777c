import { type Command, stringOption } from '../command.ts';
import { harmless, print, printJson } from '../output.ts';
import { type SourceFields, sourceName } from '../sources.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { datasetsOf } from '../wire.ts';
import { topKOf, withSource } from './search.ts';

export interface RecallItem {
  readonly source: string;
  readonly text?: unknown;
  readonly answer?: unknown;
  readonly content?: unknown;
  readonly dataset_name?: unknown;
  readonly metadata?: (SourceFields & { readonly nearest?: readonly string[] }) | null;
  readonly raw?: SourceFields | null;
}

export const recallCommand: Command = {
  name: 'recall',
  usage: '<question>',
  summary: 'Asks memory; the server chooses how to search.',
  options: {
    session: { type: 'string', short: 's', value: 'ID', meaning: 'look into this session too' },
    scope: { type: 'string', value: 'SCOPE', meaning: 'auto (default), all, graph, session, trace, session_context' },
    type: { type: 'string', short: 't', value: 'TYPE', meaning: 'search type instead of the automatic choice' },
    'top-k': { type: 'string', short: 'k', value: 'NUMBER', meaning: 'how many results, default 15' },
  },
  async run(call) {
    const query = call.arguments.join(' ').trim();
    if (query === '') throw usageFailure('What do you want to know? See: engram recall --help');
    const session = stringOption(call.options, 'session');
    const scope = stringOption(call.options, 'scope');
    const body = {
      query,
      search_type: stringOption(call.options, 'type')?.toUpperCase() ?? null,
      ...topKOf(stringOption(call.options, 'top-k')),
      ...(session === null ? {} : { session_id: session }),
      ...(scope === null ? {} : { scope }),
      ...(await datasetsOf(call)),
    };
    const items = await call.api.json<readonly RecallItem[]>('POST', '/api/v1/recall', { body });
    if (call.asJson) printJson(call, items);
    else print(call, items.length === 0 ? 'nothing found' : items.map(itemText).join('\n\n'));
    return exitCodes.ok;
  },
};

export function itemText(item: RecallItem): string {
  const text = [item.text, item.answer, item.content].find((value): value is string => typeof value === 'string');
  const document = item.raw ?? item.metadata;
  const from = [document ? sourceName({ ...document, text }) : null, item.dataset_name, item.source];
  const parts = from.filter((part): part is string => typeof part === 'string' && part !== '').map(harmless);
  return withSource(text ?? JSON.stringify(item), parts.join(', '));
}
