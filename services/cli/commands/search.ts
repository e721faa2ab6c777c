import { type Command, isSet, stringOption } from '../command.ts';
import { print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { datasetLists } from '../wire.ts';

export const searchCommand: Command = {
  name: 'search',
  usage: '<question>',
  summary: 'Asks one dataset, or all that can be read.',
  details:
    'Types: GRAPH_COMPLETION (default), HYBRID_COMPLETION, RAG_COMPLETION, CHUNKS, CHUNKS_LEXICAL, SUMMARIES, TRIPLET_COMPLETION …',
  options: {
    type: { type: 'string', short: 't', value: 'TYPE', meaning: 'how to search, default GRAPH_COMPLETION' },
    'top-k': { type: 'string', short: 'k', value: 'NUMBER', meaning: 'how many results, default 15' },
    context: { type: 'boolean', meaning: 'print what was found instead of an answer' },
  },
  async run(call) {
    const query = call.arguments.join(' ').trim();
    if (query === '') throw usageFailure('What do you want to know? See: engram search --help');
    const body = {
      query,
      search_type: (stringOption(call.options, 'type') ?? 'GRAPH_COMPLETION').toUpperCase(),
      only_context: isSet(call.options, 'context'),
      ...topKOf(stringOption(call.options, 'top-k')),
      ...(call.datasetGiven === null ? {} : datasetLists(call.datasetGiven)),
    };
    const answer = await call.api.json<unknown>('POST', '/api/v1/search', { body });
    if (call.asJson) printJson(call, answer);
    else print(call, searchText(answer));
    return exitCodes.ok;
  },
};

export function topKOf(given: string | null): { top_k?: number } {
  if (given === null) return {};
  if (!/^\d{1,6}$/.test(given)) throw usageFailure('--top-k needs a number');
  return { top_k: Number(given) };
}

/** Answers come per dataset with access control, bare without. */
function searchText(answer: unknown): string {
  if (!Array.isArray(answer)) return resultText(answer);
  const perDataset = answer.every((entry) => typeof entry === 'object' && entry !== null && 'search_result' in entry);
  if (!perDataset || answer.length === 0) return resultText(answer);
  const entries = answer as readonly { readonly dataset_name?: unknown; readonly search_result: unknown }[];
  const parts = entries.map((entry) =>
    entries.length === 1
      ? resultText(entry.search_result)
      : `[${String(entry.dataset_name)}]\n${resultText(entry.search_result)}`,
  );
  return parts.join('\n\n');
}

function resultText(result: unknown): string {
  if (result === null || result === undefined) return 'nothing found';
  if (typeof result === 'string') return result;
  if (Array.isArray(result)) return result.length === 0 ? 'nothing found' : result.map(resultText).join('\n\n');
  const { text, document_name: source } = result as { text?: unknown; document_name?: unknown };
  if (typeof text !== 'string') return JSON.stringify(result, null, 2);
  return typeof source === 'string' ? `${text}\n  — ${source}` : text;
}
