import { expect } from 'chai';
import { extractByRules } from './extract-by-rules.ts';
import { createTagger } from './tagger.ts';

describe('what everyday texts say of people', () => {
  const tag = createTagger();
  const read = (text: string) => {
    const parts = [{ kind: 'paragraph' as const, start: 0, end: text.length }];
    const input = { text, documentName: 'note', headings: [], knownNames: [], speaker: 'Me', parts };
    const { entities, relations } = extractByRules(input, tag);
    return {
      typeOf: (name: string) => entities.find((one) => one.name === name)?.type,
      relations: relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`),
    };
  };

  it('is read from names behind what a person has several of, and from what somebody cannot stand', () => {
    expect(read('My sister Maud lives in Lisbon and has two kids, Hugo and Elsa.').relations).to.include.members([
      'Maud child Hugo',
      'Maud child Elsa',
    ]);
    const own = read("I can't stand coriander. My dentist is Dr. Claes on Park Lane. We don't drink enough water.");
    expect(own.relations).to.include.members(['Me dislike coriander', 'Me dentist Claes']);
    expect(own.relations.join()).to.not.match(/water/u);
  });

  it('is read from names behind what the speaker has several of, by one label for each relative', () => {
    const { relations, typeOf } = read('My kids Bea and Leo are 7 and 4. My mum Ada lives in Bonn.');
    expect(relations).to.have.members(['Me child Bea', 'Me child Leo', 'Me mother Ada', 'Ada live_in Bonn']);
    expect(['Bea', 'Leo', 'Ada'].map(typeOf)).to.deep.equal(['Person', 'Person', 'Person']);
    expect(read('Our cats Miro and Pan sleep all day.').relations).to.have.members(['Me cat Miro', 'Me cat Pan']);
    expect(read('I started baking sourdough bread in 2020.').relations).to.include('Me start baking sourdough bread');
  });

  it('tells the number of a passport from the passport', () => {
    expect(read('My passport number is C4F8K21LM.').relations).to.have.members(['Me passport_number C4F8K21LM']);
    expect(read('My student ID is AB1234X.').relations).to.have.members(['Me student_id AB1234X']);
  });

  it('makes a couple of two who married, and a person of who has an office', () => {
    const { relations, typeOf } = read(
      'Sofia and Marc got married in Nice in 2019. Ben, 34, is an architect from Leeds.',
    );
    expect(relations).to.include.members(['Sofia marry Marc', 'Sofia marry_in Nice', 'Marc marry_in 2019']);
    expect(['Sofia', 'Marc', 'Ben'].map(typeOf)).to.deep.equal(['Person', 'Person', 'Person']);
  });

  it('gives a verb behind a conjunction to the subject of the clause before, not to the name between', () => {
    const { relations } = read('We use GitHub Actions for tests and deploy to Kubernetes.');
    expect(relations).to.have.members(['Me use GitHub Actions', 'Me deploy_to Kubernetes']);
    expect(read('Ada met Bob in Rome and moved to Turin.').relations).to.include('Ada move_to Turin');
  });

  it('takes no word of a name for a verb, and types the ends of a relation', () => {
    const { relations, typeOf } = read(
      'I use Procreate on my iPad Pro. Joris works as a nurse at Sint-Lucas hospital.',
    );
    expect(relations).to.include.members(['Me use Procreate', 'Joris work_at Sint-Lucas']);
    expect(typeOf('Procreate')).to.equal('Product');
    expect(typeOf('Sint-Lucas')).to.equal('Organisation');
  });

  it('is read in German, Spanish and French clauses, wherever the name stands', () => {
    expect(
      read('Ich wohne mit meinem Mann Stefan und unseren Töchtern Marie und Johanna in Ulm.').relations,
    ).to.have.members(['Me husband Stefan', 'Me daughter Marie', 'Me daughter Johanna', 'Me live_in Ulm']);
    expect(read('Madame Claire Fontenay, demeurant 8 rue des Tanneurs à Annecy, signe le bail.').relations).to.include(
      'Claire Fontenay live_in Annecy',
    );
    expect(read('Mi hermano Pablo vive en Valencia con su mujer Marta.').relations).to.include.members([
      'Me brother Pablo',
      'Pablo live_in Valencia',
      'Pablo wife Marta',
    ]);
    expect(read('Está casado con Carmen, que nació en Sevilla.').relations).to.include('Carmen born_in Sevilla');
    const both =
      'Madame Claire Fontenay, demeurant à Annecy, et Monsieur Julien Mercier, né à Grenoble, signent le bail.';
    expect(read(both).relations).to.include.members([
      'Claire Fontenay live_in Annecy',
      'Julien Mercier born_in Grenoble',
    ]);
    expect(read('Pablo no vive en Valencia.').relations).to.deep.equal([]);
  });

  it('knows products by name, and those with ambiguous names beside others', () => {
    const { typeOf } = read('The shop runs on PostgreSQL and Docker, with React in front.');
    expect(['PostgreSQL', 'Docker', 'React'].map(typeOf)).to.deep.equal(['Product', 'Product', 'Product']);
  });
});
