import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { BackfillFigures } from '../bench/backfill.ts';
import { report } from './measures.ts';

const BENCH = fileURLToPath(new URL('../bench/backfill.ts', import.meta.url));
const DOCUMENTS = Number(process.env['ENGRAM_SOAK_DOCUMENTS'] ?? 100_000);

describe('a back-fill of 100,000 documents', function () {
  this.timeout(6 * 3_600_000);

  it('takes no more memory at its end than at its beginning', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [BENCH, `${DOCUMENTS}`]);
    const { stored, steps, again, perSecond, cpuMs, peakMb } = JSON.parse(stdout) as BackfillFigures;
    for (const { done, residentMb, keptMb } of steps) report(`${done}: ${residentMb} MB resident, ${keptMb} MB kept`);
    report(`${perSecond} a second, ${cpuMs} ms of processor time each, peak ${peakMb} MB; again ${again.seconds} s`);
    expect(stored).to.equal(DOCUMENTS);
    // What is being transferred at the moment of a step is in it too: the least of each half tells what stays.
    const least = (half: typeof steps) => Math.min(...half.map(({ keptMb }) => keptMb));
    const middle = Math.floor(steps.length / 2);
    // Two hundred bytes for each of the documents in between would be 10 MB.
    expect(least(steps.slice(middle)) - least(steps.slice(0, middle))).to.be.lessThan(10);
    expect(again.keptMb - least(steps.slice(0, middle)), 'after another import').to.be.lessThan(10);
  });
});
