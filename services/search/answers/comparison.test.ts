import { expect } from 'chai';
import { compared } from './comparison.ts';
import type { ReadPassage } from './rank-sentences.ts';

const NOTES = [
  'The Bosch costs 649 euros and the Miele is 899 euros. The Bosch is 44 dB loud; the Miele is quieter at 42 dB.',
  'Ana Kovač was born on 14 May 1986 in Split, Croatia. She works as a chemist.',
  'Ben Howarth, my neighbour, was born on 2 February 1991. He comes from Leeds in England.',
  'Petrolab was founded in 1998. It employs 140 people.',
  'Greenfield Seeds was founded in 1974. It has 85 employees.',
  'We arrived in Oslo on 12 June 2023. The opera house was the highlight.',
  'On 19 June 2023 we took the train to Bergen.',
  'Weekly is a magazine about sailing. Northwind is a magazine about hiking. The Harbour Post is a newspaper.',
  'Invoice 2291 is over 4,380 euros and must be paid by 10 May. Invoice 2305 amounts to 2,915 euros and is due on 2 May.',
  'Our cat Minka is 11 years old and weighs 4.2 kg. The other cat, Tiger, is 6 years old and weighs 5100 g.',
  'Clara is my colleague. Her husband Jonas is 41 years old.',
  'Nantong is a city in Jiangsu province, China. Jingdezhen is a city in Jiangxi province, China.',
  'Raynor comes from Melton Mowbray in England. Ito is a Japanese singer. Mori is a Japanese painter.',
  'Lawyer: Mr Holm charges 180 euros an hour. I know him since 2020.',
  'Mrs Petersen has helped me since 2016. Her office moved to Gammelgade and she takes 95 euros per hour.',
  'Ingrid turned 44 in spring. Lars is 39 and lives in Aarhus.',
  'Atlas was set up in May 2021, Boreas in November 2019.',
  'Berlin 2022: finished in 4 hours and 12 minutes. Valencia 2024: I needed 3 hours 58 minutes.',
  'Osprey Ltd has about 60 people, Lindgren AB is larger with 410 employees.',
  'Roth needs four days, Simic needs six days.',
  'I finished the first aid course on 5 May 2024 and the sailing course on 20 August 2024.',
  'Zwolle has 132,000 inhabitants. Deventer has about 102,000 inhabitants.',
  'Ridge trail is 12 km long. The lake path is 5 miles long.',
  'The Kalk piano costs 2500 euros. The Vann piano costs 1800 euros. The Rosse piano costs 12345 euros and the Tern piano 9\u00A0900 euros.',
];
const passages = NOTES.map(
  (text, at) =>
    ({
      id: String(at),
      payload: { text, documentName: `note ${at}`, headings: [], createdAt: '2026-05-05T10:00:00Z', writtenAt: null },
    }) as unknown as ReadPassage,
);

describe('comparisons', () => {
  const cases: readonly (readonly [question: string, answer: string | null])[] = [
    ['Which is cheaper, the Bosch or the Miele?', 'The Bosch'],
    ['What costs more, the Bosch or the Miele?', 'The Miele'],
    ['Is the Miele louder than the Bosch?', 'No'],
    ['Who is older, Ana or Ben?', 'Ana'],
    ['Between Ana and Ben, who is younger?', 'Ben'],
    ['Was Ana born before Ben?', 'Yes'],
    ['Which of Minka and Tiger is older?', 'Minka'],
    ['Does Minka weigh less than Tiger?', 'Yes'],
    ['Which company was founded first, Petrolab or Greenfield Seeds?', 'Greenfield Seeds'],
    ['Which has more employees: Petrolab or Greenfield Seeds?', 'Petrolab'],
    ['Does Petrolab have fewer employees than Greenfield Seeds?', 'No'],
    ['Did I visit Oslo before Bergen?', 'Yes'],
    ['Was I in Bergen earlier than in Oslo?', 'No'],
    ['Which invoice is due first, 2291 or 2305?', '2305'],
    ['Which trail is longer, the Ridge trail or the lake path?', 'The Ridge trail'],
    ['Does Mr Holm charge more than Mrs Petersen?', 'Yes'],
    ['Have I known Mrs Petersen longer than Mr Holm?', 'Yes'],
    ["Who's older, Ingrid or Lars?", 'Ingrid'],
    ['Was Boreas set up before Atlas?', 'Yes'],
    ['Was I faster in Valencia than in Berlin?', 'Yes'],
    ['Which company is bigger, Osprey or Lindgren?', 'Lindgren'],
    ['Who would be done sooner, Roth or Simic?', 'Roth'],
    ['Did I do the sailing course before the first aid course?', 'No'],
    ['Which town has more people, Deventer or Zwolle?', 'Zwolle'],
    ['Which is cheaper, the Kalk or the Vann?', 'The Vann'],
    ['Which is cheaper, the Rosse or the Tern?', 'The Tern'],
    ['Did I visit Oslo before the summer?', null],
    ['Are Weekly and Northwind both magazines?', 'Yes'],
    ['Are Weekly and The Harbour Post both magazines?', 'No'],
    ['Are Nantong and Jingdezhen situated in the same province?', 'No'],
    ['Do Ben and Raynor come from the same country?', 'Yes'],
    ['Are Ito and Mori of the same nationality?', 'Yes'],
    ['Who is a chemist, Ana or Petrolab?', null],
    ['Did I see the dentist before Christmas?', null],
    ['When did I visit Oslo and Bergen?', null],
    ['Should I buy the Bosch or the Miele?', null],
  ];
  for (const [question, answer] of cases) {
    it(`${answer === null ? 'leaves' : 'answers'} "${question}"`, () => {
      const found = compared(question, passages);
      expect(found === null ? null : found.answer).equals(answer);
      expect(found !== null).equals(answer !== null);
    });
  }

  for (const question of [
    'Which is cheaper, the Bosch or the Bauknecht?',
    'Who is older, Clara or Jonas?',
    'Which has more employees, Petrolab or Nordlicht?',
    'Is Ana taller than Ben?',
  ]) {
    it(`refuses "${question}", since the value of a side is not told`, () => {
      const found = compared(question, passages);
      expect(found).not.equals(null);
      expect(found?.answer).equals(null);
    });
  }

  it('quotes a sentence about each side', () => {
    const found = compared('Which has more employees, Petrolab or Greenfield Seeds?', passages);
    expect(found?.proofs.map(({ statement }) => statement.text)).eql([
      'It employs 140 people.',
      'It has 85 employees.',
    ]);
  });
});
