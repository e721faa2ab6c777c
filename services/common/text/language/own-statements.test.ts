import { expect } from 'chai';
import { readStatement } from '../statements/read-statement.ts';
import { ownStatement } from './own-statements.ts';

const read = (sentence: string) => {
  const own = ownStatement(sentence);
  return own === null ? null : [own.relation, own.value, own.english];
};

describe('statements of a speaker in other languages', () => {
  it('are read in German', () => {
    expect(read('Ich wohne seit 2021 in Bad Homburg.')).to.deep.equal([
      'live_in',
      'Bad Homburg',
      'I live in Bad Homburg since 2021',
    ]);
    expect(read('Ich bin nach Wien gezogen.')).to.deep.equal(['move_to', 'Wien', 'I moved to Wien']);
    expect(read('Ich arbeite jetzt bei Siemens und mag es.')).to.deep.equal([
      'work_at',
      'Siemens',
      'I now work at Siemens',
    ]);
    expect(read('Meine Schwester heißt Ana.')).to.deep.equal(['sister', 'Ana', 'My sister is Ana']);
    expect(read('Ich wohne nicht in Berlin.')).to.equal(null);
    expect(read('Ich wohne gern.')).to.equal(null);
  });

  it('are read in Spanish', () => {
    expect(read('Ahora vivo en Sevilla.')).to.deep.equal(['live_in', 'Sevilla', 'I now live in Sevilla']);
    expect(read('Trabajo en Iberdrola desde 2019.')).to.deep.equal([
      'work_at',
      'Iberdrola',
      'I work at Iberdrola since 2019',
    ]);
    expect(read('Nací en Quito.')).to.deep.equal(['born_in', 'Quito', 'I was born in Quito']);
    expect(read('Mi perro se llama Coco.')).to.deep.equal(['dog', 'Coco', 'My dog is Coco']);
    expect(read('Prefiero el té.')).to.deep.equal(['prefer', 'té', 'I prefer té']);
    expect(read('Vivo bien.')).to.equal(null);
  });

  it('are read in French', () => {
    expect(read("J'habite maintenant à Lyon.")).to.deep.equal(['live_in', 'Lyon', 'I now live in Lyon']);
    expect(read('Je travaille chez Airbus.')).to.deep.equal(['work_at', 'Airbus', 'I work at Airbus']);
    expect(read('Je suis mariée avec Paul.')).to.deep.equal(['married_to', 'Paul', 'I am married to Paul']);
    expect(read("Mon chien s'appelle Rex.")).to.deep.equal(['dog', 'Rex', 'My dog is Rex']);
    expect(read("Où est-ce que j'habite ?")).to.equal(null);
    expect(read('Je ne travaille pas chez Airbus.')).to.equal(null);
  });

  it('leave English alone', () => {
    expect(read('I live in Rome.')).to.equal(null);
    expect(read('Me and Tom live in Rome.')).to.equal(null);
  });

  it('have one value at a time, as in English', () => {
    const read = (sentence: string) => {
      const found = readStatement(sentence);
      return found && [found.subject, found.predicate, found.valueText, found.isChange];
    };
    expect(read('Ich wohne in Hamburg.')).to.deep.equal(['I', 'lives_in', 'Hamburg', false]);
    expect(read('Ahora trabajo en Repsol.')).to.deep.equal(['I', 'works_at', 'Repsol', true]);
    expect(read("J'habite maintenant à Paris.")).to.deep.equal(['I', 'lives_in', 'Paris', true]);
  });
});
