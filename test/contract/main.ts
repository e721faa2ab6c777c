/**
 * Runs the contract cases against any server:
 *   npm run test:contract -- --base-url http://127.0.0.1:8000 [--user EMAIL --password SECRET | --api-key KEY] [--area ingest] [--reference]
 * With `--reference` cases marked as a wilful bettering are left out. Exit code 1 when a case does not hold.
 */
import { parseArgs } from 'node:util';
import { loadCases, runCase, type Target } from './runner.ts';

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string', default: 'http://127.0.0.1:8000' },
    user: { type: 'string' },
    password: { type: 'string' },
    'api-key': { type: 'string' },
    area: { type: 'string' },
    only: { type: 'string' },
    reference: { type: 'boolean', default: false },
  },
});

async function credential(baseUrl: string): Promise<Record<string, string>> {
  if (values['api-key'] !== undefined) return { 'x-api-key': values['api-key'] };
  if (values.user === undefined) return {};
  const body = new URLSearchParams({ username: values.user, password: values.password ?? '' });
  const response = await fetch(`${baseUrl}/api/v1/auth/login`, { method: 'POST', body });
  if (!response.ok) throw new Error(`login failed with ${response.status}: ${await response.text()}`);
  return { authorization: `Bearer ${((await response.json()) as { access_token: string }).access_token}` };
}

const target: Target = { baseUrl: values['base-url'], headers: await credential(values['base-url']) };
let passed = 0;
let failed = 0;
let skipped = 0;
for (const { area, cases } of loadCases().filter((file) => values.area === undefined || file.area === values.area)) {
  for (const contractCase of cases.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
    if (values.reference && contractCase.bettering !== undefined) {
      skipped += 1;
      continue;
    }
    const problems = await runCase(target, contractCase).catch((error: unknown) => [String(error)]);
    if (problems.length === 0) passed += 1;
    else {
      failed += 1;
      process.stdout.write(`${area}: ${contractCase.name}\n${problems.map((problem) => `    ${problem}\n`).join('')}`);
    }
  }
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
