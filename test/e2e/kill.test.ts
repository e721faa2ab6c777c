import { expect } from 'chai';
import { NOTHING } from '../support/left-behind.ts';
import { addUnderKills, forgetUnderKills, type KillReport } from './kill.ts';

/** The long form is `npm run test:soak`. */
const KILLS = Number(process.env['ENGRAM_TEST_KILLS'] ?? 3);
const DOCUMENTS = Number(process.env['ENGRAM_TEST_DOCUMENTS'] ?? 12);

/** Reproducible moments: the seed is printed with a failure. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

function expectSame(one: KillReport, other: KillReport): void {
  expect(one.items).to.deep.equal(other.items);
  expect(one.graph.nodes).to.deep.equal(other.graph.nodes);
  expect(one.graph.edges).to.deep.equal(other.graph.edges);
}

describe('kill -9', function () {
  this.timeout(60_000 + KILLS * 20_000);
  const seed = Number(process.env['ENGRAM_TEST_SEED'] ?? Date.now() % 100_000);
  let calm: KillReport;

  before(async () => {
    calm = await addUnderKills({ documents: DOCUMENTS, kills: 0, random: Math.random });
    expect(calm.graph.edges.length).to.be.greaterThan(DOCUMENTS);
  });

  it(`during add and cognify loses and doubles nothing that was acknowledged, and ends in the graph of an undisturbed run (seed ${seed})`, async () => {
    const disturbed = await addUnderKills({ documents: DOCUMENTS, kills: KILLS, random: seeded(seed) });
    expect(disturbed.kills).to.equal(KILLS);
    expectSame(disturbed, calm);
  });

  it(`during remember does no harm either (seed ${seed})`, async () => {
    const kills = Math.ceil(KILLS / 3);
    const disturbed = await addUnderKills({ documents: DOCUMENTS, kills, random: seeded(seed + 1), by: 'remember' });
    expectSame(disturbed, calm);
  });

  it(`during forget brings nothing back, and leaves the graph of what was never forgotten (seed ${seed})`, async () => {
    const kills = Math.ceil(KILLS / 3);
    const { returned, left, remains } = await forgetUnderKills({
      documents: DOCUMENTS,
      kills,
      random: seeded(seed + 2),
    });
    expect(returned).to.deep.equal([]);
    const options = { documents: DOCUMENTS, kills: 0, random: Math.random };
    expectSame(left, await addUnderKills({ ...options, keep: (index) => index % 2 === 0 }));
    expect(remains).to.deep.equal({ ...NOTHING, datasets: 0 });
  });
});
