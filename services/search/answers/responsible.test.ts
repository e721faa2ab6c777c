import { expect } from 'chai';
import type { ReadPassage } from './rank-sentences.ts';
import { isMatterUnsaid, statedResponsible } from './responsible.ts';

const CASES: readonly (readonly [question: string, sentence: string, doer: string | null])[] = [
  ['Who approves flights?', 'Flights need the approval of the team lead.', 'the team lead'],
  ['Who has to approve a flight?', 'Flights need the approval of the team lead.', 'the team lead'],
  ['Who approves hotels?', 'Flights need the approval of the team lead.', null],
  [
    'Who must agree to first class?',
    'First class needs the consent of the managing director.',
    'the managing director',
  ],
  ['Who has to agree to overtime?', 'Overtime has to be agreed with the supervisor in advance.', 'the supervisor'],
  ['Who books flights?', 'Flights are booked by the travel desk (travel@example.com).', 'the travel desk'],
  ['Who books flights?', 'Flights are booked by noon.', null],
  ['Who authorises working abroad?', 'Working abroad must be authorised by Human Resources.', null],
  [
    'Who can give me access to production?',
    'Only the security officer may grant access to production.',
    'the security officer',
  ],
  ['Who approves expenses over 500 euros?', 'Expenses above 900 euros require the approval of the director.', null],
  ['Who may open the vault?', 'The branch manager may open the vault.', 'the branch manager'],
  ['Who takes the solvents away?', 'Solvents are collected and taken away by the disposal firm.', 'the disposal firm'],
  ['Who sang Heaven?', 'Heaven was sung by Bob Dylan.', null],
  ['Who may open the vault?', 'The branch manager must close the windows of the vault.', null],
  ['Who develops the app?', 'The app is developed by an agency in Porto called Gaivota.', null],
];

describe('who does or approves something by a rule', () => {
  for (const [question, text, doer] of CASES) {
    it(`is ${doer ?? 'not told'} for "${question}" in "${text}"`, () => {
      const payload = { text, headings: [], documentName: '', chunkIndex: 0 };
      const passages = [{ id: 'a', payload } as unknown as ReadPassage];
      expect(statedResponsible(question, passages)?.doer ?? null).to.equal(doer);
    });
  }

  it('is unsaid for a matter that no sentence has', () => {
    const said = [{ text: 'Expenses require the approval of the finance director.', context: '' }];
    expect(isMatterUnsaid('Who approves training courses?', said)).to.equal(true);
    expect(isMatterUnsaid('Who approves expenses?', said)).to.equal(false);
    expect(isMatterUnsaid('Who teaches training courses?', said)).to.equal(false);
    const inspected = [{ text: 'Fume hoods are inspected by the safety engineer.', context: '' }];
    expect(isMatterUnsaid('Who inspects the lifts?', inspected)).to.equal(true);
    expect(isMatterUnsaid('Who inspects the hoods?', inspected)).to.equal(false);
  });
});
