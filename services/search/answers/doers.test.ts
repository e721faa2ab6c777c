import { expect } from 'chai';
import { doerIn } from './agreement.ts';
import { canAct } from './doers.ts';
import { readQuestion } from './question.ts';
import { spansOf } from './spans.ts';

describe('names of who may have done something', () => {
  for (const [sentence, names] of [
    ['The lift has been out of order since Easter.', []],
    ['On Thanksgiving Day, Priya carved the turkey.', ['Priya']],
    ['Measurements go into the database of Linus.', ['Linus']],
    ['Altitude sickness forced Carys back.', ['Carys']],
    ['Marguerite renewed the certificate.', ['Marguerite']],
    ['Teachers may use the gym.', ['Teachers']],
    ['The bank in Paris lent us the money.', []],
  ] as const) {
    it(`are ${names.join(' and ') || 'none'} in "${sentence}"`, () => {
      const able = spansOf(sentence, ['name']).filter((name) => canAct(sentence, name));
      expect(able.map(({ text }) => text)).to.deep.equal(names);
    });
  }
});

describe('a doer behind "by"', () => {
  for (const [sentence, doer] of [
    ['The oven was built by a stove fitter from Brno in 2009.', 'stove fitter from Brno'],
    ['The oven was built by an agency in Porto called Gaivota.', 'Gaivota'],
    ['The oven was built by Tom Hall from Brno.', 'Tom Hall'],
  ]) {
    it(`is ${doer} in "${sentence}"`, () => {
      expect(doerIn(readQuestion('Who built the oven?'), sentence ?? '')?.text).to.equal(doer);
    });
  }
});
