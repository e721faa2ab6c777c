import { setTimeout as sleep } from 'node:timers/promises';

/** One request and how it ended. */
export interface Exchange {
  readonly what: string;
  readonly startedAtMs: number;
  readonly tookMs: number;
  /** Of HTTP; null: there was no answer in time. */
  readonly status: number | null;
  readonly retryAfter: string | null;
  /** The start of an answer that is no 200, or why there is none. */
  readonly fault: string;
}

/** Requests of every kind, again and again, until it is stopped. */
export interface SteadyLoad {
  readonly exchanges: readonly Exchange[];
  /** Words that stand in texts whose add was acknowledged, by dataset. */
  readonly kept: ReadonlyMap<string, readonly string[]>;
  /** Runs that were acknowledged. */
  readonly runs: ReadonlySet<string>;
  stop(): Promise<void>;
}

interface SteadyLoadOptions {
  readonly baseUrl: string;
  readonly datasets: readonly string[];
  /** Between the requests of one worker. */
  readonly pauseMs: number;
  /** What has no answer then counts as hanging. */
  readonly patienceMs: number;
}

interface Answer extends Exchange {
  readonly body: unknown;
}

/** A worker for each kind and dataset. */
export function startLoad(options: SteadyLoadOptions): SteadyLoad {
  const exchanges: Exchange[] = [];
  const kept = new Map<string, string[]>();
  const runs = new Set<string>();
  const over = new AbortController();
  const ask = async (what: string, path: string, body?: object): Promise<Answer> => {
    const answer = await exchange(options, what, path, body);
    const { body: _, ...told } = answer;
    exchanges.push(told);
    return answer;
  };
  const repeated = async (work: () => Promise<unknown>): Promise<void> => {
    while (!over.signal.aborted) {
      await work();
      await sleep(options.pauseMs);
    }
  };
  const add = async (datasetName: string): Promise<void> => {
    const word = `zq${Math.random().toString(36).slice(2, 12)}`;
    const text = `Ada Lovelace sent letter ${word} to Charles Babbage in London. Babbage answered letter ${word} from Turin.`;
    const added = await ask('add', '/add', { datasetName, data: [text] });
    if (added.status !== 200) return;
    kept.set(datasetName, [...(kept.get(datasetName) ?? []), word]);
    const started = await ask('cognify', '/cognify', { datasets: [datasetName], runInBackground: true });
    if (started.status !== 200) return;
    const states = Object.values(started.body as Readonly<Record<string, { readonly pipeline_run_id: string }>>);
    for (const { pipeline_run_id: run } of states) runs.add(run);
  };
  const query = 'Who answered Ada Lovelace?';
  const workers = options.datasets.flatMap((name) => [
    repeated(() => add(name)),
    repeated(() => ask('search', '/search', { query, datasets: [name], searchType: 'CHUNKS' })),
    repeated(() =>
      ask('graph', '/search', { query, datasets: [name], searchType: 'GRAPH_COMPLETION', onlyContext: true }),
    ),
    repeated(() => ask('recall', '/recall', { query, datasets: [name] })),
  ]);
  workers.push(repeated(() => ask('list', '/datasets')));
  return {
    exchanges,
    kept,
    runs,
    async stop() {
      over.abort();
      await Promise.all(workers);
    },
  };
}

async function exchange(options: SteadyLoadOptions, what: string, path: string, body?: object): Promise<Answer> {
  const startedAtMs = performance.now();
  const ended = (rest: Pick<Answer, 'status' | 'retryAfter' | 'fault' | 'body'>): Answer => ({
    what,
    startedAtMs,
    tookMs: Math.round(performance.now() - startedAtMs),
    ...rest,
  });
  try {
    const response = await fetch(`${options.baseUrl}/api/v1${path}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(options.patienceMs),
    });
    const text = await response.text();
    const { status } = response;
    const fault = status === 200 ? '' : text.slice(0, 200);
    const parsed = status === 200 ? (JSON.parse(text) as unknown) : null;
    return ended({ status, retryAfter: response.headers.get('retry-after'), fault, body: parsed });
  } catch (error) {
    return ended({ status: null, retryAfter: null, fault: String(error), body: null });
  }
}
