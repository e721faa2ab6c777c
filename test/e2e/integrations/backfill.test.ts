import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { BackfillFigures } from '../../bench/backfill.ts';

const BENCH = fileURLToPath(new URL('../../bench/backfill.ts', import.meta.url));

/** test/soak/backfill.test.ts does the same with 100,000. */
describe('a back-fill of many documents', function () {
  this.timeout(300_000);

  it('keeps no content in memory, and stores every document once', async () => {
    const [documents, bytes] = [1500, 40_000];
    const { stdout } = await promisify(execFile)(process.execPath, [BENCH, `${documents}`, `${bytes}`]);
    const { stored, steps, again } = JSON.parse(stdout) as BackfillFigures;
    expect(stored).to.equal(documents);
    const [early = 0, late = 0] = [steps[2]?.keptMb, steps.at(-1)?.keptMb];
    // The contents of the documents in between are 42 MB.
    expect(late - early, JSON.stringify(steps)).to.be.lessThan(21);
    expect(again.keptMb - early, 'after a listing of all that is stored').to.be.lessThan(21);
  });
});
