import { fileNameOf, startBenchServer } from '../bench-server.ts';
import { askAll, type RunReport } from './asked.ts';
import type { BenchCorpus } from './corpus.ts';

const DATASET = 'bench';
const DEPTH = 10;

interface HttpReport {
  readonly addMs: number;
  readonly cognifyMs: number;
  readonly runs: Record<string, RunReport>;
}

/** Runs the bench through the public API: add, cognify, then `only_context` for every question. */
export async function benchOverHttp(corpus: BenchCorpus): Promise<HttpReport> {
  await using server = await startBenchServer();
  const start = performance.now();
  await server.upload(
    DATASET,
    corpus.passages.map(({ title, text }) => ({ name: fileNameOf(title), content: text })),
  );
  const added = performance.now();
  await server.post('/cognify', { datasets: [DATASET] });
  const built = performance.now();
  const positions = new Map(corpus.passages.map((passage, at) => [normal(passage.text), at]));
  const ask = (searchType: string) => async (query: string) => {
    const body = { query, searchType, datasets: [DATASET], topK: DEPTH, onlyContext: true };
    const [entry] = (await server.post('/search', body)) as readonly { readonly search_result: string }[];
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
}

/**
 * Finds the passages of a context in their order. Each is searched by its text, so that the bench does not depend on the
 * format of contexts.
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
