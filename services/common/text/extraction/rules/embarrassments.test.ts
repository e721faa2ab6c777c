import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

const tag = createTagger();
const extract = (text: string) => extractByRules({ text, documentName: 'note', headings: [], knownNames: [] }, tag);
const shown = (text: string): string[] =>
  extract(text)
    .entities.filter(({ isKeyword }) => isKeyword !== true)
    .map(({ name, type }) => `${name} [${type}]`);
const relations = (text: string): string[] =>
  extract(text).relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`);

describe('mistakes of extraction that must not come back', () => {
  it('are escape sequences in code that become persons', () => {
    const readme = readFileSync(new URL('../../../../../README.md', import.meta.url), 'utf8');
    expect(extract(readme).entities.map(({ name }) => name)).not.to.include('nShe');
    expect(shown(readme).filter((one) => one.endsWith('[Person]'))).to.deep.equal([]);
  });

  it('are programs and scripts that become persons, organisations or places', () => {
    for (const text of [
      'We use SQLite on Windows and MongoDB in the cluster.',
      'I installed Windows on my laptop. SQLite is fast, MongoDB is not.',
      'Docker, Kubernetes and React are tools. I use TypeScript, Kafka and Elasticsearch.',
      'I am learning Hiragana and Katakana.',
      'Hiragana took a week, katakana another week, but kanji felt endless.',
      'Originals are kept in GridFS, in MongoDB.',
    ]) {
      expect(shown(text).join(), text).not.to.match(/Person|Place|Organisation/);
    }
  });

  it('are keywords of a program that become entities', () => {
    expect(shown('const promise = new Promise((resolve) => resolve());')).to.deep.equal([]);
    expect(extract('export async function run() { return promise; }').entities).to.deep.equal([]);
  });

  it('are a comparison that becomes an identity', () => {
    expect(relations('Queequeg is George Washington cannibalistically developed.')).to.deep.equal([]);
    expect(relations('Mark Twain is Samuel Clemens.')).to.deep.equal(['Mark Twain is Samuel Clemens']);
  });

  it('are countries that lie in other countries', () => {
    expect(relations('They traded with Greenland, the United States and Peru.')).to.deep.equal([]);
    expect(relations('The whalers of Greenland, United States, and Peru met.')).to.deep.equal([]);
  });

  it('are cities with the name of a person, and animals and ships that become persons', () => {
    expect(shown('We moved to Austin last year. Austin is hot.').join()).not.to.include('Austin [Person]');
    expect(shown('Moby Dick is a whale.')).to.include('Moby Dick [Concept]');
    const ship = 'The Pequod sailed from Nantucket. The Pequod was an old ship. Ahab commanded the Pequod.';
    expect(shown(ship).join()).not.to.match(/Pequod \[(?:Person|Place)\]/);
    expect(relations(ship)).to.include('Pequod is_a ship');
  });

  it('are relations between names that only stand in one sentence', () => {
    expect(relations('Michelangelo made the David, and the Galleria in Florence shows it.').join()).not.to.match(
      /Michelangelo (?:sibling_of|wrote|created) (?:David|Galleria)/,
    );
    const found = relations('Willi Schneider (born 13 March 1963 in Turin, Italy) is a German skeleton racer.');
    expect(found).to.include.members(['Willi Schneider nationality German', 'Turin located_in Italy']);
  });

  it('are two spellings that become two entities', () => {
    expect(shown('Moby Dick is a whale. They hunted Moby-Dick for years.').join()).not.to.include('Moby-Dick');
  });

  it('are German nouns that become names', () => {
    expect(
      shown('Der Hund spielt im Garten mit der Katze. Angela Merkel wohnt in Berlin, und die Sonne scheint.'),
    ).to.deep.equal(['Angela Merkel [Person]', 'Berlin [Place]']);
  });
});
