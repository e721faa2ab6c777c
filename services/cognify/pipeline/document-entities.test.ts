import { expect } from 'chai';
import { idFor } from '../../common/kernel/ids.ts';
import type { ExtractedEntity, ExtractedRelation, Extraction } from '../../common/ports/extractor.ts';
import { createDocumentEntities } from './document-entities.ts';

const entity = (name: string, more: Partial<ExtractedEntity> = {}): ExtractedEntity => ({
  name,
  type: 'Person',
  description: '',
  aliases: [],
  mentions: 1,
  ...more,
});

const extraction = (entities: ExtractedEntity[], relations: ExtractedRelation[] = []): Extraction => ({
  entities,
  relations,
  sentences: [],
  summary: '',
  usage: null,
});

const relation = (source: string, name: string, target: string): ExtractedRelation => ({
  source,
  relation: name,
  target,
  evidence: `${source} ${name} ${target}.`,
});

describe('document entities', () => {
  it('merge all spellings of a name under the most frequent one', () => {
    const document = createDocumentEntities();
    document.add('c1', extraction([entity('ADA LOVELACE'), entity('Grace')]), []);
    document.add('c2', extraction([entity('Ada Lovelace', { mentions: 3, description: 'a mathematician' })]), []);
    const { entities, mentions } = document.resolve();
    expect(entities.map(({ name }) => name)).to.deep.equal(['Ada Lovelace', 'Grace']);
    expect(entities[0]).to.deep.include({
      id: idFor('Entity', 'ada lovelace'),
      aliases: ['ADA LOVELACE'],
      description: 'a mathematician',
      mentions: 4,
      ordinal: 0,
    });
    expect(mentions.map(({ chunkId, mentions: count }) => [chunkId, count])).to.deep.equal([
      ['c1', 1],
      ['c1', 1],
      ['c2', 3],
    ]);
  });

  it('have the same id in every document, however a name is spelled', () => {
    const idsOf = (name: string) => {
      const document = createDocumentEntities();
      document.add('c1', extraction([entity(name, { type: 'Concept' })]), []);
      return document.resolve().entities.map(({ id }) => id);
    };
    expect(idsOf('Moby-Dick')).to.deep.equal(idsOf('Moby Dick'));
    expect(idsOf('Crème Brûlée')).to.deep.equal(idsOf('creme brulee'));
    expect(idsOf('2024-03-01')).not.to.deep.equal(idsOf('2024 03 01'));
  });

  it('merge a short name into the one entity that has it as an alias, before and after it', () => {
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([entity('Ahab'), entity('Starbuck')], [relation('Ahab', 'commands', 'Starbuck')]),
      [],
    );
    document.add('c2', extraction([entity('Captain Ahab', { aliases: ['Ahab', 'the captain'] })]), []);
    document.add(
      'c3',
      extraction([entity('Ahab'), entity('Starbuck')], [relation('Ahab', 'commands', 'Starbuck')]),
      [],
    );
    const { entities, relations, mentions } = document.resolve();
    expect(entities.map(({ name }) => name)).to.deep.equal(['Ahab', 'Starbuck']);
    expect(entities[0]).to.deep.include({ aliases: ['Captain Ahab', 'the captain'], mentions: 3 });
    expect(entities[0]?.merged).to.deep.equal([{ name: 'Captain Ahab', reason: 'title left out' }]);
    const id = idFor('Entity', 'Ahab');
    expect(relations).to.have.length(1);
    expect(relations[0]).to.include({ sourceId: id, relation: 'commands', weight: 2, chunkId: 'c1' });
    expect(mentions.filter(({ entityId }) => entityId === id).map(({ chunkId }) => chunkId)).to.deep.equal([
      'c1',
      'c2',
      'c3',
    ]);
  });

  it('do not merge a short name that two entities have as alias, or one of another type', () => {
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([
        entity('Smith'),
        entity('Adam Smith', { aliases: ['Smith'] }),
        entity('John Smith', { aliases: ['Smith'] }),
        entity('Lincoln', { type: 'Place' }),
        entity('Abraham Lincoln', { aliases: ['Lincoln'] }),
      ]),
      [],
    );
    expect(document.resolve().entities).to.have.length(5);
  });

  it('resolve two names that have each other as alias', () => {
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([entity('Mark Twain', { aliases: ['Clemens'] }), entity('Clemens', { aliases: ['Mark Twain'] })]),
      [],
    );
    expect(document.resolve().entities.map(({ name }) => name)).to.deep.equal(['Mark Twain']);
  });

  it('drop relations whose ends the chunk does not name, and relations of an entity with itself', () => {
    const document = createDocumentEntities();
    const relations = [
      relation('Ada', 'knows', 'Nobody'),
      relation('Ada', 'is', 'ADA'),
      relation('Ada', 'Met With', 'Grace'),
    ];
    document.add('c1', extraction([entity('Ada'), entity('Grace')], relations), []);
    expect(document.resolve().relations.map((found) => found.relation)).to.deep.equal(['met_with']);
  });

  it('contain the subjects of a chunk although its text does not name them', () => {
    const document = createDocumentEntities();
    document.add('c1', extraction([entity('Ada')]), ['Analytical Engine', 'Ada']);
    const { entities, mentions } = document.resolve();
    expect(entities.map(({ name, type, mentions: count }) => [name, type, count])).to.deep.equal([
      ['Ada', 'Person', 1],
      ['Analytical Engine', 'Concept', 1],
    ]);
    expect(mentions.map(({ mentions: count, isSubject }) => [count, isSubject])).to.deep.equal([
      [1, true],
      [0, true],
    ]);
  });

  it('merge a short name of one chunk into the full name of another, with the reason', () => {
    const document = createDocumentEntities();
    document.add('c1', extraction([entity('Melville', { mentions: 2 })]), []);
    document.add('c2', extraction([entity('Herman Melville')]), []);
    const [melville, ...others] = document.resolve().entities;
    expect(others).to.deep.equal([]);
    expect(melville).to.deep.include({ name: 'Herman Melville', aliases: ['Melville'], mentions: 3 });
    expect(melville?.merged).to.deep.equal([{ name: 'Melville', reason: 'short for the only full name' }]);
  });

  it('do not merge an ambiguous short name, a rare name or an ordinary word', () => {
    const document = createDocumentEntities();
    document.add('c1', extraction([entity('Smith'), entity('John Smith'), entity('Ann Smith')]), []);
    document.add('c2', extraction([entity('Ahab', { mentions: 50 }), entity('King Ahab')]), []);
    document.add('c3', extraction([entity('coffin', { type: 'Concept' }), entity('Peter Coffin')]), []);
    const { entities } = document.resolve();
    expect(entities.flatMap(({ merged }) => merged)).to.deep.equal([]);
  });

  it('keep the spelling of the title as id although the text has a fuller name', () => {
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([
        entity('Richard Nathaniel Wright'),
        entity('National Ball League', { type: 'Organisation', aliases: ['NBL'] }),
      ]),
      ['Richard Wright', 'NBL'],
    );
    const { entities } = document.resolve();
    expect(entities.map(({ id, name }) => [id, name])).to.deep.equal([
      [idFor('Entity', 'Richard Wright'), 'Richard Wright'],
      [idFor('Entity', 'NBL'), 'NBL'],
    ]);
    expect(entities.map(({ merged }) => merged[0]?.name)).to.deep.equal([
      'Richard Nathaniel Wright',
      'National Ball League',
    ]);
  });

  it('get the type from the mentions that have one', () => {
    const document = createDocumentEntities();
    document.add('c1', extraction([entity('Queequeg', { type: 'Concept', mentions: 91 })]), []);
    document.add('c2', extraction([entity('Queequeg', { mentions: 8 })]), []);
    expect(document.resolve().entities[0]?.type).to.equal('Person');
  });

  it('are keywords unless a chunk has them as a name, a relation has them, or the document repeats them', () => {
    const keyword = (name: string) => entity(name, { type: 'Concept', isKeyword: true });
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([keyword('approach'), keyword('harpoon'), keyword('rope')], [relation('rope', 'of', 'Ada')]),
      ['Chapter 1'],
    );
    document.add(
      'c2',
      extraction([keyword('harpoon'), keyword('rope'), entity('Ada')], [relation('Ada', 'pull', 'rope')]),
      [],
    );
    document.add('c3', extraction([keyword('harpoon')]), []);
    const keywords = document.resolve().entities.filter(({ isKeyword }) => isKeyword);
    expect(keywords.map(({ name }) => name)).to.deep.equal(['approach', 'Chapter 1']);
  });
});
