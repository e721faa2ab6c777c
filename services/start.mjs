// Starts the services from a bundle of their sources, and says so when Node is too old to run them. With `migrate` or `cluster`
// as main.ts; with `bundle` makes the bundle of an image.
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';

// Read before anything else, as the shell of npm may end while the rest is loaded. See `watchParent` in main.ts.
const shellOfNpm = process.env.npm_lifecycle_script?.includes('services/start.mjs') ? process.ppid : null;

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `Engram runs on Node 24; this is ${process.version}. On Linux and Windows npm ci brings it along: start with "npm start". Elsewhere install Node 24.\n`,
  );
  process.exit(1);
}

// Node would let each thread's nursery grow to 130 MB and heaps to twice what they hold: half a gigabyte of garbage under
// load, for no gain in time. The first binds worker threads only; this one takes it from its command line (npm start).
v8.setFlagsFromString('--max-semi-space-size=8');
v8.setFlagsFromString('--heap-growing-percent=60');
// To wake helpers for a nursery this small takes more processor time than they save: a tenth of a search.
v8.setFlagsFromString('--no-parallel-scavenge');

// A start that finds its code compiled takes half the time. Not in the shared temporary directory, Node's default: who can
// write there could put code into this process. Node keeps versions, users and flags apart, hence after the flags. Worker
// threads take the place from the environment only.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/engram', import.meta.url));
module.enableCompileCache(process.env.NODE_COMPILE_CACHE);

const { mainModule, makeFixedBundle } = await import('./app/bundle.mjs');
if (process.argv[2] === 'bundle') {
  await makeFixedBundle();
  module.flushCompileCache();
  process.exit();
}
const { run } = await import(await mainModule());
await run(process.argv.slice(2), shellOfNpm);
// Node itself saves at the end of the process, which a killed one does not reach. Late, to be in no request's way.
setTimeout(() => module.flushCompileCache(), 2_000).unref();
