import { expect } from 'chai';
import { idFor } from '../../common/domain/ids.ts';
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
  it('are one for all spellings of a name, with the commonest spelling in front', () => {
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

  it('take in a short name that one fuller entity gives as its alias, before and after it', () => {
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

  it('keep a short name apart that two fuller ones claim, or one of another type', () => {
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

  it('do not run in circles when two names give each other as alias', () => {
    const document = createDocumentEntities();
    document.add(
      'c1',
      extraction([entity('Mark Twain', { aliases: ['Clemens'] }), entity('Clemens', { aliases: ['Mark Twain'] })]),
      [],
    );
    expect(document.resolve().entities.map(({ name }) => name)).to.deep.equal(['Mark Twain']);
  });

  it('drop relations whose ends the chunk does not name, and relations of a thing with itself', () => {
    const document = createDocumentEntities();
    const relations = [
      relation('Ada', 'knows', 'Nobody'),
      relation('Ada', 'is', 'ADA'),
      relation('Ada', 'Met With', 'Grace'),
    ];
    document.add('c1', extraction([entity('Ada'), entity('Grace')], relations), []);
    expect(document.resolve().relations.map((found) => found.relation)).to.deep.equal(['met_with']);
  });

  it('hold the subjects of a chunk although its text never names them', () => {
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

  it('give the fullest names to the chunks that follow, most mentioned first', () => {
    const document = createDocumentEntities();
    expect(document.knownNames()).to.deep.equal([]);
    document.add('c1', extraction([entity('Ada'), entity('Grace', { mentions: 2 })]), ['Engine']);
    expect(document.knownNames()).to.deep.equal([
      { name: 'Grace', type: 'Person' },
      { name: 'Ada', type: 'Person' },
    ]);
  });
});
