/**
 * Required by mocha before it loads the specs, which decide while they load whether there is a server: starts the
 * missing ones from their images, all at once, and sets their variables. With every address set it does nothing.
 * `ENGRAM_TEST_CONTAINERS` is `off`, or the only ones to start, separated by commas.
 */
import { CONTAINERS, explainAbsence, hasAddress } from './backend.ts';

const choice = process.env['ENGRAM_TEST_CONTAINERS'] ?? '';
const stops = await startMissing();

/** Called by mocha after the last test. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all(stops.map((stop) => stop()));
}

async function startMissing(): Promise<readonly (() => Promise<void>)[]> {
  const wanted = CONTAINERS.filter((name) => !hasAddress(name) && (choice === '' || choice.split(',').includes(name)));
  if (wanted.length === 0) return [];
  // Heavy, and not needed where every server has an address.
  const { findContainerHost, startContainer } = await import('./containers.ts');
  const host = await findContainerHost();
  if (host === null) {
    for (const name of wanted) explainAbsence(name, 'no container runtime answers');
    return [];
  }
  process.stderr.write(`Starting containers: ${wanted.join(', ')}\n`);
  const started = await Promise.all(
    wanted.map(async (name) => {
      const outcome = await startContainer(name, host);
      if ('failure' in outcome) explainAbsence(name, outcome.failure);
      else Object.assign(process.env, outcome.variables);
      return 'stop' in outcome ? [outcome.stop] : [];
    }),
  );
  return started.flat();
}
