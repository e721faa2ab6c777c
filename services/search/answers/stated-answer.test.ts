import { expect } from 'chai';
import type { Fact } from './knowledge.ts';
import { readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { statedAnswer } from './stated-answer.ts';

describe('answers that a relation states', () => {
  const entity = (name: string, type: string) => ({ id: name, name, type, description: '' });
  const answerOf = (
    query: string,
    text: string,
    [source, relation, target]: readonly [string, string, string],
    types: string | readonly [string, string],
  ) => {
    const question = readQuestion(query);
    const payload = { text, documentName: 'note', headings: [] };
    const ranked = rankSentences(sentencesOf(question, [{ id: 'a', payload } as unknown as ReadPassage]));
    const [from, to] = typeof types === 'string' ? [types, types] : types;
    const ends = { source: entity(source, from), target: entity(target, to) };
    const fact: Fact = { id: 'f', ...ends, relation, text, chunkId: 'a' };
    return statedAnswer(question, ranked, [fact])?.text;
  };

  it('are the object, when subject and verb are asked with', () => {
    const text = 'We drive a green Volkswagen van.';
    expect(answerOf('What do we drive?', text, ['Me', 'drive', 'Volkswagen'], 'Product')).to.equal('Volkswagen');
    expect(answerOf('What does our dog drive?', text, ['Me', 'drive', 'Volkswagen'], 'Product')).to.equal(undefined);
    expect(answerOf('What do we eat?', text, ['Me', 'drive', 'Volkswagen'], 'Product')).to.equal(undefined);
  });

  it('are of a person who is asked for by one name', () => {
    const fact = ['Ada Lovelace', 'live_in', 'London'] as const;
    const text = 'Ada Lovelace lived in London.';
    expect(answerOf('Where did Ada live?', text, fact, 'Place')).to.equal(undefined);
    expect(answerOf('Where did Ada live?', text, fact, ['Person', 'Place'])).to.equal('London');
    expect(answerOf('Where did Ada Byron live?', text, fact, ['Person', 'Place'])).to.equal(undefined);
  });

  it('are the subject, when verb and object are', () => {
    const text = 'My neighbour Ingrid lent us her spade.';
    expect(answerOf('Who lent us a spade?', text, ['Ingrid', 'lend', 'Me'], 'Person')).to.equal('Ingrid');
    expect(answerOf('Who lent us a spade?', text, ['Me', 'lend', 'Ingrid'], 'Person')).to.equal(undefined);
  });

  it('are asked for by the preposition of the relation', () => {
    const text = 'I wrote my first program on a Commodore 64.';
    const fact = ['Me', 'write_on', 'commodore 64'] as const;
    expect(answerOf('On which computer did I write my first program?', text, fact, 'Concept')).to.equal('Commodore 64');
  });
});
