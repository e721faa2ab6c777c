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

/** Runs README's tour against a server, in a folder of its own, and checks the answer to each of its requests. */
export async function takeTour(baseUrl: string, folder: string): Promise<void> {
  const answers: unknown[][] = [];
  for (const step of tourSteps()) {
    // One answer on each line.
    const script = step.replaceAll('http://127.0.0.1:8000', baseUrl).replaceAll('curl -s ', "curl -sw '\\n' ");
    const { stdout } = await run('bash', ['-c', `set -euo pipefail\n${script}`], {
      cwd: folder,
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    answers.push(lines.map((line) => JSON.parse(line)));
  }
  expect(answers.map((step) => step.length)).to.deep.equal([2, 1, 2, 0, 1]);
  const [added = [], [built] = [], [search, recall] = [], , [forgotten] = []] = answers;
  for (const answer of added) expect(answer).to.include({ status: 'PipelineRunCompleted', dataset_name: 'tour' });
  const [finished] = Object.values(built as Record<string, { status: string; payload: object }>);
  expect(finished).to.include({ status: 'PipelineRunCompleted' });
  expect(finished?.payload).to.include({ documents: 2, chunks: 2 });
  // With access control the answers of each dataset stand in an entry of their own.
  const [first] = search as ({ search_result: string[] } | string)[];
  const designed = typeof first === 'string' ? first : first?.search_result[0];
  expect(designed?.split('\n', 1)[0]).to.match(
    /^Charles Babbage: "Charles Babbage designed the Analytical Engine\." \(/,
  );
  const [wrote] = recall as { text: string; metadata: object }[];
  expect(wrote?.text).to.equal(readFileSync(join(folder, 'ada.txt'), 'utf8'));
  expect(wrote?.metadata).to.include({ document_name: 'ada' });
  expect(readFileSync(join(folder, 'graph.html'), 'utf8')).to.match(/Ada Lovelace/i);
  expect(forgotten).to.include({ status: 'success' });
  const left = await (await fetch(`${baseUrl}/api/v1/datasets`)).json();
  expect(left).to.deep.equal([]);
}
