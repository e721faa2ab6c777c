import { expect } from 'chai';
import { names } from './names.ts';

const found = (text: string): string[] => names(text).map((name) => name.text);

describe('names', () => {
  it('finds runs of capitals with particles, initials, numbers and suffixes', () => {
    const text =
      'Today Ludwig van Beethoven, J. R. R. Tolkien, Simon & Schuster, Acme, Inc. and King Albert I of Belgium met at the 1999 World Drivers’ Championship after World War II and Apollo 11.';
    expect(found(text)).to.include.members([
      'Ludwig van Beethoven',
      'J. R. R. Tolkien',
      'Simon & Schuster',
      'Acme, Inc.',
      'World War II',
      'Apollo 11',
    ]);
    expect(found('in the 1999 World Drivers’ Championship')).to.deep.equal(['1999 World Drivers’ Championship']);
  });

  it('names the place inside an office or institution too', () => {
    expect(found('at the University of Belgrade')).to.deep.equal(['University of Belgrade', 'Belgrade']);
    expect(found('in Vyborgsky District of the Republic of Karelia')).to.deep.equal([
      'Vyborgsky District',
      'Republic of Karelia',
      'Karelia',
    ]);
  });

  it('does not take the opening of a sentence for a name', () => {
    expect(
      found('Then Alice left. Later the ship sank. In Paris it rained. Finally Bob came. Which man? What is it?'),
    ).to.deep.equal(['Alice', 'Paris', 'Bob']);
    expect(found('It’s late. Don’t go. I’m Tom.')).to.deep.equal(['Tom']);
  });

  it('marks a single opening word as uncertain unless it is a name elsewhere', () => {
    expect(names('Photosynthesis needs light.')[0]).to.include({ text: 'Photosynthesis', isUncertain: true });
    expect(names('Ahab slept. At night Ahab woke.').map((name) => name.isUncertain)).to.deep.equal([false, false]);
  });

  it('separates the possessive and the form of address', () => {
    const text = "We saw Ahab's leg and Mr. Starbuck.";
    expect(found(text)).to.deep.equal(['Ahab', 'Starbuck']);
    for (const name of names(text)) expect(text.slice(name.start, name.end)).to.equal(name.text);
  });

  it('distinguishes quoted titles from speech', () => {
    expect(names('She wrote "Thinking Out Loud" in 2014.').map((name) => [name.kind, name.text])).to.deep.include([
      'work',
      'Thinking Out Loud',
    ]);
    expect(names('“Why not?” said I. “Aye, Sir,” cried he.').some((name) => name.kind === 'work')).to.equal(false);
  });

  it('finds acronyms, identifiers, addresses and quantities', () => {
    const kinds = new Map(
      names(
        'At NASA we call getUserById and load_config, mail bob@example.com, pay $3.5 million for 42% of 170 kilometers.',
      ).map((name) => [name.text, name.kind]),
    );
    expect(Object.fromEntries(kinds)).to.deep.equal({
      NASA: 'acronym',
      getUserById: 'identifier',
      load_config: 'identifier',
      'bob@example.com': 'identifier',
      '$3.5 million': 'quantity',
      '42%': 'quantity',
      '170 kilometers': 'quantity',
    });
  });

  it('does not read a heading in capitals as one long name', () => {
    expect(found('CHAPTER ONE. THE WHALE AND THE SEA')).to.deep.equal([]);
  });

  it('joins a name that is broken over two lines', () => {
    expect(found('and after a long and stormy passage he sailed from New\nBedford.')).to.deep.equal(['New Bedford']);
  });
});
