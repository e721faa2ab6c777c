import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { harmless, print, printJson } from '../output.ts';
import { type SourceFields, sourceName } from '../sources.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { datasetsOf } from '../wire.ts';

export const searchCommand: Command = {
  name: 'search',
  usage: '<question>',
  summary: 'Asks one dataset, or all that can be read.',
  details:
    'Types: GRAPH_COMPLETION (default), HYBRID_COMPLETION, RAG_COMPLETION, CHUNKS, CHUNKS_LEXICAL, SUMMARIES, TEMPORAL, CODE, CYPHER …',
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
      ...(await datasetsOf(call)),
    };
    return searchAndPrint(call, body);
  },
};

export async function searchAndPrint(call: CommandCall, body: object): Promise<number> {
  const answer = await call.api.json<unknown>('POST', '/api/v1/search', { body });
  if (call.asJson) printJson(call, answer);
  else print(call, searchText(answer));
  return exitCodes.ok;
}

export function topKOf(given: string | null): { top_k?: number } {
  if (given === null) return {};
  if (!/^\d{1,6}$/.test(given)) throw usageFailure('--top-k needs a number');
  return { top_k: Number(given) };
}

interface DatasetAnswer {
  readonly dataset_name?: unknown;
  readonly search_result: unknown;
  readonly error?: unknown;
}

/** Answers come per dataset with access control, bare without; the dataset with the best one first. Datasets that have nothing to say are left out. */
export function searchText(answer: unknown): string {
  if (!Array.isArray(answer) || !answer.every(isDatasetAnswer)) return resultText(answer) ?? NOTHING_FOUND;
  const blocks = answer.flatMap(({ dataset_name: name, search_result: result, error }) => {
    const text = typeof error === 'string' ? error : resultText(result);
    return text === null ? [] : [{ name: String(name), text, rank: bestRank(result) }];
  });
  blocks.sort((one, other) => one.rank - other.rank);
  if (answer.length === 1 || blocks.length === 0) return blocks[0]?.text ?? NOTHING_FOUND;
  return blocks.map(({ name, text }) => `[${harmless(name)}]\n${text}`).join('\n\n');
}

/** Returns the rank over all datasets of the first row; an answer has none and comes first, an error last. */
function bestRank(result: unknown): number {
  const [first] = Array.isArray(result) ? (result as readonly unknown[]) : [];
  if (first === undefined) return Number.MAX_SAFE_INTEGER;
  const { rank } = first as { readonly rank?: unknown };
  return typeof rank === 'number' ? rank : 0;
}

const NOTHING_FOUND = 'nothing found';

function isDatasetAnswer(entry: unknown): entry is DatasetAnswer {
  return typeof entry === 'object' && entry !== null && 'search_result' in entry;
}

/** Null: nothing was found. */
function resultText(result: unknown): string | null {
  if (result === null || result === undefined || result === '' || result === NOTHING_FITS) return null;
  if (typeof result === 'string') return result;
  if (Array.isArray(result) && result.length > 0 && result.every(Array.isArray)) return result.map(rowText).join('\n');
  if (Array.isArray(result)) {
    const texts = result.map(resultText).filter((text) => text !== null);
    return texts.length === 0 ? null : texts.join('\n\n');
  }
  const { text, answer, seed_not_found: isMissing } = result as SourceFields & Readonly<Record<string, unknown>>;
  if (isMissing === true) return null;
  if (typeof answer === 'string') return answer;
  if (typeof text !== 'string') return codeText(result as CodeResult) ?? JSON.stringify(result, null, 2);
  return withSource(text, sourceName(result as SourceFields));
}

interface CodeFact {
  readonly name: string;
  readonly kind: string;
  readonly file?: string;
  readonly line?: number;
  readonly symbol_kind?: string;
  readonly properties?: { readonly method?: string };
}

/** Lists of facts in the answers of the search of code. */
interface CodeResult {
  readonly operation?: string;
  readonly diagram?: { readonly source: string };
  readonly summary?: string;
  readonly found?: boolean;
  readonly by_depth?: Readonly<Record<string, readonly CodeFact[]>>;
  readonly neighbors?: readonly {
    readonly relation: string;
    readonly direction: string;
    readonly at: string;
    readonly node: CodeFact;
  }[];
  readonly flows?: readonly { readonly name: string; readonly summary: string }[];
  readonly path?: readonly CodeFact[];
  readonly facts?: readonly CodeFact[];
  readonly hits?: readonly CodeFact[];
  readonly hubs?: readonly CodeFact[];
  readonly nodes?: readonly CodeFact[];
}

/** An answer of the search of code as lines with places in files; null for what has no lists of facts. */
function codeText(result: CodeResult): string | null {
  if (result.operation === undefined) return null;
  const { diagram, summary, by_depth: byDepth, neighbors, flows, path, found } = result;
  if (diagram !== undefined && result.operation !== 'architecture') return diagram.source;
  if (byDepth !== undefined) {
    const rows = Object.entries(byDepth).flatMap(([depth, facts]) =>
      facts.map((fact) => `${depth}  ${factText(fact)}`),
    );
    return [summary, ...rows].join('\n');
  }
  if (found === false) return 'There is no way from one to the other.';
  if (neighbors !== undefined) {
    const lines = neighbors.map(({ relation, direction, at, node }) => {
      return `${direction === 'in' ? '←' : '→'} ${relation}  ${factText(node)}, at ${harmless(at)}`;
    });
    return lines.length === 0 ? null : lines.join('\n');
  }
  if (flows !== undefined) return flows.map(({ name, summary: text }) => harmless(`${name}: ${text}`)).join('\n');
  const facts = path ?? result.facts ?? result.hits ?? result.hubs ?? result.nodes;
  if (facts === undefined) return null;
  return facts.length === 0 ? NOTHING_FOUND : facts.map(factText).join('\n');
}

function factText({ name, kind, file, line, symbol_kind: symbol, properties }: CodeFact): string {
  const label = properties?.method === undefined ? name : `${properties.method} ${name}`;
  const place = file === undefined ? '' : `  ${file}${line === undefined ? '' : `:${line}`}`;
  return harmless(`${label} (${symbol ?? kind})${place}`);
}

/** A row of a query, a line with tabs between its values. */
function rowText(row: readonly unknown[]): string {
  const values = row.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return values.map((value) => value.replaceAll(/\s+/g, ' ')).join('\t');
}

export function withSource(text: string, source: string | null): string {
  return source === null ? text : `${text.trimEnd()}\n  — ${source}`;
}
