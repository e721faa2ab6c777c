import { expect } from 'chai';
import { linearRandom } from '../../services/common/kernel/random.ts';
import { NOTHING } from '../support/left-behind.ts';
import { addCalmly, addUnderKills, forgetUnderKills, type KillReport } from './kill.ts';

function expectSame(one: KillReport, other: KillReport): void {
  expect(one.items).to.deep.equal(other.items);
  expect(one.graph.nodes).to.deep.equal(other.graph.nodes);
  expect(one.graph.edges).to.deep.equal(other.graph.edges);
}

/** The same cases in a short form for `npm test` and a long one for `npm run test:soak`. */
export function describeKills({ kills, documents }: { readonly kills: number; readonly documents: number }): void {
  describe('kill -9', function () {
    this.timeout(60_000 + kills * 20_000);
    const seed = Number(process.env['ENGRAM_TEST_SEED'] ?? Date.now() % 100_000);
    const itInLong = kills > 1 ? it : it.skip;
    let calm: KillReport;

    before(async () => {
      calm = await addCalmly(documents);
      expect(calm.graph.edges.length).to.be.greaterThan(documents);
    });

    it(`during add and cognify loses and doubles nothing that was acknowledged, and ends in the graph of an undisturbed run (seed ${seed})`, async () => {
      const disturbed = await addUnderKills({ documents, kills, random: linearRandom(seed) });
      expect(disturbed.kills).to.equal(kills);
      expectSame(disturbed, calm);
    });

    itInLong(`during remember does no harm either (seed ${seed})`, async () => {
      const options = { documents, kills: Math.ceil(kills / 3), random: linearRandom(seed + 1) };
      expectSame(await addUnderKills({ ...options, by: 'remember' }), calm);
    });

    itInLong(
      `during forget brings nothing back, and leaves the graph of what was never forgotten (seed ${seed})`,
      async () => {
        const options = { documents, kills: Math.ceil(kills / 3), random: linearRandom(seed + 2) };
        const { returned, left, remains } = await forgetUnderKills(options);
        expect(returned).to.deep.equal([]);
        expectSame(left, await addCalmly(documents, (index) => index % 2 === 0));
        expect(remains).to.deep.equal({ ...NOTHING, datasets: 0 });
      },
    );
  });
}
