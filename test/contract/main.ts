/**
 * Runs the contract cases against any server:
 *   npm run test:contract -- --base-url http://127.0.0.1:8000 [--user EMAIL --password SECRET | --api-key KEY]
 *     [--area ingest] [--only PART-OF-NAME] [--jobs 4] [--open] [--reference]
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
    jobs: { type: 'string', default: '1' },
    reference: { type: 'boolean', default: false },
  },
});

async function credential(baseUrl: string): Promise<Readonly<Record<string, string>>> {
  if (values['api-key'] !== undefined) return { 'x-api-key': values['api-key'] };
  return values.user === undefined ? {} : logIn(baseUrl, values.user, values.password ?? '');
}

const baseUrl = values['base-url'];
const runner = createRunner({ baseUrl, headers: await credential(baseUrl), isReference: values.reference });
const chosen = loadCases(values.open ? 'open' : 'required')
  .filter(({ area }) => values.area === undefined || area === values.area)
  .flatMap(({ area, cases }) => cases.map((contractCase) => ({ area, contractCase })))
  .filter(({ contractCase }) => values.only === undefined || contractCase.name.includes(values.only));
const run = chosen.filter(({ contractCase }) => !values.reference || contractCase.bettering === undefined);
let failed = 0;

/** Takes cases from the shared iterator until there are none. */
async function work(cases: Iterator<(typeof run)[number]>): Promise<void> {
  for (let next = cases.next(); !next.done; next = cases.next()) {
    const { area, contractCase } = next.value;
    const problems = await runner.run(contractCase).catch((error: unknown) => [String(error)]);
    if (problems.length === 0) continue;
    failed += 1;
    process.stdout.write(`${area}: ${contractCase.name}\n${problems.map((problem) => `    ${problem}\n`).join('')}`);
  }
}

const cases = run.values();
await Promise.all(Array.from({ length: Number(values.jobs) }, () => work(cases)));
process.stdout.write(`${run.length - failed} passed, ${failed} failed, ${chosen.length - run.length} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
