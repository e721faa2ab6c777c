import { expect } from 'chai';
import { soughtWith } from './sought-words.ts';

describe('soughtWith', () => {
  it('adds the words of notes to questions for preferences, work and children, and none to others', () => {
    expect(soughtWith('What do I like to eat?')).to.equal('What do I like to eat? loves enjoys favourite prefers food');
    expect(soughtWith('What is my profession?')).to.include('teaches');
    expect(soughtWith('How many children do I have?')).to.include('daughter');
    expect(soughtWith('Where do I live?')).to.equal('Where do I live?');
  });
});
