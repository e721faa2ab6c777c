import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { lockDataDirectory } from './data-directory-lock.ts';

describe('lock of the data directory', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'engram-lock-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const failure = async () => {
    const [outcome] = await Promise.allSettled([lockDataDirectory(directory)]);
    return outcome.status === 'rejected' ? outcome.reason : null;
  };
  const holdInChild = async () => {
    const script = fileURLToPath(new URL('./testing/hold-lock.ts', import.meta.url));
    const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
    return { child, said: String(said) };
  };

  it('is refused to a second taker with a message that says what to do', async () => {
    const lock = await lockDataDirectory(directory);
    const error = await failure();
    expect(error).to.include({ wireName: 'ConflictError' });
    expect(error.message).to.contain('Another Engram process').and.contain(directory).and.contain('ENGRAM_DATA_DIR');
    await lock.release();
    await lock.release();
    await (await lockDataDirectory(directory)).release();
  });

  it('holds between processes, and ends with a killed one', async () => {
    const { child, said } = await holdInChild();
    expect(said).to.equal('locked');
    expect(await failure()).to.include({ wireName: 'ConflictError' });
    child.kill('SIGKILL');
    await once(child, 'close');
    const lock = await lockDataDirectory(directory);
    const second = await holdInChild();
    expect(second.said).to.contain('Another Engram process');
    await lock.release();
  });

  it('says so when the directory is missing', async () => {
    directory = join(directory, 'missing');
    const error = await failure();
    expect(error).to.include({ wireName: 'ServiceUnavailableError' });
    expect(error.message).to.contain(directory);
  });
});
