import { expect } from 'chai';
import { MIN_ANSWERABILITY } from './answerable-weights.ts';
import { foreignCertainty } from './foreign-answerable.ts';
import { readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { shortAnswer } from './short-answer.ts';

const NOTES = [
  '# Wohnung\n\nIch wohne in Speyer über einer Buchbinderei. Die Miete beträgt 940 Euro.',
  '# Kuchen\n\nAcht Zwiebeln mit zwei Eiern mischen und vierzig Minuten backen.',
  '# Vélo\n\nMon frère Mathieu travaille à Grenoble. Il a trouvé un chat dans un garage.',
  '# Moto\n\nCompré una moto azul en marzo. El mecánico se llama Julián.',
].map(
  (text, at) => ({ id: `${at}`, payload: { text, documentName: `${at}.md`, headings: [] } }) as unknown as ReadPassage,
);

function isRefused(text: string): boolean {
  const question = readQuestion(text);
  const ranked = rankSentences(sentencesOf(question, NOTES));
  const short = shortAnswer(question, ranked);
  return foreignCertainty(question, { ranked, short, passages: NOTES }) < MIN_ANSWERABILITY.foreign;
}

describe('foreignCertainty', () => {
  for (const question of ['Wie hoch ist die Miete?', 'Où travaille mon frère ?', '¿Quién es mi mecánico?'])
    it(`answers "${question}" from notes that say it`, () => {
      expect(isRefused(question)).equals(false);
    });

  it('knows a participle by its verb', () => {
    expect(isRefused('Wie lange wird der Kuchen gebacken?')).equals(false);
  });

  for (const question of [
    'Wer hat die Buchbinderei gegründet?',
    'Wie heißt meine Katze?',
    'Quand est mon anniversaire ?',
    '¿Cuánto costó el vuelo a Perú?',
  ])
    it(`refuses "${question}"`, () => {
      expect(isRefused(question)).equals(true);
    });
});
