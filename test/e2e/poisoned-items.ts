import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { until } from '../support/until.ts';
import type { Wire } from '../support/wire.ts';

/** For a server whose texts may be poisonous. */
export const POISONED = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../support/poison-texts.mjs', import.meta.url))}`,
};

/** What becomes of an item whose text has the word. */
const KINDS = {
  good: { word: '', outcome: 'built' },
  /** Its stored text cannot be read; the original can. */
  cut: { word: 'POISON-CUT', outcome: 'built' },
  /** Extraction ends its worker process. */
  chunk: { word: 'ENDS-WORKER', outcome: 'built' },
  broken: { word: 'POISON-BROKEN', outcome: 'failed' },
  /** Building it ends the server. */
  deadly: { word: 'POISON-ENDS-SERVER', outcome: 'failed' },
} as const;
type Kind = keyof typeof KINDS;

/** Arrangements with one deadly item at most: each costs three servers. */
export const arrangement: fc.Arbitrary<readonly Kind[]> = fc
  .tuple(fc.array(fc.constantFrom<Kind>('good', 'cut', 'chunk', 'broken'), { minLength: 2, maxLength: 7 }), fc.nat())
  .map(([kinds, at]) => kinds.toSpliced(at % (kinds.length + 1), 0, 'deadly').toSpliced(at % kinds.length, 0, 'good'));

function nameOf(kind: Kind, at: number): string {
  return `letter-${at}-${kind}`;
}

function textOf(kind: Kind, at: number): string {
  return `Ada Lovelace met Charles Babbage in London. This is letter number ${at}. ${KINDS[kind].word}`.trim();
}

interface Processing {
  readonly items: readonly {
    readonly name: string;
    readonly completed: boolean;
    readonly failure?: { readonly is_set_aside: boolean; readonly error_message: string; readonly tries: number };
  }[];
}

/** Adds the items and builds them; `whenAway` is called whenever the server does not answer. */
export async function buildPoisoned(
  wireOf: () => Wire,
  dataset: string,
  kinds: readonly Kind[],
  whenAway: () => Promise<void>,
): Promise<void> {
  const files = kinds.map((kind, at) => ({ name: `${nameOf(kind, at)}.txt`, content: textOf(kind, at) }));
  expect((await wireOf().upload(dataset, ...files)).status).to.equal(200);
  const started = await wireOf().post('/cognify', { datasets: [dataset], run_in_background: true });
  expect(started.status, started.text).to.equal(200);
  const [id = ''] = Object.keys(started.json);
  const hasEnded = async () => {
    const answer = await wireOf()
      .get(`/datasets/status?dataset=${id}`)
      .catch(() => null);
    if (answer?.status === 200) return /COMPLETED|ERRORED/.test(answer.text);
    await whenAway();
    return false;
  };
  await until('the run has ended', hasEnded, { everyMs: 50, limitMs: 120_000 });
  await expectOutcomes(wireOf(), id, kinds);
  const search = await wireOf().post('/search', {
    query: 'letter number',
    searchType: 'CHUNKS',
    dataset_ids: [id],
    topK: 50,
  });
  for (const [at, kind] of kinds.entries()) {
    const sentence = `This is letter number ${at}.`;
    expect(search.text.includes(sentence), `${nameOf(kind, at)} is found`).to.equal(KINDS[kind].outcome === 'built');
  }
}

async function expectOutcomes(wire: Wire, id: string, kinds: readonly Kind[]): Promise<void> {
  const status = await wire.get(`/datasets/status?dataset=${id}`);
  expect(status.json[id]).to.equal('DATASET_PROCESSING_COMPLETED');
  const { items } = (await wire.get(`/datasets/${id}/processing-status`)).json as Processing;
  const outcomes = Object.fromEntries(
    items.map(({ name, completed, failure }) => [name, outcomeOf({ completed, ...(failure && { failure }) })]),
  );
  expect(outcomes).to.deep.equal(Object.fromEntries(kinds.map((kind, at) => [nameOf(kind, at), KINDS[kind].outcome])));
  for (const { name, failure } of items) {
    if (name.includes('broken')) expect(failure?.error_message).to.equal('this document is poisoned');
    if (name.includes('deadly')) expect(failure).to.include({ tries: 3, is_set_aside: true });
  }
}

/** What was beside a deadly item may be set aside at its first own failure. */
function outcomeOf({ completed, failure }: Pick<Processing['items'][number], 'completed' | 'failure'>): string {
  if (completed) return 'built';
  return failure === undefined ? 'waiting' : 'failed';
}
