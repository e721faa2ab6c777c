import { expect } from 'chai';
import { resolveEntities } from './resolve-entities.ts';

const entity = (name: string, type = 'Person', aliases: string[] = []) => ({ name, type, aliases, mentions: 1 });

describe('resolveEntities', () => {
  it('merges spellings, ranks, aliases and short names, with the reason', () => {
    const { merges, names, canonical } = resolveEntities([
      entity('Herman Melville'),
      entity('HERMAN MELVILLE'),
      entity('Melville', 'Concept'),
      entity('Captain Ahab'),
      entity('Ahab'),
      entity('Acme Corp', 'Organisation'),
      entity('Acme', 'Concept'),
      entity('World Health Organization', 'Organisation'),
      entity('WHO', 'Organisation'),
    ]);
    expect(names).to.deep.equal(['Herman Melville', 'Ahab', 'Acme Corp', 'World Health Organization']);
    expect(merges).to.deep.include({ name: 'HERMAN MELVILLE', into: 'Herman Melville', reason: 'same spelling' });
    expect(merges).to.deep.include({ name: 'Captain Ahab', into: 'Ahab', reason: 'title left out' });
    expect(merges).to.deep.include({
      name: 'Melville',
      into: 'Herman Melville',
      reason: 'short for the only full name',
    });
    expect(canonical('WHO')).to.equal('World Health Organization');
    expect(canonical('unknown')).to.equal('unknown');
  });

  it('merges a nickname with the only person who may bear it', () => {
    const sam = entity('Sam', 'Concept');
    expect(resolveEntities([entity('Samuel Okafor'), sam]).canonical('Sam')).to.equal('Samuel Okafor');
    expect(resolveEntities([entity('Samuel Okafor'), entity('Sam Hill'), sam]).canonical('Sam')).to.equal('Sam Hill');
    expect(resolveEntities([entity('Samuel Okafor'), entity('Samantha Cole'), sam]).merges).to.deep.equal([]);
  });

  it('does not merge a surname that two persons bear', () => {
    const { names, merges } = resolveEntities([entity('John Smith'), entity('Ann Smith'), entity('Smith')]);
    expect(names).to.deep.equal(['John Smith', 'Ann Smith', 'Smith']);
    expect(merges).to.deep.equal([]);
  });

  it('does not merge a place with a person who bears its name, nor names of different types', () => {
    const { merges } = resolveEntities([
      entity('George Washington'),
      entity('Washington', 'Place'),
      entity('Melville Ltd', 'Organisation'),
      entity('Herman Melville'),
      entity('Melville', 'Person'),
    ]);
    expect(merges.map(({ name }) => name)).not.to.include('Washington');
    expect(merges).not.to.deep.include({
      name: 'Melville',
      into: 'Melville Ltd',
      reason: 'short for the only full name',
    });
  });

  it('never makes a circle', () => {
    const { canonical } = resolveEntities([
      entity('Ahab of Nantucket', 'Person', ['Ahab']),
      entity('Ahab', 'Person', ['Ahab of Nantucket']),
    ]);
    expect(canonical('Ahab')).to.equal('Ahab of Nantucket');
  });
});
