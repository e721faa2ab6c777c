import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';

/**
 * Runs `npm test`: all files in parallel processes, then those that measure the machine (`*.alone.test.ts`) one after the
 * other. Files and options on the command line go to mocha as they are. The last line has the totals that CI reads. With
 * `--all` (`npm run test:all`, which CI runs) long cases run whole of which `npm test` takes a part (support/extent.ts), and
 * tests in a browser run too: those whose title says so.
 */
const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const ALONE = 'test/**/*.alone.test.ts';
const isAll = process.argv.includes('--all');
const given = process.argv.slice(2).filter((argument) => argument !== '--all');
if (isAll) process.env['ENGRAM_TEST_ALL'] = '1';

interface Totals {
  readonly code: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function mocha(...options: readonly string[]): Promise<Totals> {
  const colour = process.stdout.isTTY ? ['--color'] : [];
  const child = spawn(process.execPath, [MOCHA, ...colour, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  let end = '';
  child.stdout.on('data', (piece: Buffer) => {
    process.stdout.write(piece);
    end = (end + piece.toString()).slice(-1000);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const totals = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(end);
      const [passed = 0, failed = 1, skipped = 0] = totals?.slice(1).map(Number) ?? [];
      resolve({ code: code ?? 1, passed, failed, skipped });
    });
  });
}

const isNamed = given.some((argument) => argument.endsWith('.test.ts'));
// More than there are processors: a file often waits for a process that it started, or for a time to pass.
const jobs = String(availableParallelism() + 2);
// Somebody who searches for a title finds it among all.
const isSearch = given.some((argument) => /^(-g|-f|--grep|--fgrep)\b/.test(argument));
const without = isAll || isSearch ? [] : ['--grep', 'in a browser', '--invert'];
const runs = isNamed
  ? [await mocha(...given)]
  : [
      await mocha(...given, ...without, '--parallel', '--jobs', jobs, '--ignore', '**/*.alone.*'),
      await mocha(...given, ALONE),
    ];
const sum = (of: (totals: Totals) => number) => runs.reduce((total, run) => total + of(run), 0);
if (runs.length > 1) {
  process.stdout.write(`\n${sum((run) => run.passed)} passed, ${sum((run) => run.failed)} failed, `);
  process.stdout.write(`${sum((run) => run.skipped)} skipped\n`);
}
process.exitCode = Math.min(
  1,
  sum((run) => run.code),
);
