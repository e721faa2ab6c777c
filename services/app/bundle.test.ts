import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const BUNDLE = new URL('./bundle.mjs', import.meta.url).href;
const { mainModule }: { mainModule(cache: string): Promise<string> } = await import(BUNDLE);

describe('bundle of the services', () => {
  let cache = '';
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'engram-bundle-'));
  });
  afterEach(() => rmSync(cache, { recursive: true }));

  it('is made once by starts at the same time, whole, with a file for each worker', async () => {
    const program = `import { mainModule } from ${JSON.stringify(BUNDLE)}; await mainModule(${JSON.stringify(cache)});`;
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    await Promise.all([start(), start()]);
    const made = readdirSync(cache);
    expect(made).to.have.length(1);
    const files = readdirSync(join(cache, made[0] ?? ''));
    expect(files).to.include.members(['main.mjs', 'storage-worker.mjs', 'worker-process.mjs', 'parse-task.mjs']);
    rmSync(join(cache, made[0] ?? '', 'storage-worker.mjs'));
    expect(await mainModule(cache)).to.include(made[0]);
    expect(readdirSync(join(cache, made[0] ?? ''))).to.not.include('storage-worker.mjs');
  });

  it('gives way to the sources where it cannot be written', async () => {
    const file = join(cache, 'file');
    writeFileSync(file, '');
    const main = fileURLToPath(await mainModule(join(file, 'below')));
    expect(main).to.match(/services\/main\.ts$/);
    expect(existsSync(main)).to.equal(true);
  });
});
