import { expect } from 'chai';
import { asksForLink, readQuestion, wordsOf } from './question.ts';

describe('the type of a question', () => {
  for (const [question, type] of [
    ['What is my salary?', 'number'],
    ["What's the maximum price of a hotel in Paris?", 'number'],
    ['What is the length of the trail?', 'number'],
    ['What is the limit of the plan?', 'thing'],
    ['What is my priceless vase called?', 'thing'],
    ['Who pays the rent?', 'person'],
    ['How do I pay the rent?', 'way'],
  ]) {
    it(`is ${type} for "${question}"`, () => {
      expect(readQuestion(question ?? '').type).to.equal(type);
    });
  }
});

describe('the words of a text', () => {
  it('are not those of the addresses that its links lead to', () => {
    expect(wordsOf('See the handbook (https://example.org/http/3) first.')).to.deep.equal([
      'see',
      'the',
      'handbook',
      'first',
    ]);
    expect(wordsOf('https://example.org')).to.deep.equal(['https', 'example', 'org']);
    expect(asksForLink('What is the URL of the handbook?')).to.equal(true);
    expect(asksForLink('What is in the handbook?')).to.equal(false);
  });
});
