import { expect } from 'chai';
import { wordSenses } from '../words/word-senses.ts';
import { asksOwnName, ownNameIn, userNameIn } from './own-name.ts';

const isWord = (word: string, isAlone: boolean) => {
  const { noun, verb } = wordSenses().partsOf(wordSenses().row(word));
  return noun + verb > 0 && (isAlone || noun < 1);
};

describe('the own name', () => {
  it('is asked for by questions without another subject', () => {
    for (const question of ['What is my name?', "What's my full name?", 'Who am I?', 'What is the user’s name?'])
      expect(asksOwnName(question), question).to.equal(true);
    for (const question of ["What is my sister's name?", 'What is my name for the boat?', 'Who am I meeting?'])
      expect(asksOwnName(question), question).to.equal(false);
  });

  it('is said by introductions, and not by what one is', () => {
    const said = (text: string) => ownNameIn(text, isWord);
    expect(said("I'm Lennart Voss, a developer.")).to.equal('Lennart Voss');
    expect(said('My name is Tom.')).to.equal('Tom');
    expect(said('The user, Priya Nair, is a nurse.')).to.equal('Priya Nair');
    expect(said('Ich heiße Ada Moss.')).to.equal('Ada Moss');
    expect(said("I'm German, from Kiel.")).to.equal(null);
    expect(said('I am Roman Catholic.')).to.equal(null);
    expect(said("My sister's name is Tom.")).to.equal(null);
  });

  it('of the user is read from notes of an assistant alone', () => {
    expect(userNameIn('The user, Priya Nair, is a nurse.')).to.equal('Priya Nair');
    expect(userNameIn("The user's name is Bo Lind.")).to.equal('Bo Lind');
    expect(userNameIn('The user, Admin or not, signs in.')).to.equal(null);
    expect(userNameIn('The user opens Settings, then Network.')).to.equal(null);
  });
});
