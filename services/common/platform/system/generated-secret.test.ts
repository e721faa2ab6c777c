import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadOrCreateSecret } from './generated-secret.ts';

describe('generated secret', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'engram-secret-'));
    file = join(directory, 'token-secret');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is made once, for its owner alone', async () => {
    const secret = await loadOrCreateSecret(file);
    expect(secret).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(await loadOrCreateSecret(file)).to.equal(secret);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    await chmod(file, 0o644);
    await loadOrCreateSecret(file);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it('is the same for all who ask for it at once, and leaves one file', async () => {
    const secrets = await Promise.all(Array.from({ length: 10 }, () => loadOrCreateSecret(file)));
    expect(new Set(secrets).size).to.equal(1);
    expect(await readdir(directory)).to.deep.equal(['token-secret']);
  });

  it('is not replaced when its file is damaged', async () => {
    await writeFile(file, 'short');
    const [outcome] = await Promise.allSettled([loadOrCreateSecret(file)]);
    expect(outcome).to.have.nested.property('reason.wireName', 'CorruptStoreError');
    expect(outcome).to.have.nested.property('reason.message').that.contains(file);
  });
});
