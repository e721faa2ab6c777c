import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

/** The commands of README's tour, one entry per numbered step. */
function tourSteps(): string[] {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = /<!-- tour:start -->\s*```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return block.split(/^# \d\. .*$/m).slice(1);
}

/** Runs README's tour against a server, in a folder of its own, and looks at what it prints. */
export async function takeTour(baseUrl: string, folder: string): Promise<void> {
  const steps = tourSteps();
  expect(steps).to.have.length(5);
  const outputs: string[] = [];
  for (const step of steps) {
    const script = `set -euo pipefail\n${step.replaceAll('http://127.0.0.1:8000', baseUrl)}`;
    const { stdout } = await run('bash', ['-c', script], {
      cwd: folder,
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    });
    outputs.push(stdout);
  }
  const [added = '', built = '', asked = '', , forgotten = ''] = outputs;
  expect(added.match(/PipelineRunCompleted/g)).to.have.length(4);
  expect(built).to.include('PipelineRunCompleted').and.include('"documents":2');
  expect(asked).to.include('Charles Babbage designed the Analytical Engine.').and.include('Ada Lovelace');
  expect(readFileSync(join(folder, 'graph.html'), 'utf8')).to.match(/Ada Lovelace/i);
  expect(forgotten).to.include('"status":"success"');
  const left = await (await fetch(`${baseUrl}/api/v1/datasets`)).json();
  expect(left).to.deep.equal([]);
}
