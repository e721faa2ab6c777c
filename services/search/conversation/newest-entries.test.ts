import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { newestEntries } from './newest-entries.ts';
import { rankByOverlap, wordsOf } from './word-overlap.ts';

/** Entries 1 to `count`, each `size` characters long, and the pages that were read. */
function pagesOf(count: number, options: { readonly expired?: number; readonly size?: number } = {}) {
  const { expired = 0, size = 100 } = options;
  const read: { readonly after: number; readonly limit: number }[] = [];
  return {
    read,
    pages: {
      count,
      expired,
      async after(number: number, limit: number) {
        read.push({ after: number, limit });
        const numbers = Array.from({ length: limit }, (_, index) => number + 1 + index);
        return numbers.filter((one) => one > expired && one <= count);
      },
      sizeOf: () => size,
    },
  };
}

describe('the newest entries of a session', () => {
  it('are all of a short one, oldest first', async () => {
    const { pages, read } = pagesOf(120);
    const { entries, unread } = await newestEntries(pages);
    expect(entries).to.deep.equal(Array.from({ length: 120 }, (_, index) => index + 1));
    expect(unread).to.equal(0);
    expect(read.map(({ limit }) => limit)).to.deep.equal([10, 40, 70]);
  });

  it('of ten thousand are as many as the limit, with the number left unread', async () => {
    const { pages, read } = pagesOf(10_000);
    const { entries, unread } = await newestEntries(pages);
    expect([entries.length, entries.at(-1), unread]).to.deep.equal([2000, 10_000, 8000]);
    expect(read.length).to.be.at.most(7);
  });

  it('are few when they are large', async () => {
    const { pages, read } = pagesOf(1000, { size: 1_000_000 });
    const { entries, unread } = await newestEntries(pages);
    expect([entries.length, unread, read.length]).to.deep.equal([10, 990, 1]);
  });

  it('end at the expired ones', async () => {
    const { entries, unread } = await newestEntries(pagesOf(100, { expired: 90 }).pages);
    expect([entries, unread]).to.deep.equal([[91, 92, 93, 94, 95, 96, 97, 98, 99, 100], 0]);
    expect((await newestEntries(pagesOf(0).pages)).entries).to.deep.equal([]);
  });
});

describe('overlap of words', () => {
  const rank = (query: string, texts: readonly string[], limit = 10) =>
    rankByOverlap(wordsOf(query), texts, { textsOf: (text) => [text], limit }).map(({ entry }) => entry);

  it('counts each word of at least two letters once, ignoring case, in any script', () => {
    expect(rank('Where is ADA?', ['ada ada ada', 'where is ada', 'a b c'])).to.deep.equal([
      'where is ada',
      'ada ada ada',
    ]);
    expect(rank('где Анна', ['здесь анна'])).to.deep.equal(['здесь анна']);
  });

  it('matches whole words only, beyond the basic plane too', () => {
    expect(rank('door', ['doors', 'outdoor', 'door_1', 'the doors, the door!'])).to.deep.equal([
      'the doors, the door!',
    ]);
    expect(rank('ab', ['\u{10400}ab', 'ab\u{10400}', '\u{1f600}ab\u{1f600}'])).to.deep.equal(['\u{1f600}ab\u{1f600}']);
  });

  it('counts the same with many words as with few, and past matches inside other words', () => {
    const many = Array.from({ length: 500 }, (_, at) => `word${at}`).join(' ');
    expect(rank(`${many} door`, ['doors', 'x', 'the door', 'word7 and word499'])).to.deep.equal([
      'word7 and word499',
      'the door',
    ]);
    expect(rank('door', [`${'outdoors '.repeat(1000)}door`, 'outdoors '.repeat(1000)])).to.have.length(1);
  });

  it('is not slower for words that match everywhere', () => {
    const words = Array.from({ length: 400 }, (_, at) => 'a'.repeat(at + 2)).join(' ');
    const texts = Array.from({ length: 20 }, () => 'a'.repeat(100_000));
    const before = threadCpuTimeMs();
    expect(rank(words, texts)).to.deep.equal([]);
    expectQuick(threadCpuTimeMs() - before, 2000);
  });

  it('keeps the order of ties, and omits entries without a common word', () => {
    expect(rank('red green', ['one red', 'blue', 'two green', 'red green'], 2)).to.deep.equal(['red green', 'one red']);
    expect(rank('!', ['!'])).to.deep.equal([]);
  });
});
