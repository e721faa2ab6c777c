import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

interface Step {
  readonly command: string;
  /** What README says that it prints. */
  readonly output: string;
}

/** The commands of README's tour, each with the lines that stand below it. */
function tourSteps(): Step[] {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = /<!-- tour:start -->\s*```console\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = '', ...output] = step.split('\n');
      return { command, output: output.join('\n') };
    });
}

/** Takes README's tour against a server, in a folder of its own: each step prints what README says. */
export async function takeTour(baseUrl: string, folder: string): Promise<void> {
  const steps = tourSteps();
  expect(steps.length).to.be.greaterThan(9);
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  const main = fileURLToPath(new URL('../../services/cli/engram.mjs', import.meta.url));
  writeFileSync(join(bin, 'engram'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(join(bin, 'engram'), 0o755);
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    ENGRAM_URL: baseUrl,
  };
  for (const { command, output } of steps) {
    const { stdout, stderr } = await run('bash', ['-c', `${command}\ntrue`], { cwd: folder, env });
    // Errors; progress is shown when a step takes long.
    const errors = stderr.split('\n').filter((line) => line.startsWith('engram: '));
    expect(steady(stdout + errors.map((line) => `${line}\n`).join(''), folder), command).to.equal(
      steady(output, '/home/ada'),
    );
  }
  expect(readFileSync(join(folder, 'graph.html'), 'utf8')).to.match(/Ada Lovelace/i);
  expect(await (await fetch(`${baseUrl}/api/v1/datasets`)).json()).to.deep.equal([]);
}

/** Without what differs each time: ids, times and the folder. */
function steady(output: string, folder: string): string {
  const real = folder.startsWith('/home/ada') ? folder : realpathSync(folder);
  return output
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>')
    .replaceAll(/\(\d+\.\d s\)/g, '(<time>)')
    .replaceAll(real, '<folder>');
}
