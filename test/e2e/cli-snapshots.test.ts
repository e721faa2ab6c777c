import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/run-command.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

describe('snapshots on a command line', () => {
  let app: StartedApp;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engram-cli-snapshots-'));
    app = await startApp();
    await writeFile(join(folder, 'ada.txt'), 'Ada Lovelace wrote the first program in London in 1843.');
    await need('add', join(folder, 'ada.txt'), '--dataset', 'notes');
    await need('cognify', '--dataset', 'notes');
  });
  after(async () => {
    await app?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: readonly string[]) => runCommand([...args, '--url', app.baseUrl]);
  const need = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(...args);
    expect(code, err).to.equal(0);
    return out;
  };
  const recall = (dataset: string) => need('search', 'first program', '-t', 'chunks', '-d', dataset);

  it('are taken, listed, restored under another name, and deleted', async () => {
    const id = (await need('snapshot', 'notes', '--name', 'before')).trim();
    expect(id).to.match(/\.before$/);
    expect(await need('snapshots')).to.match(new RegExp(`^SNAPSHOT.*\\n${id} +notes +\\S+ +1 +\\d+ +complete`));
    const restored = (await need('restore', id, '--as', 'then')).trim();
    expect(await need('datasets')).to.match(new RegExp(`then +${restored}`));
    expect(await need('status', '-d', 'then')).to.match(/^then +\d+ +\d+ +0 +completed/m);
    expect(await recall('then'))
      .to.equal(await recall('notes'))
      .and.to.include('Lovelace');
    expect(await need('snapshots', 'delete', id)).to.equal(`${id} deleted\n`);
    expect(await need('snapshots')).to.equal('no snapshots yet\n');
  });

  it('are saved as a file, of which the server keeps nothing, and come back from it', async () => {
    const file = join(folder, 'notes.engram');
    expect(await need('snapshot', 'notes', '--to', file)).to.equal(`${file}: 1 item of notes\n`);
    expect(await need('snapshots')).to.equal('no snapshots yet\n');
    await need('restore', file, '--as', 'filed');
    expect(await recall('filed')).to.equal(await recall('notes'));
    await need('snapshot', 'notes', '--to', file, '--keep');
    const [kept] = JSON.parse(await need('snapshots', '--json', '-d', 'notes')) as { id: string }[];
    await need('snapshots', 'delete', kept?.id ?? '');
    expect((await readdir(folder)).sort()).to.deep.equal(['ada.txt', 'notes.engram']);
  });

  it('end with 1 and the reason when the server refuses, and with 2 when the command line is wrong', async () => {
    const file = join(folder, 'damaged.engram');
    await need('snapshot', 'notes', '--to', file);
    await writeFile(file, (await readFile(file)).subarray(0, -8));
    const damaged = await run('restore', file, '--as', 'damaged');
    expect([damaged.code, damaged.err]).to.deep.equal([
      1,
      'engram: The server refused (409): The snapshot cannot be restored: a part of it is cut off. [ConflictError]\n',
    ]);
    const taken = await run('restore', file, '--as', 'notes');
    expect([taken.code, taken.err]).to.deep.equal([
      1,
      'engram: The server refused (409): You have a dataset notes already; choose another name. [EntityAlreadyExistsError]\n',
    ]);
    for (const [code, ...args] of [
      [1, 'restore', 'nowhere', '--as', 'new'],
      [1, 'snapshot', 'nothing'],
      [1, 'snapshots', 'delete', 'nothing'],
      [2, 'restore', file],
      [2, 'snapshot', 'notes', '--keep'],
      [2, 'snapshot', 'notes', '--to', join(folder, 'missing', 'file')],
      [2, 'snapshots', 'move'],
    ] as const)
      expect((await run(...args)).code, args.join(' ')).to.equal(code);
  });
});
