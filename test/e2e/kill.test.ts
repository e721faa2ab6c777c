import { expect } from 'chai';
import { addUnderKills, type KillReport } from './kill.ts';

const DOCUMENTS = 12;

/** Reproducible moments: the seed is printed with a failure. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

describe('kill -9 during add and cognify', function () {
  this.timeout(120_000);
  const kills = Number(process.env['ENGRAM_TEST_KILLS'] ?? 4);
  const seed = Number(process.env['ENGRAM_TEST_SEED'] ?? Date.now() % 100_000);
  let calm: KillReport;

  before(async () => {
    calm = await addUnderKills({ documents: DOCUMENTS, kills: 0, random: Math.random });
  });

  it(`loses and doubles nothing that was acknowledged, and ends in the graph of an undisturbed run (seed ${seed})`, async () => {
    const disturbed = await addUnderKills({ documents: DOCUMENTS, kills, random: seeded(seed) });
    expect(disturbed.kills).to.equal(kills);
    expect(disturbed.items).to.deep.equal(calm.items);
    expect(disturbed.graph.nodes).to.deep.equal(calm.graph.nodes);
    expect(disturbed.graph.edges).to.deep.equal(calm.graph.edges);
    expect(calm.graph.edges.length).to.be.greaterThan(DOCUMENTS);
  });
});
