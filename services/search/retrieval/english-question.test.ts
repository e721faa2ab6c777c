import { expect } from 'chai';
import { inEnglish } from './english-question.ts';

const isName = (word: string) => ['Weber', 'Clara'].includes(word);

describe('a question in English', () => {
  for (const [question, english] of [
    ['Wo wohnt meine Schwester?', 'where live my sister?'],
    ['Wie heißt unsere Katze?', 'what is the name of our cat?'],
    ['Wo hängt der Kellerschlüssel?', 'where hang the cellar key?'],
    ['Was war die Ursache?', 'what was the cause?'],
    ["Quel est le loyer de l'appartement ?", 'what is the rent of flat?'],
    ['Quel médicament le docteur Weber a-t-il prescrit ?', 'what medicine the doctor Weber has prescribe?'],
    ['¿Cuándo se rompió la lavadora?', 'when break the washing machine?'],
  ] as const)
    it(`says "${question}" word by word`, () => {
      expect(inEnglish(question, isName)).to.equal(english);
    });

  it('is none of an English one, and of one without a known word', () => {
    expect(inEnglish('Where does Clara live?', isName)).to.equal(null);
    expect(inEnglish('Wo ist Clara?', isName)).to.equal(null);
  });

  it('has what looks like no word as it is', () => {
    for (const query of [
      '',
      '¿?',
      "l'",
      'constructor __proto__ toString',
      `¿${'a'.repeat(10_000)}?`,
      'wo '.repeat(2000),
    ])
      expect(() => inEnglish(query, () => true)).not.to.throw();
  });
});
