import { expect } from 'chai';
import { placeTable } from './place-table.ts';

describe('the table of places', () => {
  const places = placeTable();

  it('knows the level of a place by its names in several languages', () => {
    expect(['Seville', 'sevilla', 'Köln', 'Wien', 'Londres'].map((name) => places.levels(name))).to.deep.equal(
      Array.from({ length: 5 }, () => ['city']),
    );
    expect(places.levels('España')).to.deep.equal(['country']);
    expect(places.levels('California')).to.deep.equal(['region']);
    expect(places.levels('Queequeg')).to.deep.equal([]);
  });

  it('knows what lies in what, over several steps and in one direction', () => {
    expect(places.liesIn('Chicago', 'Illinois')).to.equal(true);
    expect(places.liesIn('Chicago', 'United States')).to.equal(true);
    expect(places.liesIn('Sevilla', 'Spain')).to.equal(true);
    expect(places.liesIn('Spain', 'Sevilla')).to.equal(false);
    expect(places.liesIn('Paris', 'Germany')).to.equal(false);
  });

  it('knows spellings of one place', () => {
    expect(places.areSame('München', 'Munich')).to.equal(true);
    expect(places.areSame('Munich', 'Vienna')).to.equal(false);
  });
});
