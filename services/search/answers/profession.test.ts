import { expect } from 'chai';
import { workAsked, workReader } from './profession.ts';

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
    ['What do I do for work?', 'User teaches biology at Lincoln High.', 'teaches biology'],
    ['What do I do for a living?', 'I sell insurance and I hate Mondays.', 'sell insurance'],
    ['What do I do for a living?', 'I sold my bicycle.', null],
    ['What do I do for a living?', 'I teach my son the piano.', null],
    ['What do I do for a living?', 'User works in logistics.', 'works in logistics'],
    ['What do I do for work?', 'I work nights as a paramedic in Tacoma.', 'paramedic'],
    ['How does Ana earn her living?', 'Ana runs a bookshop in Nantes.', 'runs a bookshop'],
    ['How does Ana earn her living?', 'Ana runs a marathon in May.', null],
    ['What does my boyfriend do?', "User's partner Eli is a sound engineer at the Old Vic.", 'sound engineer'],
    ['What does my mum do?', "User's mother, Ingrid, is a judge.", 'judge'],
    ['What is Ben retraining as?', 'Ben is going to train as a carpenter.', 'carpenter'],
    ['Where do I work?', 'I work as a nurse at St Mary Hospital in Leeds.', 'St Mary Hospital in Leeds'],
    ['Which hospital do I work at?', 'I work as a nurse at St Mary Hospital in Leeds.', 'St Mary Hospital'],
    ['Where do I work?', 'User teaches biology at a secondary school in Aalst.', 'a secondary school in Aalst'],
    ['Where does my husband work?', "User's husband Wim is an engineer at Arcadis.", 'Arcadis'],
    ['Who do I work for?', 'User has been working for Norvik since 2020.', 'Norvik'],
    ['What is my job?', 'The user, Priya Nair, is a nurse in Porto.', 'nurse'],
    ['What is my job?', 'I’m still driving the tram, line 12.', 'driving the tram'],
    ['What is my job?', 'I drive a red Volvo.', null],
    [
      'What does my brother do?',
      'My brother Nils does that, he works for an insurance company.',
      'works for an insurance company',
    ],
    ['Which school do I teach at?', 'User works as a researcher for Brightloom.', null],
    ['Which school do I teach at?', 'User teaches biology at Lincoln High.', 'Lincoln High'],
    ['Where do I work?', 'I work at night and sleep until noon.', null],
    ['Where do I work?', 'I worked at Norvik.', null],
    ['Where did I work?', 'I worked at Norvik.', 'Norvik'],
  ];
  for (const [question, sentence, profession] of cases) {
    it(`is ${profession ?? 'not said'} for "${question}" in "${sentence}"`, () => {
      const asked = workAsked(question);
      expect(asked === null ? null : (workReader(asked)(sentence)?.said ?? null)).equals(profession);
    });
  }

  it('is not asked for by what a thing does, or by a salary', () => {
    for (const question of ['What does Heron do?', "What is Lena's salary?", 'Who has the job of the treasurer?'])
      expect(workAsked(question)).equals(null);
  });
});
