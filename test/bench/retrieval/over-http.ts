import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { slices } from '../../../services/common/kernel/slices.ts';
import { loadConfig } from '../../../services/common/platform/config/load-config.ts';
import { createLogger } from '../../../services/common/platform/observability/logger.ts';
import { startEngram } from '../../../services/main.ts';
import { askAll, type RunReport } from './asked.ts';
import type { BenchCorpus, BenchPassage } from './corpus.ts';

const DATASET = 'bench';
const UPLOAD_BATCH = 100;
const DEPTH = 10;

export interface HttpReport {
  readonly addMs: number;
  readonly cognifyMs: number;
  readonly runs: Record<string, RunReport>;
}

/** The whole way through the public API: add, cognify, then `only_context` for every question. */
export async function benchOverHttp(corpus: BenchCorpus): Promise<HttpReport> {
  const directory = await mkdtemp(path.join(tmpdir(), 'engram-retrieval-'));
  const { config } = loadConfig({ ENGRAM_DATA_DIR: directory, HTTP_API_PORT: '0' });
  const engram = await startEngram({ config, logger: createLogger({ level: 'warn', name: 'bench' }) });
  try {
    const start = performance.now();
    await upload(engram.url, corpus);
    const added = performance.now();
    await post(engram.url, '/cognify', { datasets: [DATASET] });
    const built = performance.now();
    const positions = new Map(corpus.passages.map((passage, at) => [normal(passage.text), at]));
    const ask = (searchType: string) => async (query: string) => {
      const body = { query, searchType, datasets: [DATASET], topK: DEPTH, onlyContext: true };
      const [entry] = (await post(engram.url, '/search', body)) as readonly { readonly search_result: string }[];
      return passagesOf(searchType, entry?.search_result ?? '', positions);
    };
    const runs = await askAll(corpus, [
      { name: 'CHUNKS_LEXICAL (BM25 alone)', ask: ask('CHUNKS_LEXICAL') },
      { name: 'HYBRID_COMPLETION', ask: ask('HYBRID_COMPLETION') },
      { name: 'CHUNKS', ask: ask('CHUNKS') },
      { name: 'RAG_COMPLETION', ask: ask('RAG_COMPLETION') },
      { name: 'GRAPH_COMPLETION', ask: ask('GRAPH_COMPLETION') },
    ]);
    return { addMs: Math.round(added - start), cognifyMs: Math.round(built - added), runs };
  } finally {
    await engram.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function upload(url: string, corpus: BenchCorpus): Promise<void> {
  for (const passages of slices(corpus.passages, UPLOAD_BATCH)) {
    const form = new FormData();
    form.set('datasetName', DATASET);
    for (const passage of passages) {
      form.append('data', new Blob([passage.text], { type: 'text/plain' }), fileName(passage));
    }
    const response = await fetch(`${url}/api/v1/add`, { method: 'POST', body: form });
    if (!response.ok) throw new Error(`add answered ${response.status}: ${await response.text()}`);
  }
}

/** Titles are the names of the files; a slash would be a folder. */
function fileName(passage: BenchPassage): string {
  return `${passage.title.replaceAll('/', ' ')}.txt`;
}

async function post(url: string, route: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/api/v1${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${route} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/**
 * Finds the passages in a context in the order they stand there. Each is looked up by its text, so that the bench
 * depends on no detail of the context's form.
 */
function passagesOf(searchType: string, context: string, positions: ReadonlyMap<string, number>): readonly number[] {
  const found = new Map<number, number>();
  const blocks =
    searchType === 'HYBRID_COMPLETION'
      ? (/## Relevant passages\n([\s\S]*?)(?:\n\n## Relevant entities|`$)/u.exec(context)?.[1] ?? '').split('\n---\n')
      : searchType === 'GRAPH_COMPLETION'
        ? [...context.matchAll(/__node_content_start__\n([\s\S]*?)\n__node_content_end__/gu)].map(
            (match) => match[1] ?? '',
          )
        : (context.split('Context:\n`').at(-1)?.replace(/`$/u, '').split('\n') ?? []);
  for (const [index, block] of blocks.entries()) {
    const position = positions.get(normal(block));
    if (position !== undefined && !found.has(position)) found.set(position, index);
  }
  return [...found.keys()];
}

function normal(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
