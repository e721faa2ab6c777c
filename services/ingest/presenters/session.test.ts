import { expect } from 'chai';
import { presentModelCost, presentStatistics } from '../routes/sessions.ts';

describe('costs on the wire', () => {
  it('are null where tokens were taken, because prices are not known, and 0 where none were', () => {
    const cost = (tokensIn: number) =>
      presentModelCost({ model: 'm', sessions: 1, tokensIn, tokensOut: 0 })['cost_usd'];
    expect([cost(12), cost(0)]).to.deep.equal([null, 0]);
    const spent = (tokensOut: number) =>
      presentStatistics('30d', { sessions: 2, tokensIn: 0, tokensOut, activeSeconds: 1, abandoned: 0, running: 2 });
    expect(spent(7)).to.include({ total_spend_usd: null, avg_spend_per_session_usd: null });
    expect(spent(0)).to.include({ total_spend_usd: 0, avg_spend_per_session_usd: 0 });
  });
});
