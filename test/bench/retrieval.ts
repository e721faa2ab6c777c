/**
 * Recall of retrieval, as JSON: `npm run bench:retrieval -- [dataset …] [--direct] [--data folder] [--try '{…}']`.
 * Over HTTP by default (add, cognify, `only_context`); `--direct` builds the same indexes in this process and takes the
 * pipeline apart, lane by lane; each `--try` adds a run with changed settings. `qmsum`: questions about conversations,
 * always direct. Read `retrieval/README.md` first.
 */
import { parseArgs } from 'node:util';
import type { RetrievalSettings } from '../../services/search/retrieval/settings.ts';
import { readCorpus } from './retrieval/corpus.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    direct: { type: 'boolean', default: false },
    data: { type: 'string', default: new URL('../../../shared/data/retrieval', import.meta.url).pathname },
    try: { type: 'string', multiple: true, default: [] },
  },
});

const names = positionals.length > 0 ? positionals : ['musique_train', 'hotpotqa_train'];
const changes = values.try.map((text) => JSON.parse(text) as Partial<RetrievalSettings>);
const report: Record<string, unknown> = {};
for (const name of names) {
  if (name === 'qmsum') {
    const { benchConversations } = await import('./retrieval/conversations.ts');
    report[name] = await benchConversations(values.data, changes);
    continue;
  }
  const corpus = await readCorpus(values.data, name);
  const size = { passages: corpus.passages.length, questions: corpus.questions.length };
  const { benchDirect } = values.direct ? await import('./retrieval/direct.ts') : { benchDirect: null };
  if (benchDirect !== null) report[name] = { ...size, ...(await benchDirect(corpus, changes)) };
  else report[name] = { ...size, ...(await (await import('./retrieval/over-http.ts')).benchOverHttp(corpus)) };
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
