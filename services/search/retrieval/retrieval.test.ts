import { expect } from 'chai';
import { limitRetrievals, type Retrieval, type RetrievalRequest } from './retrieval.ts';

describe('limited retrievals', () => {
  it('run up to the limit, start in order, and do not start when aborted while waiting', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const retriever = limitRetrievals(
      {
        retrieve: ({ query }) => {
          begun.push(query);
          return new Promise((resolve) => ends.push(() => resolve({} as Retrieval)));
        },
      },
      2,
    );
    const givenUp = new AbortController();
    const ask = (query: string, signal?: AbortSignal) =>
      retriever.retrieve({ query, signal } as unknown as RetrievalRequest).then(
        () => 'found',
        () => 'given up',
      );
    const answers = [ask('a'), ask('b'), ask('c', givenUp.signal), ask('d')];
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(begun).to.deep.equal(['a', 'b']);
    givenUp.abort();
    ends[0]?.();
    await turn();
    expect(begun).to.deep.equal(['a', 'b', 'd']);
    for (const end of ends) end();
    expect(await Promise.all(answers)).to.deep.equal(['found', 'found', 'given up', 'found']);
  });
});
