import { expect } from 'chai';
import { readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { yesOrNo } from './yes-no.ts';

const CASES = [
  ['Does the heater of our van work?', "Our van's heater does not work.", 'No'],
  ['Did the bank accept our application?', 'The bank refused our application.', 'No'],
  ['Does ws support HTTP/3?', 'To support ws, never use it on servers.', null],
  ['Was Ingrid elected treasurer?', 'Ingrid was elected treasurer.', 'Yes'],
  ['Was Ingrid elected president?', 'Ingrid was elected treasurer.', null],
  ['Who was elected treasurer?', 'Ingrid was elected treasurer.', null],
  ['Is the van green or red?', 'The van is green.', null],
  ['Is the van red?', 'The van is blue.', 'No'],
  ['Is the van red?', 'The van is blue and red.', 'Yes'],
  ['Is the van red?', 'The van is blue and white.', null],
  ['Is the van red?', "My brother's van is blue.", null],
  ['Is the van fast?', 'The van is blue.', null],
  ['Was the van red?', 'The van is blue.', null],
  ['Is the fair in Lisbon?', 'The fair is in Porto.', 'No'],
  ['Is the fair in Portugal?', 'The fair is in Porto.', null],
  ['Did I get the job?', 'My first job interview was in 2010.', null],
  ['Did I get the job?', 'I got the job.', 'Yes'],
  ['Do we own a car?', 'We sold our car in 2020.', 'No'],
  ['Does Lotte like scales?', 'Lotte hates scales.', 'No'],
  ['Do we deploy on Fridays?', 'We deploy on Tuesdays, never on Fridays.', 'No'],
  ['Do we deploy on Tuesdays?', 'We deploy on Tuesdays, never on Fridays.', 'Yes'],
  ['Did the client like the demo?', 'The power went out in the demo for the client.', null],
  ['Does Jonas still climb?', 'Jonas fell while climbing in 2015.', null],
  ['Does Jonas still climb?', 'Jonas still climbs.', 'Yes'],
  ['Is the fair on Monday?', 'The fair is in May.', null],
  ['Is the van blue?', 'Our van is a red Kangoo.', 'No'],
  ['Is the van blue?', 'The van is parked in front of the red house.', null],
  ['Are we insured with Alka?', 'We are insured with Tryg.', 'No'],
  ['Are we insured with Tryg?', 'We are insured with Tryg.', 'Yes'],
  ['Is the car insured with Alka?', 'We are insured with Tryg.', null],
  ['Do I work at Lundbeck?', 'I work at Novo as a chemist.', 'No'],
  ['Do I work at Lundbeck?', 'I worked at Novo as a chemist.', null],
  ['Does Anders work at Lundbeck?', 'I work at Novo as a chemist.', null],
  ['Is Ada allergic to nuts?', 'Person: Ada, Allergies: nuts, Medication: a spray', 'Yes'],
  ['Is Ada allergic to eggs?', 'Person: Ada, Allergies: nuts, Medication: a spray', null],
  ['Do we live in Germany?', 'We live in Berlin.', null],
  ['Do we live in Hamburg?', 'We live in Berlin.', 'No'],
  ['Was our daughter born on time?', 'Our daughter was born on time because the train was not late.', 'Yes'],
  ['Did Marta like the aquarium?', 'It rained on the first two days, so we visited the aquarium.', null],
  ['Does my mother live with us?', 'My mother-in-law lives with us in the small house.', null],
  ['Is the shop open on Mondays?', 'On Mondays the shop is closed.', 'No'],
  ['Did Anna open a shop?', 'The shop of Anna is closed.', null],
  ['Is the shop open on Mondays?', 'On Mondays the shop was closed.', null],
  ['Is Anna married?', 'Anna does not eat meat.', null],
  ['Does Anna have a cat?', 'Anna does not eat meat.', null],
  ['Does Paul work at Bosch?', 'Her brother Paul works at Siemens.', 'No'],
  ['Does Anna have a dog?', 'Anna adopted a dog named Bello.', 'Yes'],
  ['Do I have a dog?', 'Our dog Rex was a spaniel.', null],
  ['Is Felix older than me?', 'Felix is three years younger than me.', 'No'],
  ['Is the coffee machine a Gaggia?', 'The coffee machine is a Gaggia and belongs to nobody.', 'Yes'],
] as const;

describe('yesOrNo', () => {
  for (const [text, sentence, answer] of CASES) {
    it(`begins the answer to "${text}" with ${answer}`, () => {
      const payload = { text: sentence, documentName: 'note', headings: [] };
      const question = readQuestion(text);
      const [best] = rankSentences(sentencesOf(question, [{ id: 'a', payload } as unknown as ReadPassage]));
      expect(best === undefined ? null : yesOrNo(question, best)).equals(answer);
    });
  }

  for (const [text, heading, answer] of [
    ['Does Heron support MySQL?', 'Supported databases', 'Yes'],
    ['Is MySQL supported?', 'Databases that are not supported', 'No'],
    ['Does Heron support MySQL?', 'Databases', null],
  ] as const) {
    it(`is ${answer} to "${text}" for an item below "${heading}"`, () => {
      const payload = {
        text: `# Heron\n\n## ${heading}\n\n- PostgreSQL\n- MySQL\n`,
        documentName: 'heron.md',
        headings: [],
      };
      const question = readQuestion(text);
      const ranked = rankSentences(sentencesOf(question, [{ id: 'a', payload } as unknown as ReadPassage]));
      const item = ranked.find(({ statement }) => statement.text === 'MySQL');
      expect(item === undefined ? undefined : yesOrNo(question, item)).equals(answer);
    });
  }
});
