import fc from 'fast-check';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { createWire } from '../support/wire.ts';
import { arrangement, buildPoisoned, POISONED } from './poisoned-items.ts';

describe('poisoned items among good ones', () => {
  itWhenWhole('fail alone, whatever they contain and at any position', async () => {
    const data = makeDataDir();
    const start = () => startProcess({ dataDir: data.path, environment: POISONED });
    let server: EngramProcess = await start();
    let runs = 0;
    try {
      await fc.assert(
        fc.asyncProperty(arrangement, async (kinds) => {
          runs += 1;
          await buildPoisoned(
            () => createWire(server.baseUrl),
            `letters-${runs}`,
            kinds,
            async () => {
              server = await start();
            },
          );
        }),
        { numRuns: 1, endOnFailure: true },
      );
    } finally {
      await server.stop();
      data.remove();
    }
  });
});
