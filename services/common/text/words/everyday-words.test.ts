import { expect } from 'chai';
import { everydayWords } from './everyday-words.ts';
import { wordSenses } from './word-senses.ts';

const row = (word: string) => wordSenses().row(word);
const like = (word: string, other: string) => everydayWords().likenessTo(row(word))?.(row(other)) ?? 0;

describe('everyday words', () => {
  it('knows the inflected forms of the words of a group', () => {
    expect(like('cast', 'plaster')).to.be.within(0.5, 1);
    expect(like('buying', 'bought')).to.be.within(0.3, 1);
    expect(like('cast', 'violin')).to.equal(0);
  });

  it('trusts a common word of a group less than a rare one', () => {
    expect(like('quit', 'left')).to.be.within(0.2, like('quit', 'resign') - 0.1);
  });

  it('tells the members of a kind, and not the other way round', () => {
    expect(everydayWords().kindOf(row('pastime')).has(row('knit'))).to.equal(true);
    expect(everydayWords().kindOf(row('knit')).has(row('pastime'))).to.equal(false);
  });

  it('reads phrases in any form of their verb', () => {
    expect(everydayWords().phrasesIn('My mother looked after the children.'.split(' '))).to.include('babysit');
    expect(everydayWords().phrasesIn('Somebody broke into the shop.'.split(' '))).to.include('burgle');
    expect(everydayWords().phrasesIn('She looked at the children.'.split(' '))).to.deep.equal([]);
  });
});
