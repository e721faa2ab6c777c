import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createRulesExtractor } from '../../../../../test/support/rules-extractor.ts';
import { asId } from '../../../kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../../kernel/scope.ts';
import type { Extraction, ExtractionInput } from '../../../ports/extractor.ts';
import type { ModelCallContext } from '../../../ports/models.ts';

const context: ModelCallContext = { scope: datasetScope(PERSONAL_TENANT, asId('d')), purpose: 'extraction' };
const extractor = createRulesExtractor();

async function extract(text: string, overrides: Partial<ExtractionInput> = {}): Promise<Extraction> {
  return extractor.extract({ text, documentName: 'note', headings: [], knownNames: [], ...overrides }, context);
}

const typeOf = ({ entities }: Extraction, name: string): string | undefined =>
  entities.find((entity) => entity.name === name)?.type;
const relations = (extraction: Extraction): string[] =>
  extraction.relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`);

describe('rules extractor', () => {
  it('finds names with their types', async () => {
    const found = await extract(
      'Marie Curie met Dr. Petrovic at the University of Belgrade in Serbia on 5 March 1911. Acme Corp. sold 3.5 million copies of "The Lord of the Rings" in Paris.',
    );
    expect(typeOf(found, 'Marie Curie')).to.equal('Person');
    expect(typeOf(found, 'Petrovic')).to.equal('Person');
    expect(typeOf(found, 'University of Belgrade')).to.equal('Organisation');
    expect(typeOf(found, 'Serbia')).to.equal('Place');
    expect(typeOf(found, '1911-03-05')).to.equal('Date');
    expect(typeOf(found, 'Acme Corp.')).to.equal('Organisation');
    expect(typeOf(found, '3.5 million copies')).to.equal('Quantity');
    expect(typeOf(found, 'The Lord of the Rings')).to.equal('Work');
  });

  it('takes first names for the persons that a list names in full', async () => {
    const text = 'Present: Marit Haugen, Jens Krüger\n\nHanna Lindqvist will report to Marit. Jens works at Telia.';
    const parts = [
      { kind: 'paragraph' as const, start: 0, end: 34 },
      { kind: 'paragraph' as const, start: 36, end: text.length },
    ];
    const found = await extract(text, { parts, title: 'Weekly sync' });
    expect(typeOf(found, 'Marit Haugen')).to.equal('Person');
    expect(typeOf(found, 'Marit')).to.equal(undefined);
    expect(relations(found)).to.include('Jens Krüger work_at Telia');
  });

  it('states relations with the sentence as evidence', async () => {
    const sentence = 'Acme Corp acquired Bolt Limited in 2004.';
    const found = await extract(`${sentence} Paris is the capital of France.`);
    expect(relations(found)).to.include.members([
      'Acme Corp acquire Bolt Limited',
      'Acme Corp acquire_in 2004',
      'Paris capital_of France',
    ]);
    expect(found.relations[0]?.evidence).to.equal(sentence);
  });

  it('turns a passive round', async () => {
    const found = await extract('The novel Typee was written by Herman Melville and illustrated by Rockwell Kent.');
    expect(relations(found)).to.include.members(['Herman Melville write Typee', 'Rockwell Kent illustrate Typee']);
    expect(typeOf(found, 'Typee')).to.equal('Work');
  });

  it('shares a relation among the members of a list', async () => {
    const found = await extract('Anna Smith and Robert Jones visited Rome, Athens and Cairo.');
    for (const person of ['Anna Smith', 'Robert Jones']) {
      expect(relations(found)).to.include.members(['Rome', 'Cairo'].map((city) => `${person} visit ${city}`));
    }
  });

  it('describes what a sentence defines and names its class', async () => {
    const found = await extract('Circus Diablo is an American rock band, formed in early 2006 by Billy Morrison.');
    const band = found.entities.find((entity) => entity.name === 'Circus Diablo');
    expect(band?.description).to.match(/^an American rock band/);
    expect(band?.type).to.equal('Organisation');
    expect(relations(found)).to.include.members([
      'Circus Diablo is_a american rock band',
      'Circus Diablo formed_in 2006',
      'Billy Morrison form Circus Diablo',
    ]);
  });

  it('resolves short names, pronouns and definite nouns to the full name', async () => {
    const found = await extract(
      'Ada Lovelace worked in London. Lovelace wrote to Charles Babbage. She was a mathematician. The Analytical Society is a club. It met in Cambridge.',
    );
    const ada = found.entities.find((entity) => entity.name === 'Ada Lovelace');
    expect(ada?.aliases).to.include('Lovelace');
    expect(ada?.description).to.equal('a mathematician');
    expect(found.entities.map((entity) => entity.name)).not.to.include('Lovelace');
    expect(found.sentences.map((sentence) => sentence.entities.includes('Ada Lovelace'))).to.deep.equal([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(relations(found)).to.include('Analytical Society meet_in Cambridge');
  });

  it('uses the names of earlier chunks, and leaves a surname alone that two persons bear', async () => {
    const known = [{ name: 'Herman Melville', type: 'Person' }];
    const one = await extract('In the evening Melville wrote letters.', { knownNames: known });
    expect(typeOf(one, 'Herman Melville')).to.equal('Person');
    const two = await extract('In the evening Melville wrote letters.', {
      knownNames: [...known, { name: 'Allan Melville', type: 'Person' }],
    });
    expect(two.entities.map((entity) => entity.name)).to.include('Melville');
  });

  it('finds the subjects of a text without names', async () => {
    const found = await extract("My grandmother's beef stew recipe has been in the family for three generations.");
    expect(found.entities.map((entity) => entity.name)).to.include('beef stew recipe');
  });

  it('gives sentences with exact offsets that cover the text, and a summary of its own words', async () => {
    const text = 'First we sailed.  Then Ahab came on deck!\n\n- A list item\n"Why?" asked Stubb.';
    const found = await extract(text);
    for (const sentence of found.sentences) {
      expect(text.slice(sentence.start, sentence.start + sentence.text.length)).to.equal(sentence.text);
    }
    expect(
      found.sentences
        .map((sentence) => sentence.text)
        .join('')
        .replace(/\s/g, ''),
    ).to.equal(text.replace(/\s/g, ''));
    expect(text).to.include(found.summary.slice(0, 10));
  });

  it('keeps entities, sentences and relations consistent on any English prose', async () => {
    const chapters = JSON.parse(readFileSync(new URL('./fixtures/prose.json', import.meta.url), 'utf8')) as string[];
    for (const text of chapters) {
      const found = await extract(text);
      const names = new Set(found.entities.map((entity) => entity.name));
      for (const { source, target, relation } of found.relations) {
        expect(names.has(source) && names.has(target), `${source} ${relation} ${target}`).to.equal(true);
        expect(relation).to.match(/^[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)*$/u);
      }
      for (const sentence of found.sentences)
        for (const name of sentence.entities) expect(names.has(name)).to.equal(true);
      expect(await extract(text)).to.deep.equal(found);
    }
  });

  it('stays fast on hostile text', async () => {
    for (const text of [
      '',
      ' \n ',
      '\0\0',
      '\ud800',
      'A'.repeat(100_000),
      '. '.repeat(20_000),
      '((((('.repeat(5000),
      '東京は日本の首都です。',
    ]) {
      const found = await extract(text);
      expect(found.usage).to.equal(null);
    }
  });
});
