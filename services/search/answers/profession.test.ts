import { expect } from 'chai';
import { professionAsked, professionReader } from './profession.ts';

describe('what somebody works as', () => {
  const cases: readonly (readonly [question: string, sentence: string, profession: string | null])[] = [
    ["What is Ana's job?", 'Ana works at Norvik as a data engineer.', 'data engineer'],
    ['What does Ana do for a living?', 'Ana Reyes is an accountant in Porto.', 'accountant'],
    ['What is my profession?', 'I work as a paediatric nurse at St Mary hospital.', 'paediatric nurse'],
    ['What do I do for a living?', 'User is a paediatric nurse in Leeds.', 'paediatric nurse'],
    ["What is Tom's occupation?", 'My brother Tom is a carpenter and lives in York.', 'carpenter'],
    ['What does my brother work as?', 'My brother Tom is a carpenter and lives in York.', 'carpenter'],
    ["What was my mother's job?", 'My mother used to be a school teacher; she retired in 2019.', 'school teacher'],
    ['What is the profession of Ben?', 'Ben is a close friend of mine.', null],
    ['What is my job?', 'My brother Tom is a carpenter.', null],
    ['What is my job?', 'I was a bus driver for eight years.', null],
    ['What was my job?', 'I was a bus driver for eight years.', 'bus driver'],
    [
      "What is the occupation of Bethan's husband?",
      'My sister Bethan married a Portuguese chef in a barn.',
      'Portuguese chef',
    ],
    [
      "What is my husband's job?",
      "User's husband Wim works as a structural engineer at Arcadis.",
      'structural engineer',
    ],
    ['What is my job?', "User's husband Wim works as a structural engineer at Arcadis.", null],
    ["What is Tom's job?", 'Tomasz is a carpenter.', null],
  ];
  for (const [question, sentence, profession] of cases) {
    it(`is ${profession ?? 'not said'} for "${question}" in "${sentence}"`, () => {
      const asked = professionAsked(question);
      expect(asked === null ? null : professionReader(asked)(sentence)).equals(profession);
    });
  }

  it('is not asked for by what a thing does, or by a salary', () => {
    for (const question of ['What does Heron do?', "What is Lena's salary?", 'Who has the job of the treasurer?'])
      expect(professionAsked(question)).equals(null);
  });
});
