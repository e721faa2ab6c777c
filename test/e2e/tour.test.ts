import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { takeTour } from './tour-steps.ts';

describe("README's tour", () => {
  const data = makeDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'engram-tour-'));
  let server: EngramProcess;

  before(async () => {
    server = await startProcess({ dataDir: data.path });
  });
  after(async () => {
    await server.stop();
    data.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('prints what README says: add, cognify, ask, see, forget', async () => {
    await takeTour(server.baseUrl, folder);
  });
});
