/**
 * Runs the contract cases against any server:
 *   npm run test:contract -- --base-url http://127.0.0.1:8000 [--user EMAIL --password SECRET | --api-key KEY] [--area ingest] [--only NAME] [--open] [--reference]
 * With `--reference` cases marked as a wilful bettering are left out; `--open` takes those for a server that asks for no
 * credentials. Exit code 1 when a case does not hold.
 */
import { parseArgs } from 'node:util';
import { createRunner, loadCases, logIn } from './runner.ts';

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string', default: 'http://127.0.0.1:8000' },
    user: { type: 'string' },
    password: { type: 'string' },
    'api-key': { type: 'string' },
    area: { type: 'string' },
    only: { type: 'string' },
    open: { type: 'boolean', default: false },
    reference: { type: 'boolean', default: false },
  },
});

async function credential(baseUrl: string): Promise<Readonly<Record<string, string>>> {
  if (values['api-key'] !== undefined) return { 'x-api-key': values['api-key'] };
  return values.user === undefined ? {} : logIn(baseUrl, values.user, values.password ?? '');
}

const baseUrl = values['base-url'];
const runner = createRunner({ baseUrl, headers: await credential(baseUrl) });
let passed = 0;
let failed = 0;
let skipped = 0;
for (const { area, cases } of loadCases(values.open ? 'open' : 'required').filter(
  (file) => values.area === undefined || file.area === values.area,
)) {
  for (const contractCase of cases.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
    if (values.reference && contractCase.bettering !== undefined) {
      skipped += 1;
      continue;
    }
    const problems = await runner.run(contractCase).catch((error: unknown) => [String(error)]);
    if (problems.length === 0) passed += 1;
    else {
      failed += 1;
      process.stdout.write(`${area}: ${contractCase.name}\n${problems.map((problem) => `    ${problem}\n`).join('')}`);
    }
  }
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
