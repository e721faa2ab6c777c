import { expect } from 'chai';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId, dataItemId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import type { Supersession } from '../../common/records/cognify/supersessions.ts';
import type { RankedPassage } from '../model.ts';
import type { Retrieval, Retriever } from './retrieval.ts';
import { createCurrentRetriever } from './superseded-statements.ts';

const SCOPE = datasetScope(asId('t'), asId('d'));

function passage(id: string, text: string): RankedPassage {
  const payload = { text } as RankedPassage['payload'];
  const explanation = {} as RankedPassage['explanation'];
  return { id, payload, row: { id, payload } as unknown as RankedPassage['row'], explanation } as RankedPassage;
}

function retrieverOf(
  passages: readonly RankedPassage[],
  hidden: readonly string[] = [],
): Retriever & { limits: number[] } {
  const limits: number[] = [];
  const visibility = {
    filter: async (rows: readonly object[]) => rows.filter((row) => !hidden.includes((row as { item: string }).item)),
  };
  return {
    limits,
    async retrieve({ limit }) {
      limits.push(limit);
      return { passages: passages.slice(0, limit), visibility } as unknown as Retrieval;
    },
  };
}

const side = (item: string, text: string, from: string) => ({
  item: dataItemId(item),
  chunk: item,
  text,
  value: text,
  generation: 1,
  at: from,
  from,
  support: 1,
});
const moved: Supersession = {
  id: 's',
  subject: 'Ann',
  predicate: 'lives_in',
  reason: 'newer_value',
  detectedAt: '2031-01-01T00:00:00.000Z',
  older: side('old', 'Ann lives in Oslo.', '2030-01-01T00:00:00.000Z'),
  newer: side('new', 'Ann lives in Rome.', '2031-01-01T00:00:00.000Z'),
  reverted: null,
};
const found = (...supersessions: readonly Supersession[]) => ({ ofChunks: async () => supersessions });
const OLD = passage('old', 'Ann lives in Oslo.');
const NEW = passage('new', 'Ann lives in Rome.');
const MIXED = passage('old', 'Ben keeps bees. Ann lives in Oslo. He sells honey.');
const request = { scope: SCOPE, query: 'Ann', vector: null, limit: 2, influence: {} } as unknown as Parameters<
  Retriever['retrieve']
>[0];
const texts = ({ passages }: Retrieval) => passages.map(({ payload }) => payload.text);

describe('retrieval without superseded statements', () => {
  it('returns the same object when nothing in it was superseded', async () => {
    const inner = retrieverOf([OLD, NEW]);
    const expected = await inner.retrieve(request);
    const wrapped = createCurrentRetriever({ retrieve: async () => expected }, found());
    expect(await wrapped.retrieve(request)).to.equal(expected);
  });

  it('omits a passage without other content, and fills its place', async () => {
    const inner = retrieverOf([OLD, NEW, passage('third', 'Ben keeps bees.')]);
    const answer = await createCurrentRetriever(inner, found(moved)).retrieve(request);
    expect(texts(answer)).to.deep.equal(['Ann lives in Rome.', 'Ben keeps bees.']);
    expect(inner.limits).to.deep.equal([2, 4]);
  });

  it('removes the sentence from a passage with other content', async () => {
    const answer = await createCurrentRetriever(retrieverOf([MIXED, NEW]), found(moved)).retrieve(request);
    expect(texts(answer)).to.deep.equal(['Ben keeps bees. He sells honey.', 'Ann lives in Rome.']);
    expect(answer.passages[0]?.row.payload['text']).to.equal('Ben keeps bees. He sells honey.');
  });

  it('returns what held at a time, or everything on request', async () => {
    const wrapped = createCurrentRetriever(retrieverOf([OLD, NEW]), found(moved));
    const then = { ...request, view: { currentOnly: true, asOf: '2030-06-01T00:00:00.000Z' } };
    expect(texts(await wrapped.retrieve(then))).to.deep.equal(['Ann lives in Oslo.']);
    const all = await wrapped.retrieve({ ...request, view: { currentOnly: false, asOf: null } });
    expect(texts(all)).to.deep.equal(['Ann lives in Oslo.', 'Ann lives in Rome.']);
    const states = all.passages.map(({ explanation }) => explanation.statements?.map(({ state }) => state));
    expect(states).to.deep.equal([['superseded'], ['current']]);
  });

  it('keeps statements whose supersession was reverted, or whose successor was forgotten', async () => {
    const reverted = { ...moved, reverted: { by: asId<UserId>('u'), at: '2031-02-01T00:00:00.000Z' } };
    const back = await createCurrentRetriever(retrieverOf([OLD, NEW]), found(reverted)).retrieve(request);
    expect(texts(back)).to.include('Ann lives in Oslo.');
    const forgotten = await createCurrentRetriever(retrieverOf([OLD], ['new']), found(moved)).retrieve(request);
    expect(texts(forgotten)).to.deep.equal(['Ann lives in Oslo.']);
  });
});
