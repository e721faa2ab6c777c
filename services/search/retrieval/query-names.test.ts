import { expect } from 'chai';
import { idFor } from '../../common/kernel/ids.ts';
import { analyseQuery } from './query-analysis.ts';
import { longestNames, queryNames } from './query-names.ts';

const namesOf = (query: string) => queryNames(analyseQuery(query)).map((name) => name.name);

describe('names in a query', () => {
  it('returns every span that may be a name, with the id of its entity', () => {
    const found = queryNames(analyseQuery('Who wrote Alexander and the Terrible Day?'));
    expect(found.map((name) => name.name)).to.include('Alexander and the Terrible Day');
    expect(found.find((name) => name.name === 'Alexander')?.entityId).to.equal(idFor('Entity', 'Alexander'));
  });

  it('drops the possessive ending', () => {
    expect(namesOf("Who is Big Eye's main director?")).to.include('Big Eye');
  });

  it('ignores single words in lower case, unless the query has no capitals', () => {
    expect(namesOf('Which county is Oslo in?')).not.to.include('county');
    expect(namesOf('which county is oslo in?')).to.include('oslo');
  });

  it('keeps the longest of overlapping names', () => {
    const name = (text: string, from: number, until: number) => ({ entityId: text, name: text, from, until });
    const kept = longestNames([name('New York', 1, 3), name('New York City', 1, 4), name('Oslo', 5, 6)]);
    expect(kept.map((one) => one.name)).to.deep.equal(['New York City', 'Oslo']);
  });
});
