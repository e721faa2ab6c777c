// Makes loading quick, and says plainly when Node is too old to read TypeScript. Everything works without it, only slower.
import module from 'node:module';
import { shortenLoading, tuneRuntime } from './app/loading.mjs';

// Read before anything else, as the shell of npm may end while the rest is loaded. See parent-watch.ts.
const shellOfNpm = process.env.npm_lifecycle_script?.includes('services/start.mjs') ? process.ppid : null;

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `Engram runs on Node 24; this is ${process.version}. On Linux and Windows npm ci brings it along: start with "npm start". Elsewhere install Node 24.\n`,
  );
  process.exit(1);
}
tuneRuntime();
shortenLoading();

const { run } = await import('./main.ts');
await run(process.argv[2], shellOfNpm);
// Node itself saves at the end of the process, which a killed one does not reach. Late, to be in no request's way.
setTimeout(() => module.flushCompileCache(), 2_000).unref();
