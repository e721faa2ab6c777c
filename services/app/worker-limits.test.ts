import { expect } from 'chai';
import { workerLimits } from './assemble.ts';

const MIB = 1024 * 1024;

describe('limits of worker processes', () => {
  const limits = (memoryMib: number, processors: number, workerMemoryBytes?: number) =>
    workerLimits({ documentWorkers: 4, workerMemoryBytes }, { memoryBytes: memoryMib * MIB, processors });

  it('share half of the memory, whatever the number of processors', () => {
    for (const processors of [1, 2, 4, 64]) {
      for (const memoryMib of [1024, 2048, 8192, 65_536]) {
        const { documentWorkers, memoryBytes } = limits(memoryMib, processors);
        expect(documentWorkers).to.be.within(1, Math.min(4, processors));
        expect(memoryBytes).to.be.within(256 * MIB, 1024 * MIB);
        expect((documentWorkers + 1) * memoryBytes).to.be.at.most((memoryMib * MIB) / 2);
      }
    }
  });

  it('give a process the memory that is set, and start fewer of them for it', () => {
    expect(limits(2048, 4, 512 * MIB)).to.deep.equal({ documentWorkers: 1, memoryBytes: 512 * MIB });
    expect(limits(8192, 4, 512 * MIB)).to.deep.equal({ documentWorkers: 4, memoryBytes: 512 * MIB });
  });
});
